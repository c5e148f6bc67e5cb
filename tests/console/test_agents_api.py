"""Agents and their linked knowledge bases by the API, as contracts tell it."""

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


def test_anothers_knowledge_base_is_not_linked(
    alice: Browser, console: Console, agent: str
) -> None:
    letters = console.services.creation.create("bob", "Letters").catalog_id

    assert error_of(link(alice, agent, letters)) == (404, "Not found")


def test_a_field_that_there_is_not_is_named(alice: Browser, agent: str, catalog: str) -> None:
    status, message = error_of(link(alice, agent, catalog, tool_name="x"))

    assert status == 400
    assert message.startswith("'tool_name': no such field. Allowed: knowledgeBaseId, toolName")
    assert alice.get(f"/api/agents/{agent}").json()["data"]["agent"]["available_tools"] == []
