"""A conversation with an agent, and the page during it."""

import re

from playwright.sync_api import Page, expect

from simulator.tests.files import pdf
from stackroom_local.state import Instance
from tests.browser.builders import (
    answered,
    ask,
    ask_on,
    make_agent,
    quick_add,
    script,
    searching,
    stocked,
)
from tests.browser.conftest import SignedIn

MANUAL = pdf("The harbour has two cranes.", "The pump of the lock is greased every 200 hours.")
TOOL = "search_lock_manuals"
CITED = {"number": r'"citation": (\d+)'}
SPOKEN = {"text": "It was said."}  # in place of a turn that an earlier script has played
# What goes on is as long as what is looked up.
FITS = """(doing, told) => {
  doing.firstElementChild.textContent = told;
  return doing.scrollWidth <= doing.clientWidth;
}"""


def test_three_turns_of_a_conversation(signed_in: SignedIn, instance: Instance) -> None:
    vera = signed_in("vera-turns")
    page = vera.page
    stocked(instance, vera.name, "Lock manuals", {"pump.pdf": MANUAL})
    agent = make_agent(vera, "Lock keeper")
    model = page.get_by_label("Model", exact=True).input_value()
    quick_add(vera, agent, "Lock manuals")

    # It looks up, writes Markdown, and its source opens beside the text.
    first = "How often is the pump of the lock greased?"
    looked_up = {"text": "I look it up.", "uses": searching(TOOL, first)}
    says = {"text": "## Greasing\n\n**Every 200 hours** [{{number}}].", "quotes": CITED}
    script(instance, first, looked_up, says, model=model)
    run = answered(ask(vera, agent, first))
    expect(run.locator(".answer h3")).to_have_text("Greasing")
    expect(run.locator(".answer strong")).to_have_text("Every 200 hours")
    expect(run.locator(".steps")).to_contain_text("Searched Lock manuals")
    expect(run.locator(".sources li")).to_contain_text("pump.pdf")
    run.locator(".answer a.cite").click()
    panel = page.get_by_role("dialog")
    expect(panel).to_contain_text("greased every 200 hours")
    expect(panel.get_by_role("link", name=re.compile("Open the PDF at page"))).to_be_visible()
    page.keyboard.press("Escape")

    # It grows while it is written, at the end of the page, and is stopped at once.
    second = "And what else do I do?"
    endless = {"text": "Wait, and grease on. " * 400, "pace": 0.2}
    script(instance, second, SPOKEN, endless, model=model)
    run = ask_on(vera, second)
    expect(run.locator(".growing .prose")).to_contain_text("Wait, and grease on.")
    expect(run.locator(".growing .prose")).to_contain_text("on. Wait, and grease on. Wait")
    assert is_at_end(page)
    assert run.locator(".growing > .doing").evaluate(FITS, f"Searching it for {second * 20}")
    field, problem = page.get_by_label("Question", exact=True), page.get_by_role("alert")
    field.fill("Too early?")
    field.press("Enter")
    expect(problem.filter(has_text="The agent is still answering")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(run).to_have_attribute("data-state", "cancelled")
    expect(problem.filter(has_text="The agent is still answering")).to_have_count(0)
    expect(field).to_have_value("Too early?")
    assert all("409" in each for each in vera.said)
    vera.said.clear()
    expect(run).to_contain_text("Wait, and grease on.")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)

    # It knows what was said: a script that wants those words in what the model reads is played.
    third = "Say it again"
    script(instance, "Every 200 hours", SPOKEN, {"text": "Every 200 hours, I said."}, model=model)
    field.fill(third)
    field.press("Shift+Enter")
    field.type("please.")
    field.press("Control+Enter")
    run = answered(page.locator("[data-run]").nth(2))
    expect(run.locator(".question")).to_have_text(f"{third}\nplease.", use_inner_text=True)
    expect(run.locator(".answer")).to_have_text("Every 200 hours, I said.")
    expect(field).to_have_value("")

    # Whoever comes back finds it by its title, and at its newest; a reload shows it whole.
    page.get_by_role("link", name="New conversation").or_(
        page.get_by_role("button", name="New conversation")
    ).click()
    page.get_by_role("link", name=first).click()
    expect(page.locator("[data-run]")).to_have_count(3)
    expect(page.locator("[data-run]").last.locator(".answer")).to_be_in_viewport()
    dialog, chats = page.get_by_role("dialog"), page.get_by_role("navigation", name="Conversations")
    page.get_by_role("button", name="Rename").click()
    dialog.get_by_label("Title").fill("The pump")
    dialog.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The pump")
    page.reload()
    expect(page.locator("[data-run] .question")).to_have_text([first, second, f"{third} please."])
    expect(page.locator("[data-run]").nth(0).locator(".sources")).to_contain_text("pump.pdf")
    expect(page.locator("[data-run]").nth(1)).to_contain_text("Wait, and grease on.")
    expect(page.locator("[data-run]").nth(2).locator(".answer")).to_contain_text("I said.")
    expect(chats.get_by_role("link", name="The pump")).to_be_visible()

    # What is deleted is in no list any more, and at its address there is nothing.
    gone = page.url
    page.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Chat with Lock keeper")
    expect(chats).to_have_count(0)
    vera.expect_no_errors()
    page.goto(gone)
    expect(page.get_by_role("heading", level=1)).to_have_text("Not Found")


def is_at_end(page: Page) -> bool:
    found: bool = page.evaluate(
        "() => innerHeight + scrollY >= document.documentElement.scrollHeight - 2"
    )
    return found
