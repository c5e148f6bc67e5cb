"""Mishaps during work: a sentence explains each, and typed text stays."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Locator, Page, Route, expect

from stackroom_local.state import Instance
from tests.browser.conftest import SignedIn
from tests.browser.visitors import Visitor, answer_issuer, make_catalog

TYPED = "Tides & “Ebb” <of> the harbour"


@contextmanager
def out_of_reach(visitor: Visitor) -> Iterator[None]:
    """Nothing that the page asks for comes to the console, as when its process is gone."""

    def refuse(route: Route) -> None:
        route.abort("connectionrefused")

    visitor.page.route(f"{visitor.url}/**", refuse)
    yield
    visitor.page.unroute(f"{visitor.url}/**", refuse)


def fill(scope: Page | Locator, texts: dict[str, str]) -> None:
    for label, text in texts.items():
        scope.get_by_label(label, exact=True).fill(text)


def expect_typed(scope: Page | Locator, texts: dict[str, str]) -> None:
    for label, text in texts.items():
        expect(scope.get_by_label(label, exact=True)).to_have_value(text)


def test_typed_text_survives_the_end_of_the_session(signed_in: SignedIn) -> None:
    visitor = signed_in("ben-of-sessions")
    page = visitor.page
    page.get_by_role("button", name="New catalog").click()
    dialog = page.get_by_role("dialog")
    typed = {"Name": "Lagoons", "Description": TYPED}
    fill(dialog, typed)

    page.context.clear_cookies()
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Session expired")
    expect_typed(dialog, typed)
    with page.context.expect_page() as opened:
        dialog.get_by_role("link", name="Sign in").click()
    elsewhere = replace(visitor, page=opened.value)
    elsewhere.page.get_by_role("button", name="Sign in").click()
    answer_issuer(elsewhere)
    elsewhere.page.wait_for_url(f"{visitor.url}/catalogs**")
    dialog.get_by_role("button", name="Create").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Lagoons")
    expect(page.get_by_text(TYPED)).to_be_visible()


def test_files_that_do_not_come_through_are_sent_again_by_a_click(
    signed_in: SignedIn, instance: Instance, tmp_path: Path
) -> None:
    visitor = signed_in("ben-of-files")
    make_catalog(visitor, "Buoys")
    page, files = visitor.page, [tmp_path / "buoys.txt", tmp_path / "beacons.txt"]
    for file in files:
        file.write_text(f"This is of {file.name}.")
    uploads, store = page.locator("#uploads li.refused"), f"{instance.aws_endpoint}/**"

    with out_of_reach(visitor):
        page.locator("#files").set_input_files(files)
        expect(uploads.filter(has_text="The console can't be reached")).to_have_count(2)
    page.route(store, lambda route: route.abort("connectionreset"))
    page.get_by_role("button", name="Retry buoys.txt").click()
    expect(uploads.filter(has_text="The connection was lost.")).to_have_count(1)
    page.unroute(store)
    page.get_by_role("button", name="Retry all (2)").click()

    expect(page.locator("#upload-summary")).to_have_text("2 of 2 uploaded")
    for file in files:
        expect(page.locator("#documents").get_by_text(file.name, exact=True)).to_be_visible()
