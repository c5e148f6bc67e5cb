"""Agents and the knowledge bases linked to them, in the builder: in one window, and in two."""

import time

from playwright.sync_api import Dialog, Route, expect

from stackroom_console.pages.prompt_templates import PROMPT_TEMPLATES
from stackroom_local.state import Instance
from tests.browser.builders import (
    answered,
    ask_on,
    caller,
    card,
    catalog_made,
    open_choice,
    stocked,
)
from tests.browser.conftest import SignedIn


def test_double_click_makes_one_agent(signed_in: SignedIn, instance: Instance) -> None:
    una = signed_in("una-twice")
    page = una.open("/agents/new")
    page.get_by_label("Name", exact=True).fill("Single")
    page.route("**/agents", _late)
    page.get_by_role("button", name="Save").dblclick()
    expect(page.get_by_role("heading", level=1)).to_have_text("Single")

    path = page.url.removeprefix(una.url)
    una.open(f"{path}/chat").get_by_label("Question", exact=True).fill("How high is it?")
    page.route("**/chat", _late)
    page.get_by_role("button", name="Ask").dblclick()
    expect(page.locator("[data-run]")).to_have_count(1)

    answer = caller(instance, una.name).call("GET", "/api/agents").json()["data"]
    assert [each["name"] for each in answer["agents"]] == ["Single"]
    runs = caller(instance, una.name).call("GET", f"/api{path}/runs").json()["data"]["runs"]
    assert len(runs) == 1


def _late(route: Route) -> None:
    """Send the request, and delay its answer."""
    answer = route.fetch(max_redirects=0)
    time.sleep(0.3)
    route.fulfill(response=answer)


def test_an_agent_is_made_from_a_template_linked_tried_saved_and_asked(
    signed_in: SignedIn, instance: Instance
) -> None:
    una = signed_in("una-begins")
    for number in range(5):
        catalog_made(instance, una.name, f"Shelf {number}")
    stocked(instance, una.name, "Tides", {"Ostend.txt": "The tide at Ostend is four metres high."})
    page, question = una.open("/agents/new"), "How high is the tide at Ostend?"
    prompt = page.get_by_label("Instructions", exact=True)
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)

    # One template gives way to another, and what is typed to none unless one says so.
    templates = page.get_by_label("Start from a template")
    first, second = PROMPT_TEMPLATES[:2]
    templates.select_option(first.name)
    expect(prompt).to_have_value(first.text)
    templates.select_option(second.name)
    expect(prompt).to_have_value(second.text)
    prompt.fill("My own.")
    templates.select_option(first.name)
    expect(prompt).to_have_value("My own.")
    page.remove_listener("dialog", stay)
    page.once("dialog", lambda dialog: dialog.accept())
    templates.select_option(first.name)
    expect(prompt).to_have_value(first.text)
    page.on("dialog", stay)
    page.get_by_label("Name", exact=True).fill("Tide reader")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Tide reader")

    # It is linked in the dialog, and tried beside the form, where what is typed stays.
    prompt.fill("Answer in rhymes.")
    dialog, test = open_choice(una), page.locator("#test")
    expect(dialog.locator("[data-knowledge-base]")).to_have_count(6)
    dialog.get_by_role("searchbox").press_sequentially("TIDE")
    expect(dialog.locator("[data-knowledge-base]")).to_have_count(1)
    dialog.get_by_role("button", name="Quick Add Tides").click()
    expect(card(una, "Tides")).to_be_visible()
    for number, words in enumerate((question, "And tomorrow?")):
        test.get_by_label("Test question").fill(words)
        test.get_by_label("Test question").press("Enter")
        expect(test.locator("[data-state=succeeded]")).to_have_count(number + 1)
        expect(test.get_by_label("Test question")).to_have_value("")
    expect(test.locator(".sources").first).to_contain_text("Ostend.txt")
    test.get_by_role("button", name="Start over").click()
    expect(test.locator("[data-run]")).to_have_count(0)

    # Whoever leaves is asked, until it is saved.
    for leave in (
        lambda: page.get_by_role("link", name="Catalogs").click(no_wait_after=True),
        lambda: page.evaluate("history.back()"),
    ):
        leave()
        expect(prompt).to_have_value("Answer in rhymes.")
    assert asked == ["confirm", "beforeunload", "beforeunload"]
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    page.get_by_role("button", name="Chat").click()
    page.wait_for_url("**/chat")
    expect(page.get_by_role("heading", level=1)).to_have_text("Chat with Tide reader")
    assert len(asked) == 3
    run = answered(ask_on(una, question))
    expect(run.locator(".answer")).to_contain_text("four metres high")
    expect(run.locator(".sources")).to_contain_text("Ostend.txt")
    una.expect_no_errors()
