"""Pages of things that were deleted in another window: a sentence says so, and what to do."""

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


def test_edit_of_deleted_tool_keeps_typed_text_and_cannot_be_reopened(
    hers: Belongings,
) -> None:
    page, things = hers.owner.page, hers.things
    hers.owner.open(f"/agents/{things.agent_id}")
    edit = page.locator("[data-tool] a[aria-label^=Edit]")
    edit.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Tool description").fill("Of lanterns, and much else")
    delete(hers, f"/api/agents/{things.agent_id}/tools/{things.tool_id}")

    dialog.get_by_role("button", name="Save").click()

    expect(dialog.get_by_role("alert")).to_contain_text(GONE)
    expect(dialog.get_by_label("Tool description")).to_have_value("Of lanterns, and much else")
    page.keyboard.press("Escape")
    edit.click()
    expect(page.locator("#problems")).to_contain_text(GONE)
    expect(dialog).to_have_count(0)


def test_open_page_of_a_deleted_agent_reports_it_and_keeps_typed_text(
    hers: Belongings,
) -> None:
    page, other = hers.owner.page, hers.owner.page.context.new_page()
    hers.owner.open(f"/agents/{hers.things.agent_id}/chat/{hers.things.chat_id}")
    other.goto(page.url)
    page.get_by_label("Question", exact=True).fill("Which lanterns are lit?")

    delete(hers, f"/api/agents/{hers.things.agent_id}")

    expect(page.locator("#problems")).to_contain_text(GONE)
    expect(page.get_by_label("Question", exact=True)).to_have_value("Which lanterns are lit?")
    other.bring_to_front()
    expect(other.get_by_role("main")).to_contain_text(GONE)
    expect(other.get_by_role("heading", level=1)).to_have_text("Not Found")
