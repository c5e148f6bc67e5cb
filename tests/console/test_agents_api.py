"""Agents and their linked knowledge bases by the API, as contracts tell it."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from stackroom.aws import session
from stackroom_console.console import Console
from tests.aws.stores import CONTROL_TABLE
from tests.console.browser import Browser
from tests.console.conftest import NewBrowser

AGENT = {"name": "Planner", "model": "amazon.nova-lite-v1:0"}


@pytest.fixture
def agent(alice: Browser) -> str:
    answer = alice.call("POST", "/api/agents", AGENT)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["data"]["agent"]["id"])


@pytest.fixture
def catalog(console: Console) -> str:
    return console.services.creation.create("alice", "Plans", description="To be done").catalog_id


@pytest.fixture
def bob(new_browser: NewBrowser) -> Browser:
    browser = new_browser()
    browser.sign_in("bob")
    return browser


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
    asked = f"/api/agents/{agent}/available-knowledge-bases?limit=101"
    assert error_of(alice.get(asked)) == (400, "limit: Allowed: a whole number from 1 to 100")


def test_a_knowledge_base_is_linked_once(alice: Browser, agent: str, catalog: str) -> None:
    linked = link(alice, agent, catalog)

    assert linked.status_code == 200
    tool = linked.json()["data"]["tool"]
    assert tool["config"] == {
        "knowledgeBaseId": catalog,
        "knowledgeBaseName": "Plans",
        "defaultTopK": 5,
        "defaultMinScore": 0.7,
    }
    again = link(alice, agent, catalog, toolName="search_again")
    assert error_of(again) == (400, "KB already linked")
    assert alice.get(f"/api/agents/{agent}").json()["data"]["agent"]["available_tools"] == [tool]


def test_anothers_agent_and_knowledge_base_are_not_found(
    alice: Browser, bob: Browser, console: Console, agent: str, catalog: str
) -> None:
    letters = console.services.creation.create("bob", "Letters").catalog_id

    assert error_of(link(alice, agent, letters)) == (404, "Not found")
    assert error_of(link(alice, agent, "cat-000000000000000000000000")) == (404, "Not found")
    assert error_of(link(bob, agent, letters)) == (404, "Not found")
    assert error_of(bob.get(f"/api/agents/{agent}/available-knowledge-bases"))[0] == 404


def test_a_link_is_changed_and_removed(alice: Browser, agent: str, catalog: str) -> None:
    tool = link(alice, agent, catalog).json()["data"]["tool"]
    path = f"/api/agents/{agent}/knowledge-base-tools/{tool['id']}"

    changed = alice.call("PATCH", path, {"defaultTopK": 12, "toolDescription": "Plans"})

    assert changed.json()["data"]["tool"]["config"]["defaultTopK"] == 12
    assert changed.json()["data"]["tool"]["description"] == "Plans"
    unknown = path.replace(tool["id"], "tool_kb_0_0000000")
    assert error_of(alice.call("PATCH", unknown, {})) == (404, "Tool not found")
    elsewhere = path.replace(agent, "agent-0")
    assert error_of(alice.call("PATCH", elsewhere, {})) == (404, "Agent not found")
    assert alice.call("DELETE", f"/api/agents/{agent}/tools/{tool['id']}").status_code == 200
    assert alice.get(f"/api/agents/{agent}").json()["data"]["agent"]["available_tools"] == []


def test_a_tool_of_another_type_is_only_removed(alice: Browser, agent: str) -> None:
    key = {"pk": {"S": "AGENTS#alice"}, "sk": {"S": agent}}
    dynamodb = session.client("dynamodb")
    kept = dynamodb.get_item(TableName=CONTROL_TABLE, Key=key)["Item"]
    clock = {"id": "t1", "name": "clock", "description": "", "type": "http"}
    told = {**json.loads(kept["agent"]["S"]), "available_tools": [clock]}
    dynamodb.put_item(TableName=CONTROL_TABLE, Item={**kept, "agent": {"S": json.dumps(told)}})

    path = f"/api/agents/{agent}/knowledge-base-tools/t1"
    assert error_of(alice.call("PATCH", path, {"defaultTopK": 1})) == (400, "Not a KB tool")
    assert alice.call("DELETE", f"/api/agents/{agent}/tools/t1").status_code == 200


def test_a_field_that_there_is_not_is_named(alice: Browser, agent: str, catalog: str) -> None:
    status, message = error_of(link(alice, agent, catalog, tool_name="x"))

    assert status == 400
    assert message.startswith("'tool_name': no such field. Allowed: knowledgeBaseId, toolName")
    assert alice.get(f"/api/agents/{agent}").json()["data"]["agent"]["available_tools"] == []


def test_ten_concurrent_calls_give_ten_tools(alice: Browser, console: Console, agent: str) -> None:
    ids = [console.services.creation.create("alice", f"C{n}").catalog_id for n in range(10)]
    csrf = alice.csrf

    with ThreadPoolExecutor(10) as people:
        answers = list(
            people.map(
                lambda n: alice.client.post(
                    f"/api/agents/{agent}/knowledge-base-tools",
                    json={
                        "knowledgeBaseId": ids[n],
                        "toolName": f"search_{n}",
                        "toolDescription": "d",
                    },
                    headers={"X-CSRF-Token": csrf},
                ),
                range(10),
            )
        )

    assert [each.status_code for each in answers] == [200] * 10
    tools = alice.get(f"/api/agents/{agent}").json()["data"]["agent"]["available_tools"]
    assert {each["name"] for each in tools} == {f"search_{n}" for n in range(10)}


def test_the_api_takes_a_bearer_token_and_no_cookie_without_its_csrf_token(
    alice: Browser, agent: str
) -> None:
    forged = alice.client.post("/api/agents", json=AGENT)

    assert forged.status_code == 403
    assert len(alice.get("/api/agents").json()["data"]["agents"]) == 1
