"""What was deleted meanwhile in another window: a sentence says so, and what to do."""

import pytest
from playwright.sync_api import expect

from stackroom_local.state import Instance
from tests.browser.belongings import Belongings, ask, belongings_of, token
from tests.browser.conftest import SignedIn

GONE = "may have been deleted"


@pytest.fixture
def hers(signed_in: SignedIn, instance: Instance, request: pytest.FixtureRequest) -> Belongings:
    name = request.node.originalname.removeprefix("test_").replace("_", "-")
    return belongings_of(signed_in(name), instance, "lanterns")


def delete(hers: Belongings, path: str) -> None:
    """In another window of the same browser."""
    page = hers.owner.page.context.new_page()
    page.goto(f"{hers.owner.url}/catalogs")
    answer = ask(page, "DELETE", path, headers={"X-CSRF-Token": token(page)})
    assert answer.status == 200, answer.text
    page.close()


def test_a_dialog_of_what_is_gone_is_a_sentence_on_the_page(hers: Belongings) -> None:
    page, things = hers.owner.page, hers.things
    at = f"/agents/{things.agent_id}"
    hers.owner.open(at)
    delete(hers, f"/api/agents/{things.agent_id}/tools/{things.tool_id}")

    for link in ("Edit", "Delete"):
        page.locator(f"[data-tool] a[aria-label^={link}]").click()
        expect(page.locator("#problems")).to_contain_text(GONE)
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_what_is_typed_of_a_tool_that_is_gone_stays(hers: Belongings) -> None:
    page, things = hers.owner.page, hers.things
    hers.owner.open(f"/agents/{things.agent_id}")
    page.locator("[data-tool] a[aria-label^=Edit]").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Tool description").fill("Of lanterns, and much else")
    delete(hers, f"/api/agents/{things.agent_id}/tools/{things.tool_id}")

    dialog.get_by_role("button", name="Save").click()

    expect(dialog.get_by_role("alert")).to_contain_text(GONE)
    expect(dialog.get_by_label("Tool description")).to_have_value("Of lanterns, and much else")


def test_a_page_that_watches_what_is_gone_says_so_by_itself(hers: Belongings) -> None:
    page, things = hers.owner.page, hers.things
    hers.owner.open(f"/agents/{things.agent_id}/chat")

    delete(hers, f"/api/agents/{things.agent_id}")

    expect(page.get_by_role("main")).to_contain_text(GONE)
    expect(page.get_by_role("heading", level=1)).to_have_text("Not Found")


def test_what_is_typed_on_a_page_that_watches_what_is_gone_stays(hers: Belongings) -> None:
    page, things = hers.owner.page, hers.things
    hers.owner.open(f"/agents/{things.agent_id}/chat")
    page.get_by_label("Question", exact=True).fill("Which lanterns are lit?")

    delete(hers, f"/api/agents/{things.agent_id}")

    expect(page.locator("#problems")).to_contain_text(GONE)
    expect(page.get_by_label("Question", exact=True)).to_have_value("Which lanterns are lit?")


def test_asking_a_catalog_that_is_gone_says_so_and_keeps_the_question(hers: Belongings) -> None:
    page = hers.owner.open("/ask")
    page.get_by_label("Question", exact=True).fill("Which lanterns are lit?")
    page.get_by_role("combobox", name="Search in").select_option(hers.things.catalog_id)
    other = page.context.new_page()
    other.goto(f"{hers.owner.url}/catalogs/{hers.things.catalog_id}/delete")
    other.get_by_role("button", name="Delete catalog").click()
    other.wait_for_url("**/catalogs")

    page.get_by_role("button", name="Ask").click()

    expect(page.locator("form [data-problems]")).to_contain_text("delet")
    expect(page.get_by_label("Question", exact=True)).to_have_value("Which lanterns are lit?")
