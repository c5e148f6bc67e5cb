"""Conversations with an agent, by their pages, and runs by the API as contracts tell it."""

import json
import re
from typing import Any

import pytest

from stackroom.aws import session
from stackroom_agents.user_agents import chats
from stackroom_agents.user_agents.agent_run import (
    AgentRun,
    Draft,
    ModelStep,
    RunState,
    ShownPassage,
    Step,
    ToolStep,
)
from stackroom_console.console import Console
from tests.console.browser import Browser
from tests.console.things import AGENT, new_catalog
from tests.support.large_catalogs import GAP
from tests.support.records import NOW


@pytest.fixture
def agent(alice: Browser) -> str:
    return str(alice.call("POST", "/api/agents", AGENT).json()["data"]["agent"]["id"])


def start(browser: Browser, agent: str, message: Any = "What is planned?", **more: str) -> Any:
    return browser.call("POST", f"/api/agents/{agent}/runs", {"message": message, **more})


def begin(browser: Browser, agent: str, message: str = "What is planned?") -> str:
    """A conversation; answers its page's address."""
    asked = browser.post(f"/agents/{agent}/chat", message=message)
    assert asked.status_code == 303
    return str(asked.headers["location"])


def run_of(browser: Browser, path: str) -> str:
    """The id of the last one that the page shows."""
    return str(re.findall(r'data-run="(.*?)"', browser.get(path).text)[-1])


def write(console: Console, run_id: str, *steps: Step, **changes: Any) -> AgentRun:
    """Write the run as its runner does."""
    book = console.services.agent_run_book
    run = book.get("alice", run_id)
    assert run is not None
    now = {"state": RunState.RUNNING, "begun_at": run.created_at, "steps": (*run.steps, *steps)}
    return book.save(run.model_copy(update={**now, **changes}))


def answer(console: Console, run_id: str, text: str, *before: Step) -> AgentRun:
    said = ModelStep(text=text, at=NOW, seconds=1, input_tokens=1200, output_tokens=34)
    tokens = {"input_tokens": 1200, "output_tokens": 34, "tool_calls": len(before)}
    run = write(console, run_id, *before, said, **tokens)
    ended = run.ended(RunState.SUCCEEDED, run.created_at)
    return console.services.agent_run_book.save(ended)


def found(*passages: ShownPassage, query: str = "leave", **more: Any) -> ToolStep:
    return ToolStep(
        tool_id="tool_kb_1_abc1234",
        tool_name="search_plans",
        knowledge_base_name="Plans",
        query=query,
        is_success=True,
        told="Found 1 relevant chunks (0 omitted due to size)",
        passages=passages,
        at=NOW,
        seconds=0.2,
        **more,
    )


def passage(
    content: str = "Leave is 30 days.",
    number: int | None = 1,
    gaps: tuple[str, ...] = (),
    **source: Any,
) -> Any:
    told = {"filename": "plan.pdf", "page": 4, "section": None, **source}
    return ShownPassage(
        rank=1, number=number, content=content, source=told, similarity=0.812, gaps=gaps
    )


def test_a_run_is_accepted_queued_and_shown(alice: Browser, console: Console, agent: str) -> None:
    answer = start(alice, agent)

    assert answer.status_code == 202
    run = answer.json()["data"]["run"]
    url = console.services.settings.need("agent_runs_queue_url")
    [message] = session.client("sqs").receive_message(QueueUrl=url)["Messages"]
    assert json.loads(message["Body"]) == {"user_id": "alice", "run_id": run["id"]}
    assert alice.get(f"/api/runs/{run['id']}").json()["data"]["run"] == run
    assert (run["state"], run["steps"], run["answer"]) == ("accepted", [], None)
    assert run["conversationId"] is None
    assert "userId" not in run


