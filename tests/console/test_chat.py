"""Conversations with an agent, by their pages, and runs by the API as contracts tell it."""

import json
import re
from typing import Any

import pytest

from stackroom.aws import session
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
from tests.support.records import NOW

HOSTILE = "<img src=x onerror=alert(1)>"


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


def test_a_conversation_goes_on_from_its_first_question(
    alice: Browser, console: Console, agent: str
) -> None:
    path = begin(alice, agent, "What is planned?\r\nAnd when?")
    first = run_of(alice, path)
    answer(console, first, "A quay.")

    second = alice.post(path, message="How long is it?")
    shown = alice.get(path).text

    assert re.fullmatch(rf"/agents/{agent}/chat/chat-[0-9a-f]{{27}}", path)
    assert second.headers["location"] == f"{path}#newest"
    assert "What is planned?\nAnd when?" in shown
    assert shown.index("A quay.") < shown.index("How long is it?")
    assert "<bdi>What is planned? And when?</bdi></h1>" in shown
    listed = alice.get(f"/agents/{agent}/chat").text
    assert f'href="{path}#newest"' in listed


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


def test_stopped_run_is_cancelled_at_once_and_shows_what_was_written(
    alice: Browser, console: Console, agent: str
) -> None:
    path = begin(alice, agent)
    run = run_of(alice, path)
    write(console, run)
    console.services.agent_run_book.keep_draft("alice", run, Draft(steps=0, text="Half an"))
    before = alice.get(path).text

    stopped = alice.post(f"/runs/{run}/cancel")

    after = alice.get(path).text
    assert f"/runs/{run}/cancel" in before
    assert stopped.headers["location"] == path
    assert "Half an" in after
    assert "You stopped this answer." in after
    assert f"/runs/{run}/cancel" not in after
    assert alice.get(f"/api/runs/{run}").json()["data"]["run"]["state"] == "cancelled"


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


def test_source_shows_the_gaps_of_its_document(
    alice: Browser, console: Console, agent: str
) -> None:
    path = begin(alice, agent)
    run = run_of(alice, path)
    scan = passage("Scanned.", 1, gaps=("1 of 2 pages looks garbled: 2",), filename="scan.pdf")
    answer(console, run, "So [1] and so [2].", found(scan, passage("Whole.", 2)))

    shown = alice.get(path).text

    told = "with gaps: 1 of 2 pages looks garbled: 2"
    sources = shown.partition('<ul class="sources"')[2].partition("</ul>")[0]
    listed = [each for each in sources.split("<li>") if "pdf" in each]
    assert [told in each for each in listed] == [True, False]
    stands = re.findall('<div class="stands">(.*?)</div>', shown, re.S)
    assert [told in each for each in stands] == [True, False]


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
    answer(console, run, text, found(passage(**source), other), found(passage(**source)))

    shown = alice.get(path).text
    sources = shown.partition('<ul class="sources"')[2].partition("</ul>")[0]
    headings = re.findall(r"<h(\d)", shown.partition("<main")[2])
    assert headings == ["1", "2", "3"], "none is skipped"
    assert "<h3>Leave</h3>" in shown
    assert "<strong>Thirty</strong>" in shown
    assert f'href="#{run}-source-1"' in sources
    assert "plan.pdf, pages 4 to 5" in sources
    [stands] = re.findall('<div class="stands">(.*?plan.pdf.*?)</div>', shown, re.S)[:1]
    assert "pages 4 to 5" in stands, "as the answer says it"
    assert "other.md" not in sources, "the answer doesn't name it"
    assert shown.count(f'id="{run}-source-1"') == 1
    assert f'href="/catalogs/{catalog}/documents/{document}/file#page=4"' in shown
    assert "Already found:" in shown
    for told in ("2 searches", "1,234 tokens", "score 0.81", "2 passages"):
        assert told in shown


def test_cited_passage_is_folded_to_the_sentence_that_the_answer_uses(
    alice: Browser, console: Console, agent: str
) -> None:
    path, other = begin(alice, agent, "How long is leave?"), "Leave is long, and it is leave. " * 9
    long = passage(f"{other}Everybody stays home for 31 days. {other}")
    answer(console, run_of(alice, path), "At home for 31 days [1].", found(long))

    hearts = re.findall('class="heart"[^>]*>(.*?)</blockquote>', alice.get(path).text, re.S)

    assert {re.sub("<.*?>", "", each).strip() for each in hearts} == {
        "Everybody stays home for 31 days."
    }


