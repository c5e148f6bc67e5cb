"""Operations, as an operator sees a deployment in the browser; nobody else does."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from stackroom_local.state import Instance
from tests.browser.conftest import SignedIn
from tests.browser.test_catalogs import make
from tests.e2e.people import eventually
from tests.local.running import stackroom

SETTLED = "Documents settled, by outcome"


def told(instance: Instance, *verb: str) -> Any:
    run = stackroom(*verb, "--json", state_dir=instance.state_dir)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def drawn(page: Page, title: str) -> dict[str, str]:
    """The most of each line of a graph."""
    graph = page.locator("details", has_text=title).first
    graph.locator("summary").click()
    names = (each.inner_text().strip() for each in graph.locator("tbody th").all())
    return {name: cells(page, name)[2] for name in names}


def cells(page: Page, name: str) -> list[str]:
    """The cells behind a row's name."""
    found = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name))
    return [each.inner_text().strip() for each in found.get_by_role("cell").all()]


def test_what_failed_what_was_counted_and_the_pool_are_as_the_command_line_tells(
    signed_in: SignedIn, instance: Instance, tmp_path: Path
) -> None:
    file = tmp_path / "empty of words.pdf"
    file.write_bytes(b"%PDF-1.7 and nothing more")
    olga = signed_in("olga", "operators")
    make(olga, "Spoilt")
    olga.page.locator("#files").set_input_files(file)
    expect(olga.page.locator("#documents td .state.failed")).to_be_visible()

    olga.page.get_by_role("link", name="Operations").click()
    expect(olga.page.get_by_role("heading", level=1)).to_have_text("Operations")
    expect(olga.page.get_by_text("Missing here")).to_have_count(0)

    everything = told(instance, "status", "--everybody")["documents"]
    failed = [each["status_reason"] for each in everything if each["status"] == "failed"]
    expect(olga.page.locator(".tiles")).to_contain_text(f"{len(failed)} documents failed")
    assert cells(olga.page, "the PDF is damaged")[0] == str(
        sum(each.startswith("the PDF is damaged") for each in failed)
    )
    pool = olga.page.get_by_role("region", name="Knowledge bases and their slots")
    for each in told(instance, "status", "--pool")["knowledge_bases"]:
        taken = f"{each['own_sources_taken']} of {each['own_sources_most']} taken"
        expect(pool.get_by_role("row", name=each["knowledge_base_id"])).to_contain_text(taken)

    def is_alike() -> bool:
        counted = {
            line["label"]: f"{max(value for _, value in line['points']):g}"
            for widget in told(instance, "dashboard")["widgets"]
            if widget["title"] == SETTLED
            for line in widget["lines"]
            if line["points"]
        }
        return bool(counted) and drawn(olga.open("/operations"), SETTLED) == counted

    eventually(is_alike, "the page's figures are those of the dashboard")