def test_api_run_joins_a_conversation_only_with_its_id(
    alice: Browser, console: Console, agent: str
) -> None:
    run = start(alice, agent, conversationId="new").json()["data"]["run"]
    busy = start(alice, agent, "And when?", conversationId=run["conversationId"])
    answer(console, run["id"], "Nothing.")

    following = start(alice, agent, "And when?", conversationId=run["conversationId"])
    unknown = start(alice, agent, conversationId="chat-" + "0" * 27)
    wrong = start(alice, agent, conversationId="mine")

    assert following.json()["data"]["run"]["conversationId"] == run["conversationId"]
    assert [each.status_code for each in (busy, unknown, wrong)] == [409, 404, 400]
    assert 'conversationId: Allowed: the id of a conversation, or "new"' in wrong.text.replace(
        '\\"', '"'
    )


def test_run_shows_its_progress_before_there_is_an_answer(
    alice: Browser, console: Console, agent: str
) -> None:
    path = begin(alice, agent)
    run = run_of(alice, path)
    book = console.services.agent_run_book
    looks = [alice.get(path).text]

    write(console, run)
    looks.append(alice.get(path).text)
    book.keep_draft("alice", run, Draft(steps=0, query="quay", knowledge_base_name="Plans"))
    looks.append(alice.get(path).text)
    write(console, run, found(passage()))
    book.keep_draft("alice", run, Draft(steps=1, text="The **quay** [1] is"))
    looks.append(alice.get(path).text)

    told = ["Queued…", "Thinking…", "Searching Plans for “quay”…", "Writing…"]
    for part, doing in zip(looks, told, strict=True):
        assert doing in part
        assert not re.search("accepted|tokens", re.sub("<[^>]*>", "", part))
    assert "The <strong>quay</strong>" in looks[-1]
    [chip] = re.findall(r'class="cite" href="#(.*?)"', looks[-1].partition('class="growing"')[2])
    assert f'<li id="{chip}" class="citation"' in looks[-1]


def test_an_answer_grows_and_what_has_not_changed_is_not_sent_again(
    alice: Browser, console: Console, agent: str
) -> None:
    path = begin(alice, agent)
    run = run_of(alice, path)
    book = console.services.agent_run_book
    write(console, run)
    parts: list[str] = []

    def next_part(at: str) -> str:
        parts.append(alice.part(at).text)
        return watched(parts[-1])

    at = next_part(watched(alice.get(path).text))
    at = next_part(at)
    book.keep_draft("alice", run, Draft(steps=0, text="The quay"))
    at = next_part(at)
    book.keep_draft("alice", run, Draft(steps=0, text="The quay is"))
    at = next_part(at)
    write(console, run, found(passage()))
    at = next_part(at)
    answer(console, run, "The quay is long.")
    at = next_part(at)
    next_part(at)

    _, unchanged, begun, grown, stepped, over, after = parts
    assert "The quay" in begun
    assert "The quay is" in grown
    assert "What is planned?" not in begun + grown + stepped
    assert "Searched" in stepped
    assert "Searched" not in grown
    assert 'class="answer prose"' in over
    assert [len(each.splitlines()) for each in (unchanged, after)] == [1, 1]
    assert re.findall(r"delay:([\d.]+)s", unchanged) == ["0.15"]
    assert float(re.findall(r"delay:([\d.]+)s", after)[0]) >= 10


def watched(page: str) -> str:
    return str(re.findall(r'data-watch hx-get="(.*?)"', page)[0]).replace("&amp;", "&")


def test_failed_run_shows_its_partial_answer_with_sources(
    alice: Browser, console: Console, agent: str
) -> None:
    path = begin(alice, agent)
    run = run_of(alice, path)
    half = ModelStep(
        text="Half an **answer** [1]",
        at=NOW,
        seconds=0,
        input_tokens=0,
        output_tokens=0,
        is_cut=True,
    )
    written = write(console, run, found(passage()), half)
    failed = written.ended(RunState.FAILED, NOW, reason="The model did not answer.")
    console.services.agent_run_book.save(failed)

    shown = alice.get(path).text

    prose = shown.partition('class="answer prose"')[2].partition("</div>")[0]
    assert "Half an <strong>answer</strong>" in prose
    assert f'href="#{run}-source-1"' in prose
    assert "The model did not answer." in shown


