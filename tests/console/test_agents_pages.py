"""The agent builder and its dialogs, as a browser without scripts or with htmx uses them."""

import json

import pytest

from stackroom_console.console import Console
from tests.console.browser import Browser


def make(browser: Browser, name: str = "Planner", **more: str) -> str:
    answer = browser.post("/agents", name=name, model="amazon.nova-lite-v1:0", **more)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


@pytest.fixture
def catalog(console: Console) -> str:
    return console.services.creation.create("alice", "Plans").catalog_id


def test_an_agent_is_made_and_its_edit_survives_a_reload(alice: Browser) -> None:
    path = make(alice, description="Plans things")

    saved = alice.post(
        path, name="Chef", description="", model="m", system_prompt="Be brief.\r\nCite."
    )

    assert saved.headers["location"] == f"{path}?saved"
    assert "Saved." in alice.get(f"{path}?saved").text
    shown = alice.get(path).text
    assert "Saved." not in shown
    assert "Chef" in shown
    assert "Be brief.\nCite.</textarea>" in shown
    assert "Plans things" not in shown
    assert "Chef" in alice.get("/agents").text


def test_a_new_agent_is_offered_models_the_usual_one_first_and_no_knowledge_base(
    alice: Browser,
) -> None:
    shown = alice.get("/agents/new").text

    assert 'value="amazon.nova-lite-v1:0" aria-describedby' in shown
    assert '<option value="second.model-v1:0"></option>' in shown
    # Until it is saved.
    assert '<button id="add-knowledge-base" type="button" disabled' in shown


def test_quick_add_gives_the_defaults_and_a_second_one_is_told_in_the_dialog(
    alice: Browser, catalog: str
) -> None:
    path = make(alice)

    first = alice.post(f"{path}/knowledge-bases", knowledge_base_id=catalog)
    form = {"csrf_token": alice.csrf, "knowledge_base_id": catalog}
    second = alice.send(f"{path}/knowledge-bases", form, **{"HX-Request": "true"})

    assert first.headers["location"] == path
    assert second.status_code == 400
    assert "KB already linked" in second.text
    assert "<html" not in second.text
    shown = alice.get(path).text
    assert shown.count("data-tool=") == 1
    for told in (
        "search_plans",
        "Search Plans knowledge base",
        "• Top 5 results",
        "Min score: 0.7",
    ):
        assert told in shown


def test_a_tool_is_configured_edited_and_removed(alice: Browser, catalog: str) -> None:
    path = make(alice)
    configured = {"tool_name": "my_plans", "tool_description": "What is planned"}

    adding = alice.part(f"{path}/knowledge-bases/{catalog}").text
    alice.post(f"{path}/knowledge-bases/{catalog}", **configured, top_k="12", min_score="0.25")
    added = alice.get(path).text
    tool = alice.get(f"/api{path}").json()["data"]["agent"]["available_tools"][0]["id"]
    editing = alice.part(f"{path}/tools/{tool}/edit").text
    alice.post(f"{path}/tools/{tool}/edit", tool_name="renamed", top_k="3")
    edited = alice.get(path).text
    alice.post(f"{path}/tools/{tool}/delete")

    assert 'value="search_plans"' in adding
    for told in ("my_plans", "What is planned", "• Top 12 results", "Min score: 0.25"):
        assert told in added
    assert 'value="my_plans"' in editing
    assert "renamed" in edited
    assert "• Top 3 results • Min score: 0.25" in edited
    assert "data-tool=" not in alice.get(path).text


def test_an_agent_is_exported_and_imported_by_another_who_has_not_its_knowledge_base(
    alice: Browser, bob: Browser, catalog: str
) -> None:
    path = make(alice, name="Plänner", system_prompt="Cite.")
    alice.post(f"{path}/knowledge-bases", knowledge_base_id=catalog)

    seen_before = bob.get("/agents").text
    exported = alice.get(f"{path}/export")
    imported = bob.post("/agents/import", agent=exported.text)
    refused = bob.post("/agents/import", agent="{}")

    assert exported.headers["content-disposition"] == 'attachment; filename="planner.json"'
    assert json.loads(exported.text)["agent"]["name"] == "Plänner"
    assert "Plänner" not in seen_before
    shown = bob.get(imported.headers["location"]).text
    assert "Plänner" in shown
    assert 'class="card gone"' in shown
    assert "Knowledge base not found" in shown
    assert "Knowledge base not found" not in alice.get(path).text
    assert refused.status_code == 400
    assert "The file is no agent as Export gives it: " in refused.text


def test_the_tools_configuration_is_the_one_of_the_gateways_tools(alice: Browser) -> None:
    told = alice.get("/tools-config.json").json()

    assert told["id"] == "knowledge_base_tools"
    assert len(told["tools"]) == 10
