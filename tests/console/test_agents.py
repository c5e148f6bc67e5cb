"""Agents, their knowledge bases and chats: by the API as contracts tell it, and by the pages."""

import json
import re
from typing import Any

import pytest

from stackroom_console.console import Console
from tests.console.browser import Browser
from tests.console.things import AGENT


@pytest.fixture
def agent(alice: Browser) -> str:
    answer = alice.call("POST", "/api/agents", AGENT)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["data"]["agent"]["id"])


@pytest.fixture
def catalog(console: Console) -> str:
    return console.services.creation.create("alice", "Plans", description="To be done").catalog_id


def link(browser: Browser, agent: str, catalog: str, **more: Any) -> Any:
    asked = {
        "knowledgeBaseId": catalog,
        "toolName": "search_plans",
        "toolDescription": "Search Plans knowledge base",
        **more,
    }
    return browser.call("POST", f"/api/agents/{agent}/knowledge-base-tools", asked)


def error_of(answer: Any) -> tuple[int, str]:
    told = answer.json()
    assert told["success"] is False
    return answer.status_code, told["error"]["message"]


def test_an_agent_is_made_shown_edited_and_removed(alice: Browser, agent: str) -> None:
    edited = alice.call("PATCH", f"/api/agents/{agent}", {"system_prompt": "Cite.\nAlways."})
    shown = alice.get(f"/api/agents/{agent}").json()["data"]["agent"]
    listed = alice.get("/api/agents").json()["data"]["agents"]

    assert edited.status_code == 200
    assert shown == edited.json()["data"]["agent"] == listed[0]
    assert (shown["name"], shown["system_prompt"], shown["version"]) == (
        "Planner",
        "Cite.\nAlways.",
        2,
    )
    assert "user_id" not in shown
    assert alice.call("DELETE", f"/api/agents/{agent}").json() == {"success": True, "data": {}}
    assert error_of(alice.get(f"/api/agents/{agent}")) == (404, "Agent not found")


def test_ones_own_knowledge_bases_are_available(
    alice: Browser, console: Console, agent: str, catalog: str
) -> None:
    console.services.creation.create("bob", "Letters")

    found = alice.get(f"/api/agents/{agent}/available-knowledge-bases").json()

    assert found["success"]
    assert found["data"] == [
        {
            "id": catalog,
            "name": "Plans",
            "description": "To be done",
            "stats": {"documentCount": 0, "chunkCount": None},
            "defaultMinScore": 0.7,
        }
    ]


def test_a_knowledge_base_is_linked_once_changed_and_removed(
    alice: Browser, agent: str, catalog: str
) -> None:
    linked = link(alice, agent, catalog)
    again = link(alice, agent, catalog, toolName="search_again")
    tool = linked.json()["data"]["tool"]
    path = f"/api/agents/{agent}/knowledge-base-tools/{tool['id']}"
    changed = alice.call("PATCH", path, {"defaultTopK": 12, "toolDescription": "Plans"})

    assert linked.status_code == 200
    assert tool["config"] == {
        "knowledgeBaseId": catalog,
        "knowledgeBaseName": "Plans",
        "defaultTopK": 5,
        "defaultMinScore": 0.7,
    }
    assert error_of(again) == (400, "KB already linked")
    [kept] = alice.get(f"/api/agents/{agent}").json()["data"]["agent"]["available_tools"]
    assert changed.json()["data"]["tool"] == kept
    assert (kept["config"]["defaultTopK"], kept["description"]) == (12, "Plans")
    assert alice.call("DELETE", f"/api/agents/{agent}/tools/{tool['id']}").status_code == 200
    assert error_of(alice.call("PATCH", path, {})) == (404, "Tool not found")


def test_linking_refuses_anothers_knowledge_base_and_names_unknown_field(
    alice: Browser, console: Console, agent: str, catalog: str
) -> None:
    letters = console.services.creation.create("bob", "Letters").catalog_id

    assert error_of(link(alice, agent, letters)) == (404, "Not found")
    status, message = error_of(link(alice, agent, catalog, tool_name="x"))
    assert status == 400
    assert message.startswith("'tool_name': no such field. Allowed: knowledgeBaseId, toolName")
    assert alice.get(f"/api/agents/{agent}").json()["data"]["agent"]["available_tools"] == []


def test_an_empty_catalog_and_one_that_is_gone_are_flagged(
    alice: Browser, agent: str, catalog: str
) -> None:
    offered = alice.get(f"/agents/{agent}/knowledge-bases").text
    alice.post(f"/agents/{agent}/knowledge-bases", knowledge_base_id=catalog)
    builder, listed = alice.get(f"/agents/{agent}").text, alice.get("/agents").text
    alice.post(f"/catalogs/{catalog}/delete")

    assert "0 docs: nothing to search yet" in offered
    assert "This catalog is empty." in builder
    assert "Not found" not in listed
    assert "Not found: <bdi>Plans</bdi>" in alice.get("/agents").text


def make(browser: Browser, name: str = "Planner", **more: str) -> str:
    answer = browser.post("/agents", name=name, **{"model": "amazon.nova-lite-v1:0", **more})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def test_agent_is_imported_by_a_user_without_its_knowledge_base(
    alice: Browser, bob: Browser, catalog: str
) -> None:
    path = make(alice, name="Plänner", system_prompt="Cite.")
    alice.post(f"{path}/knowledge-bases", knowledge_base_id=catalog)

    seen_before = bob.get("/agents").text
    exported = alice.get(f"{path}/export")
    imported = bob.post("/agents/import", agent=exported.text)
    refused = bob.post("/agents/import", agent="{}")
    theirs = json.loads(exported.text)
    theirs["agent"]["model"] = "a.model-of-another-deployment"
    other = bob.post("/agents/import", agent=json.dumps(theirs))

    assert exported.headers["content-disposition"] == 'attachment; filename="planner.json"'
    assert json.loads(exported.text)["agent"]["name"] == "Plänner"
    assert "Plänner" not in seen_before
    shown = bob.get(imported.headers["location"]).text
    assert "Plänner" in shown
    assert 'class="card gone"' in shown
    assert "Knowledge base not found" in shown
    assert "Knowledge base not found" not in alice.get(path).text
    assert other.headers["location"].endswith("?another-model")
    assert "a.model-of-another-deployment" not in bob.get(other.headers["location"]).text
    assert refused.status_code == 400
    assert "The file is not an agent in the form that Export writes: " in refused.text


def test_form_is_refused_for_what_was_typed_and_for_a_change_meanwhile(alice: Browser) -> None:
    typed = {"name": "Planner", "model": "second.model-v1:0"}
    path = make(alice, **typed)
    seen = re.findall(r'name="seen" value="(.*?)"', alice.get(path).text)[0]
    alice.call("PATCH", f"/api{path}", {"description": "Of another window"})

    unnamed = alice.post("/agents", **typed | {"name": " "})
    meanwhile = alice.post(path, seen=seen, **typed | {"name": "Pilot"})

    assert (unnamed.status_code, meanwhile.status_code) == (400, 409)
    assert "Name: Allowed: 1 to 100 characters" in unnamed.text
    assert "was changed in another window" in meanwhile.text
    gone = path[:-1] + ("a" if path.endswith("b") else "b")
    assert alice.post(gone, **typed).status_code == 404