def test_an_answer_is_markdown_and_cites_its_passages_which_open(
    alice: Browser, console: Console, agent: str
) -> None:
    catalog = new_catalog(alice, "Plans")
    document = "doc-" + "0" * 24
    source: dict[str, Any] = {
        "page_first": 4,
        "page_last": 5,
        "catalog_id": catalog,
        "document_id": document,
    }
    path = begin(alice, agent, "How long is leave?")
    run = run_of(alice, path)
    other = passage("Nobody asked.", 2, filename="other.md", page=None)

    text = "## Leave\n\n- **Thirty** days [1]"
    answer(
        console, run, text, found(passage(gaps=(GAP,), **source), other), found(passage(**source))
    )

    shown = alice.get(path).text
    sources = shown.partition('<ul class="sources"')[2].partition("</ul>")[0]
    headings = re.findall(r"<h(\d)", shown.partition("<main")[2])
    assert headings == ["1", "2", "3"], "none is skipped"
    assert "<h3>Leave</h3>" in shown
    assert "<strong>Thirty</strong>" in shown
    assert f'href="#{run}-source-1"' in sources
    assert "plan.pdf, pages 4 to 5" in sources
    assert f"with gaps: {GAP}" in sources
    [stands] = re.findall('<div class="stands">(.*?plan.pdf.*?)</div>', shown, re.S)[:1]
    assert "pages 4 to 5" in stands, "as the answer says it"
    assert "other.md" not in sources, "the answer doesn't name it"
    assert shown.count(f'id="{run}-source-1"') == 1
    assert f'href="/catalogs/{catalog}/documents/{document}/file#page=4"' in shown
    assert "Already found:" in shown
    for told in ("2 searches", "1,234 tokens", "score 0.81", "2 passages"):
        assert told in shown


def test_conversation_marks_the_turns_that_the_agent_has_forgotten(
    alice: Browser, console: Console, agent: str
) -> None:
    path = begin(alice, agent, "First?")
    for question in ("Second?", "Third?"):
        answer(console, run_of(alice, path), "Yes.")
        alice.post(path, message=question)

    write(console, run_of(alice, path), forgotten=1)

    shown = alice.get(path).text
    line = shown.index("The agent no longer remembers what is above")
    assert shown.rindex("First?") < line < shown.index("Second?")


def test_single_questions_of_programs_and_of_before_are_shown_apart(
    alice: Browser, console: Console, agent: str
) -> None:
    run = start(alice, agent, "Alone?").json()["data"]["run"]["id"]
    answer(console, run, "Yes.")
    path = begin(alice, agent)

    shown = alice.get(f"/agents/{agent}/chat/single").text

    assert "Alone?" in shown
    assert "What is planned?" not in shown.partition('id="runs"')[2]
    assert "Alone?" not in alice.get(path).text
    # Conversations don't list them, for an agent that no program asks has none; a new one tells.
    assert "chat/single" not in alice.get(path).text
    assert f'href="/agents/{agent}/chat/single#newest"' in alice.get(f"/agents/{agent}/chat").text


def test_a_long_conversation_opens_at_its_newest_and_leads_back(
    alice: Browser, console: Console, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chats, "MOST_SHOWN", 2)
    path = begin(alice, agent, "Question 0.")
    for number in range(1, 4):
        answer(console, run_of(alice, path), "Yes.")
        alice.post(path, message=f"Question {number}.")

    newest = alice.get(path).text
    assert "Question 3." in newest
    assert "Question 1." not in newest.partition('id="runs"')[2]

    before = re.findall(r'href="(\?before=.*?)"', newest)[0]
    earlier = alice.get(f"{path}{before}").text

    assert "Question 1." in earlier.partition('id="runs"')[2]
    assert "Question 3." not in earlier