def test_cached_question_embedding_is_not_mentioned_in_the_chat(
    alice: Browser, console: Console, agent: str
) -> None:
    """
    The cache holds the question's vector, which is of no interest to the reader of the answer.
    """
    path = begin(alice, agent)
    answer(console, run_of(alice, path), "Thirty.", found(passage(), is_cached=True))

    assert "cached" not in alice.get(path).text


def test_hostile_text_in_a_conversation_is_escaped(
    alice: Browser, console: Console, agent: str
) -> None:
    path = begin(alice, agent, HOSTILE)
    run = run_of(alice, path)
    hostile = passage(f"Leave. {HOSTILE}", filename=f"{HOSTILE}.pdf")
    said = ModelStep(text=HOSTILE, at=NOW, seconds=1, input_tokens=1, output_tokens=1)
    answer(console, run, f"[x](javascript:alert(1)) {HOSTILE}", said, found(hostile, query=HOSTILE))
    alice.post(f"{path}/rename", title=HOSTILE)

    pages = [alice.get(f"{path}{each}").text for each in ("", "/rename", "/delete")]

    assert [each for each in pages if HOSTILE in each or 'href="javascript' in each] == []
    assert all("&lt;img src=x onerror=alert(1)&gt;" in each for each in pages)


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


def test_a_conversation_is_renamed_and_deleted_with_its_answers(
    alice: Browser, console: Console, agent: str
) -> None:
    path = begin(alice, agent)
    run = run_of(alice, path)
    answer(console, run, "A quay.")

    alice.post(f"{path}/rename", title=" Plans ")
    renamed = alice.get(path).text
    asked = alice.get(f"{path}/delete").text
    deleted = alice.post(f"{path}/delete")

    assert "<bdi>Plans</bdi></h1>" in renamed
    assert "will be deleted with its 1 question" in asked
    assert deleted.headers["location"] == f"/agents/{agent}/chat"
    assert [alice.get(each).status_code for each in (path, f"/api/runs/{run}")] == [404, 404]
    assert path not in alice.get(f"/agents/{agent}/chat").text


def test_nobody_reads_or_asks_in_another_users_conversation(
    alice: Browser, bob: Browser, agent: str
) -> None:
    path = begin(alice, agent, "My secret plan")
    own = str(bob.call("POST", "/api/agents", AGENT).json()["data"]["agent"]["id"])
    chat = path.rpartition("/")[2]

    tried = [
        bob.get(path),
        bob.get(f"/agents/{own}/chat/{chat}"),
        bob.part(f"/agents/{own}/chat/{chat}/part?run={run_of(alice, path)}"),
        bob.post(f"/agents/{own}/chat/{chat}", message="And mine?"),
        bob.post(f"/agents/{own}/chat/{chat}/delete"),
        start(bob, own, conversationId=chat),
    ]

    assert {each.status_code for each in tried} == {404}
    assert "My secret plan" in alice.get(path).text


def test_agent_is_deleted_with_its_conversations(
    alice: Browser, console: Console, agent: str
) -> None:
    path = begin(alice, agent)
    run = run_of(alice, path)

    alice.post(f"/agents/{agent}/delete")

    assert [alice.get(each).status_code for each in (path, f"/api/runs/{run}")] == [404, 404]
    assert list(console.services.chat_book.of_agent("alice", agent)) == []


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
    alice: Browser, console: Console, agent: str
) -> None:
    path = begin(alice, agent, "Question 0.")
    for number in range(1, 32):
        answer(console, run_of(alice, path), "Yes.")
        alice.post(path, message=f"Question {number}.")

    newest = alice.get(path).text
    assert "Question 31." in newest
    assert "Question 1." not in newest.partition('id="runs"')[2]

    before = re.findall(r'href="(\?before=.*?)"', newest)[0]
    earlier = alice.get(f"{path}{before}").text

    assert "Question 1." in earlier.partition('id="runs"')[2]
    assert "Question 31." not in earlier


def test_feedback_on_an_answer_keeps_a_test_question(
    alice: Browser, console: Console, agent: str
) -> None:
    path = begin(alice, agent)
    run = run_of(alice, path)
    answer(console, run, "A quay.")

    told = alice.post(f"/runs/{run}/feedback", verdict="kept", note="Which one?")

    assert "Kept as a test question." in told.text
    [feedback] = console.services.feedback.of_user("alice")
    assert (feedback.verdict, feedback.question, feedback.note) == (
        "kept",
        "What is planned?",
        "Which one?",
    )
