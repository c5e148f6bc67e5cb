"""No page can be added without being looked at: the route table says which there are."""

import re
from pathlib import Path
from types import ModuleType

from stackroom_console.endpoint import Kind
from stackroom_console.routes import ROUTES
from tests.browser import test_looks, test_looks_agents, test_operations

PICTURES = Path(__file__).parents[2] / "docs" / "console"
# Of what a browser may ask for by GET: what it never shows as a page of ours.
NO_PAGES = {
    "/": "leads on",
    "/sign-in/begin": "leads on",
    "/sign-in/callback": "leads on",
    "/catalogs/{catalog_id}/documents/{document_id}/file": "a user's file",
    "/agents/{agent_id}/export": "a file to be kept",
    "/tools-config.json": "a file to be kept",
}


def test_each_page_of_the_route_table_is_looked_at() -> None:
    pages = {
        each.path
        for each in ROUTES
        if each.method == "GET" and each.kind is Kind.PAGE and not each.path.endswith("/part")
    }

    looked_at = shown_by(test_looks) | shown_by(test_looks_agents) | shown_by(test_operations)

    assert looked_at == pages - NO_PAGES.keys()


def shown_by(module: ModuleType) -> set[str]:
    """What the tests there say that they look at; the fixture `stage` holds them to it."""
    return {
        path
        for each in vars(module).values()
        for mark in getattr(each, "pytestmark", ())
        if mark.name == "shows"
        for path in mark.args
    }


def test_the_pictures_that_are_kept_are_those_that_are_shown() -> None:
    shown = set(
        re.findall(r"[a-z-]+-\d+-(?:light|dark)\.png", (PICTURES / "README.md").read_text())
    )

    kept = {each.name for each in PICTURES.glob("*.png")}

    assert kept == shown
