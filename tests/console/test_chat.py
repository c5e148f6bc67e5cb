"""Questions to agents: by the API and in the chat, up to the moment a runner takes them."""

import json
from typing import Any

import pytest

from stackroom.agent_run import ModelStep, RunState, ShownPassage, ToolStep
from stackroom.aws import session
from stackroom_console.console import Console
from tests.console.browser import Browser
from tests.console.things import AGENT
from tests.records import NOW

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def agent(alice: Browser) -> str:
    return str(alice.call("POST", "/api/agents", AGENT).json()["data"]["agent"]["id"])


def start(browser: Browser, agent: str, message: Any = "What is planned?") -> Any:
    return browser.call("POST", f"/api/agents/{agent}/runs", {"message": message})


def test_a_run_is_accepted_queued_and_shown(alice: Browser, console: Console, agent: str) -> None:
    answer = start(alice, agent)

    assert answer.status_code == 202
    run = answer.json()["data"]["run"]
    url = console.services.deployment.settings.need("agent_runs_queue_url")
    [message] = session.client("sqs").receive_message(QueueUrl=url)["Messages"]
    assert json.loads(message["Body"]) == {"user_id": "alice", "run_id": run["id"]}
    assert alice.get(f"/api/runs/{run['id']}").json()["data"]["run"] == run
    assert (run["state"], run["steps"], run["answer"]) == ("accepted", [], None)
    assert "userId" not in run


def test_the_chat_asks_and_calls_off(alice: Browser, agent: str) -> None:
    asked = alice.post(f"/agents/{agent}/chat", message="What is planned?\r\nAnd when?")
    shown = alice.get(f"/agents/{agent}/chat").text
    [run] = alice.get(f"/api/agents/{agent}/runs").json()["data"]["runs"]

    cancelled = alice.post(f"/runs/{run['id']}/cancel")

    assert asked.headers["location"] == cancelled.headers["location"] == f"/agents/{agent}/chat"
    assert run["message"] == "What is planned?\nAnd when?"
    assert "What is planned?\nAnd when?" in shown
    assert f"/runs/{run['id']}/cancel" in shown
    after = alice.get(f"/agents/{agent}/chat").text
    assert "cancelled" in after
    assert f"/runs/{run['id']}/cancel" not in after


def test_steps_are_shown_as_text_with_file_page_and_score(
    alice: Browser, console: Console, agent: str
) -> None:
    run_id = start(alice, agent, HOSTILE).json()["data"]["run"]["id"]
    book = console.services.deployment.agent_runs
    run = book.get("alice", run_id)
    assert run is not None
    passage = ShownPassage(
        rank=1,
        content=f"Leave is 30 days. {HOSTILE}",
        source={"filename": f"{HOSTILE}.pdf", "page": 12, "section": None},
        similarity=0.812,
    )
    asked = ToolStep(
        tool_id="tool_kb_1_abc1234",
        tool_name="search_plans",
        knowledge_base_name="Plans",
        query=HOSTILE,
        is_success=True,
        told="Found 1 relevant chunks (0 omitted due to size)",
        passages=(passage,),
        at=NOW,
        seconds=0.2,
    )
    said = ModelStep(
        text=f"Thirty days. {HOSTILE}", at=NOW, seconds=1, input_tokens=1200, output_tokens=34
    )
    over = {"steps": (asked, said), "state": RunState.SUCCEEDED, "input_tokens": 1200}
    book.save(run.model_copy(update={**over, "output_tokens": 34, "tool_calls": 1}))

    shown = alice.get(f"/agents/{agent}/chat").text

    assert HOSTILE not in shown
    assert shown.count("&lt;img src=x onerror=alert(1)&gt;") == 5
    for told in ("search_plans", "page 12", "score 0.81", "1 tool call, 1,234 tokens", "succeeded"):
        assert told in shown


def test_what_nobody_changed_is_not_sent_again(alice: Browser, agent: str) -> None:
    start(alice, agent)
    page = alice.get(f"/agents/{agent}/chat").text
    path = page.partition('hx-get="')[2].partition('"')[0].replace("&amp;", "&")

    unchanged = alice.part(path).text
    start(alice, agent, "And then?")
    changed = alice.part(path).text

    assert "What is planned?" not in unchanged
    assert "And then?" in changed
