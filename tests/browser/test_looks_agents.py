"""Every page about agents as people see it: all can be read, and nothing keeps anybody out."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from stackroom_local.state import Instance
from tests.browser.belongings import MODEL
from tests.browser.conftest import SignedIn
from tests.browser.looks import Looks
from tests.browser.stage import Stage
from tests.browser.visitors import Visitor, arrive, sign_in

FERRIES = "Ferries"
CALCULATOR = {
    "id": "tool_calculator_1",
    "name": "calculator",
    "description": "Works out what is asked of it",
    "type": "builtin",
}
EXPORTED = {
    "format": "stackroom-agent",
    "version": 1,
    "agent": {
        "name": "Pilot",
        "description": "Knows the ferries, and works out fares",
        "model": MODEL,
        "system_prompt": "Answer in one sentence, and say where it stands.",
        "available_tools": [CALCULATOR],
    },
}


@pytest.fixture(scope="module")
def inhabitant(
    chromium: Browser, instance: Instance, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visitor]:
    """With a catalog in which there is something to be found."""
    visitor = arrive(chromium, instance, "otto")
    sign_in(visitor)
    folder = tmp_path_factory.mktemp("ferries")
    (folder / "Dover.md").write_text("# Dover\nThe ferry to Dover leaves at nine.")
    stage = Stage(visitor=visitor, looks=Looks(folder), folder=folder)
    stage.make_catalog(FERRIES, folder / "Dover.md", description="Timetables of all lines")
    expect(visitor.page.locator("#documents td .state.indexed")).to_be_visible()
    yield visitor
    visitor.page.context.close()


@pytest.mark.shows("/agents/{agent_id}/knowledge-bases")
def test_nothing_there_to_be_linked(signed_in: SignedIn, looks: Looks, stage: Stage) -> None:
    newcomer = signed_in("otto-on-his-first-day")
    looks.check(newcomer.open("/agents"), "agents-none")
    stage.make_agent("Waiter")

    opener = stage.page.get_by_role("button", name="Add Knowledge Base")

    stage.look_at_dialog(opener, "knowledge-bases")


@pytest.mark.shows("/agents/new")
def test_a_new_agent(stage: Stage) -> None:
    stage.visitor.open("/agents/new")

    stage.look("agent-new")


@pytest.mark.shows("/agents/import")
def test_the_dialog_of_an_import_and_a_refusal_in_it(stage: Stage) -> None:
    opener = stage.visitor.open("/agents").get_by_role("button", name="Import")

    dialog = stage.look_at_dialog(opener, "agent-import")
    dialog.get_by_label("Or paste its text").fill('{"agent": "of somebody else\'s making"}')
    dialog.get_by_role("button", name="Import").click()

    expect(dialog.get_by_role("alert")).not_to_be_empty()
    stage.look("agent-import-refused")


@pytest.mark.shows("/agents/{agent_id}")
def test_an_agent_with_tools_of_each_kind(stage: Stage) -> None:
    """One that is linked, one whose catalog is gone, one of another type."""
    stage.make_catalog("Old notices")
    page = stage.visitor.open("/agents/import")
    page.get_by_label("Or paste its text").fill(json.dumps(EXPORTED))
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Pilot")
    agent = page.url.removeprefix(stage.visitor.url)
    for catalog in (FERRIES, "Old notices"):
        stage.quick_add(agent, catalog)
    delete_catalog(stage, "Old notices")
    stage.visitor.open(agent)

    gone = page.locator(".card.gone")

    expect(gone).to_contain_text("Knowledge base not found")
    assert gone.evaluate("(card) => getComputedStyle(card).borderTopColor") == "rgb(208, 58, 58)"
    assert gone.locator("img").evaluate("(triangle) => triangle.naturalWidth > 0")
    stage.look("agent")


@pytest.mark.shows("/agents")
def test_the_list_of_agents(stage: Stage) -> None:
    stage.make_agent("An agent whose name takes more room than most names of agents do")
    stage.visitor.open("/agents")

    stage.look("agents")


@pytest.mark.shows("/agents/{agent_id}/knowledge-bases/{knowledge_base_id}")
def test_the_dialog_that_configures_and_a_refusal_in_it(stage: Stage) -> None:
    agent = stage.make_agent("Mate")
    stage.quick_add(agent, FERRIES)
    page = stage.page
    page.get_by_role("button", name="Add Knowledge Base").click()

    dialog = stage.look_at_dialog(
        page.get_by_role("button", name=f"Configure {FERRIES}"), "knowledge-base-link"
    )
    expect(dialog.get_by_label("Top K results")).to_be_visible()
    dialog.get_by_role("button", name="Add").click()

    expect(dialog.get_by_role("alert")).to_contain_text("KB already linked")
    stage.look("knowledge-base-link-refused")


@pytest.mark.shows(
    "/agents/{agent_id}/tools/{tool_id}/edit", "/agents/{agent_id}/tools/{tool_id}/delete"
)
def test_the_dialogs_of_a_tool(stage: Stage) -> None:
    agent = stage.make_agent("Bosun")
    stage.quick_add(agent, FERRIES)

    stage.look_at_dialog(stage.page.get_by_role("link", name="Edit search_ferries"), "tool-edit")
    stage.page.keyboard.press("Escape")

    opener = stage.page.get_by_role("link", name="Delete search_ferries")
    stage.look_at_dialog(opener, "tool-delete")


@pytest.mark.shows("/agents/{agent_id}/delete")
def test_the_dialog_of_an_agents_deletion(stage: Stage) -> None:
    stage.make_agent("Stowaway")

    opener = stage.page.get_by_role("button", name="Delete")

    stage.look_at_dialog(opener, "agent-delete")


@pytest.mark.shows("/agents/{agent_id}/chat")
def test_a_chat_before_and_after_a_question_with_its_steps_opened(stage: Stage) -> None:
    agent = stage.make_agent("Purser", prompt="Answer in one sentence.")
    stage.quick_add(agent, FERRIES)
    page = stage.visitor.open(f"{agent}/chat")
    stage.look("chat-empty")

    page.get_by_label("Question", exact=True).fill("When does the ferry leave?")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".state.succeeded")).to_be_visible()
    for each in page.locator(".steps summary").all():
        each.click()

    expect(page.locator(".steps blockquote").first).to_be_visible()
    stage.look("chat")


def delete_catalog(stage: Stage, name: str) -> None:
    page = stage.visitor.open("/catalogs")
    page.get_by_role("link", name=f"Delete {name}", exact=True).click()
    page.get_by_role("button", name="Delete catalog").click()
    expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
