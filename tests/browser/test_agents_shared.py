"""Two windows on one agent: nobody's tool is lost, and who has an old form is told so."""

import re

from playwright.sync_api import expect

from stackroom_local.state import Instance
from tests.browser.builders import caller, card, catalog_made, make_agent, open_choice, quick_add
from tests.browser.conftest import SignedIn

CHANGED = "was changed in another window; nothing of yours was saved"


def test_who_links_on_a_page_of_before_loses_nobodys_tool(
    signed_in: SignedIn, instance: Instance
) -> None:
    here, there = signed_in("ola-links"), signed_in("ola-links")
    for name in ("First", "Second"):
        catalog_made(instance, here.name, name)
    agent = make_agent(here, "Of two windows")
    there.open(agent)

    quick_add(here, agent, "First")
    open_choice(there).get_by_role("button", name="Quick Add Second").click()

    expect(card(there, "Second")).to_be_visible()
    expect(card(there, "First")).to_be_visible()
    names = {each["name"] for each in caller(instance, here.name).tools_of(agent)}
    assert names == {"search_first", "search_second"}


def test_who_saves_a_form_of_before_is_told_and_keeps_what_was_typed(
    signed_in: SignedIn, instance: Instance
) -> None:
    here, there = signed_in("ola-saves"), signed_in("ola-saves")
    catalog_made(instance, here.name, "First")
    agent = make_agent(here, "Of two windows")
    there.open(agent)

    here.page.get_by_label("Prompt").fill("Answer in rhymes.")
    here.page.get_by_role("button", name="Save").click()
    expect(here.page.get_by_label("Prompt")).to_have_value("Answer in rhymes.")
    there.page.get_by_label("Name", exact=True).fill("Renamed")
    there.page.get_by_role("button", name="Save").click()

    expect(there.page.get_by_role("alert").get_by_text(CHANGED)).to_be_visible()
    expect(there.page.get_by_label("Name", exact=True)).to_have_value("Renamed")
    there.page.reload()
    expect(there.page.get_by_label("Name", exact=True)).to_have_value("Of two windows")
    expect(there.page.get_by_label("Prompt")).to_have_value("Answer in rhymes.")
    # A tool that came meanwhile is no reason to refuse a name.
    quick_add(here, agent, "First")
    there.page.get_by_label("Name", exact=True).fill("Renamed")
    there.page.get_by_role("button", name="Save").click()
    expect(there.page.get_by_role("heading", level=1)).to_have_text("Renamed")
    expect(card(there, "First")).to_be_visible()


def test_who_edits_or_deletes_a_tool_of_before_is_told_in_the_dialog(
    signed_in: SignedIn, instance: Instance
) -> None:
    here, there = signed_in("ola-tools"), signed_in("ola-tools")
    catalog_made(instance, here.name, "First")
    agent = make_agent(here, "Of two windows")
    quick_add(here, agent, "First")
    there.open(agent)
    stale = there.page.get_by_role("dialog")

    there.page.get_by_role("link", name="Edit search_first").click()
    stale.get_by_label("Top K results").fill("3")
    here.page.get_by_role("link", name="Edit search_first").click()
    here.page.get_by_role("dialog").get_by_label("Top K results").fill("9")
    here.page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(card(here, "First")).to_contain_text("Top 9 results")
    stale.get_by_role("button", name="Save").click()
    expect(stale.get_by_role("alert")).to_contain_text(CHANGED)
    expect(stale.get_by_label("Top K results")).to_have_value("3")
    stale.get_by_role("link", name="Cancel").or_(stale.get_by_role("button", name="Cancel")).click()

    here.page.get_by_role("link", name="Delete search_first").click()
    here.page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(here.page.locator("[data-tool]")).to_have_count(0)
    with there.page.expect_response(re.compile(r"/tools/.*/delete$")) as answer:
        there.page.get_by_role("link", name="Delete search_first").click()
    assert answer.value.status == 404
    expect(there.page.get_by_role("alert").get_by_text("Tool not found")).to_be_visible()
    assert caller(instance, here.name).tools_of(agent) == []
