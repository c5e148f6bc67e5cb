"""Asking: the answer, what it stands on, what was left out; and that it comes in time."""

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any
from unittest.mock import Mock

import pytest
from starlette.testclient import TestClient

from stackroom.errors import KnowledgeBaseThrottled, ValidationError
from stackroom.search.cited_answers import (
    Answering,
    AskedAndAnswered,
    CatalogAnswer,
    CitedSource,
    Hear,
    Written,
)
from stackroom.search.excerpts import Source
from stackroom_console.app import console_app
from stackroom_console.asked_question import (
    MOST_CATALOGS,
    MOST_FILES,
    SearchChoice,
    choice_of,
    shown_choice,
)
from stackroom_console.console import FOR_A_PAGE, Console
from stackroom_console.shown_answer import shown
from tests.console.browser import URL, Browser, read
from tests.console.things import (
    CATALOG,
    LEAVE,
    NO_MAPS,
    NOTHING,
    QUESTION,
    dropped,
    indexed,
    new_catalog,
)
from tests.fakes.usage import a_meter
from tests.functions.pipeline import Pipeline


def ask(browser: Browser, query: str = QUESTION, **more: str) -> str:
    answer = browser.ask(query, **more)
    assert answer.status_code == 200, answer.text
    return str(answer.text.split('<section id="answer"')[1])


def test_answer_cites_its_passages_and_form_keeps_what_was_asked(
    alice: Browser, catalog: str
) -> None:
    text = ask(alice)
    chosen = alice.get(f"/ask?catalog={catalog}").text
    asked = alice.ask("<what> & why", catalog=catalog, most="3").text

    assert "thirty days for everyone. 1" in read(text)
    assert re.search('<a class="cite" href="#passage-1"[^>]*>1</a>', text)
    [passage] = re.findall('<li id="passage-1".*?</li>', text, re.S)
    assert f'href="/catalogs/{catalog}/documents/doc-' in passage
    assert re.search(r"1 leave.txt Handbook score [01]\.\d\d", read(passage))
    assert "<mark>Annual</mark> <mark>leave</mark> is thirty days" in passage
    assert "rank 1 by meaning and rank 1 by words, of 1 found" in read(text)
    for form in (chosen, asked):
        assert f'name="{catalog}" checked>' in form
        assert "Search in Handbook" in read(form)
    assert "&lt;what&gt; &amp; why</textarea>" in asked
    assert 'value="3"' in asked


def test_question_is_never_answered_from_another_users_documents(
    bob: Browser, catalog: str
) -> None:
    assert "Nothing is searchable yet. Add documents" in read(ask(bob))
    for named in (catalog, "cat-x", "<b>"):
        answer = bob.ask(QUESTION, catalog=named)

        assert answer.status_code == 404
        assert "not found" in answer.text
        assert "thirty" not in answer.text
        assert "<b>" not in answer.text


def test_busy_knowledge_base_answers_with_the_time_to_retry(
    alice: Browser, console: Console
) -> None:
    for seconds, told in ((None, "a few seconds"), (7, "7 seconds")):
        busy = Mock(side_effect=KnowledgeBaseThrottled("Retrieve", retry_after=seconds))
        console.services.answering = Mock(search_and_ask=busy)

        answer = alice.ask(QUESTION)

        assert answer.status_code == 503
        assert f"Try again in {told}." in read(answer.text)


def test_an_unindexed_catalog_has_a_notice_and_a_deleted_one_a_refusal(
    alice: Browser, pipeline: Pipeline
) -> None:
    catalog = new_catalog(alice)
    dropped(pipeline, "alice", catalog, "a.txt")

    unindexed = alice.ask(QUESTION, catalog=catalog)
    alice.post(f"/catalogs/{catalog}/delete")
    deleted = alice.ask(QUESTION, catalog=catalog)

    assert (unindexed.status_code, deleted.status_code) == (200, 409)
    [notice] = re.findall('<p class="notice">(.*?)</p>', unindexed.text, re.S)
    assert "Nothing in this catalog is searchable yet" in notice
    assert "1 of 1 document is still being indexed; what is new in them was not searched." in notice
    assert 'class="problem"' not in unindexed.text
    assert "is being deleted" in deleted.text


@pytest.mark.slow
def test_a_question_is_asked_of_chosen_catalogs_files_and_attributes(
    alice: Browser, pipeline: Pipeline, catalog: str
) -> None:
    others = [new_catalog(alice, name) for name in ("Old handbook", "Older handbook")]
    for number, each in enumerate(others):
        indexed(pipeline, "alice", each, f"old{number}.txt", f"Annual leave was {number} days.")
    boxes = {catalog: "on", others[0]: "on"}

    two = alice.ask(QUESTION, **boxes)
    files = ask(alice, file="old1.txt; leave.txt")
    attributes = ask(alice, where="uploaded_at >= 2999-01-01")
    wrong = alice.post("/ask", query=QUESTION, where="year")

    assert f"catalog={catalog}%2C{others[0]}" in str(two.url)
    for text, found in (
        (two.text.split('id="answer"')[1], {"leave", "old0"}),
        (files, {"leave", "old1"}),
    ):
        assert set(re.findall(r"(\w+)\.txt</bdi></a>", text)) == found
    assert "No answer found" in attributes
    assert "no passage that you may search matches the filter" in attributes
    assert wrong.status_code == 400
    assert "Attributes: Allowed: conditions such as" in wrong.text
    assert 'value="year"' in wrong.text


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("year >= 2025; year < 2027.5", {"year": {">=": 2025, "<": 2027.5}}),
        ("current = true; city = true", {"current": True, "city": "true"}),
        ("code = 2026; city = 7", {"code": "2026", "city": "7"}),
        ("unknown = 7; other = false", {"unknown": 7, "other": False}),
    ],
)
def test_condition_has_the_type_that_documents_have_there(
    where: str, expected: dict[str, object]
) -> None:
    types = frozenset({"year:number", "current:boolean", "city:text", "code:text"})
    catalog = CATALOG.model_copy(update={"attribute_types": types})

    assert SearchChoice(attributes=where).filter([catalog]) == expected


def test_more_files_or_catalogs_than_a_search_takes_are_refused() -> None:
    files = "; ".join(f"{number}.txt" for number in range(MOST_FILES + 1))
    ids = ",".join(f"cat-{number}" for number in range(MOST_CATALOGS + 1))

    with pytest.raises(ValidationError, match="Files: Allowed: at most"):
        SearchChoice(files=files).filter([])
    with pytest.raises(ValidationError, match="Catalogs: Allowed: all, or at most"):
        choice_of({"catalog": ids})
    assert shown_choice({"catalog": ids}) == SearchChoice()


def test_names_of_files_are_offered_behind_those_already_typed(
    alice: Browser, bob: Browser, pipeline: Pipeline, catalog: str
) -> None:
    for name in ("old leave.txt", "tariffs.txt"):
        dropped(pipeline, "alice", catalog, name)

    one = alice.part("/ask/files/part?file=LEAVE").text
    next_one = alice.part(f"/ask/files/part?catalog={catalog}&file=old+leave.txt%3B+tar").text

    assert set(re.findall('value="(.*?)"', one)) == {"leave.txt", "old leave.txt"}
    assert re.findall('value="(.*?)"', next_one) == ["old leave.txt; tariffs.txt"]
    assert "leave" not in bob.part(f"/ask/files/part?catalog={catalog}&file=leave").text
    assert "<option" not in alice.part("/ask/files/part").text


def test_a_growing_answer_is_shown_to_its_asker_alone(
    alice: Browser, bob: Browser, console: Console, catalog: str
) -> None:
    growing = "ask-" + "0f" * 16
    drafts: list[str] = []
    book = console.services.agent_run_book
    keep = book.keep_draft

    def kept(user_id: str, run_id: str, draft: Any) -> None:
        keep(user_id, run_id, draft)
        drafts.append(alice.part(f"/ask/growing/part?id={growing}").text)
        drafts.append(bob.part(f"/ask/growing/part?id={growing}").text)

    object.__setattr__(console.services.agent_runs, "book", Mock(wraps=book, keep_draft=kept))
    form = {"query": QUESTION, "growing": growing, "csrf_token": alice.csrf}
    answer = alice.send("/ask", form, **{"HX-Request": "true"})

    assert "thirty days for everyone" in answer.text
    assert '<div class="answer-text prose"' in drafts[0]
    assert drafts[1].strip() == ""
    assert alice.part("/ask/growing/part?id=run-1").status_code == 404


def test_examples_are_made_of_headings_and_the_names_of_files(
    alice: Browser, pipeline: Pipeline, catalog: str
) -> None:
    text = "# Contents\n\nA.\n\n# 2. Notice periods\n\nThree months.\n\n# Who may leave?\n\nAll.\n"
    indexed(pipeline, "alice", catalog, "contract.md", text)

    part = alice.part("/ask/examples/part").text

    assert set(re.findall("<bdi>(.*?)</bdi>", part)) == {
        "What is leave about?",
        "What does contract say about notice periods?",
        "Who may leave?",
    }
    assert "/ask?q=Who+may+leave%3F" in part


def test_what_was_left_out_is_told_and_only_own_documents_are_linked() -> None:
    absent: dict[str, Any] = dict.fromkeys(each.name for each in fields(Source))
    ids = {"document_id": "doc-1", "catalog_id": "cat-1", "filename": "book.pdf"}
    cited = CitedSource(source=Source(**absent | ids), chunk_text=LEAVE, relevance_score=0.5)
    answer = CatalogAnswer(text="Thirty. [1] [2] [999]", sources=(cited,), guardrail_action="NONE")
    failures = {"KB1": "secret of the store"}
    left_out = replace(NOTHING, omitted=3, withheld=2, tokens=60, failures=failures)
    left_out = replace(left_out, notices={"KB1": "by words"}, guardrail_action="INTERVENED")
    found = AskedAndAnswered(passages=left_out, answer=answer)

    mine, anothers = (shown(QUESTION, found, own, NO_MAPS) for own in ({"cat-1": CATALOG}, {}))

    assert mine.cited[0].stands[0].pdf_href == "/catalogs/cat-1/documents/doc-1/file"
    assert anothers.cited[0].stands[0].href is None
    assert mine.text is not None
    assert mine.text.count('class="cite"') == 1
    assert "[2] [999]" in mine.text
    assert "3 relevant passages not shown: the text limit was reached (60" in mine.left_out[0]
    assert "2 passages withheld" in mine.left_out[1]
    assert "results may be missing" in mine.left_out[2]
    assert "Part of the search was limited" in mine.left_out[3]
    assert "A guardrail withheld some results." in mine.left_out[4]
    assert "secret" not in " ".join(mine.left_out)


@dataclass(frozen=True)
class Hanging:
    """Answers nothing before the test is over."""

    is_over: threading.Event = field(default_factory=threading.Event)

    def write(self, question: str, passages: Sequence[str], *, hear: Hear | None = None) -> Written:
        self.is_over.wait()
        return Written(text="Thirty days, said too late.")

    def catalogs_of(self, *_: object, **__: object) -> None:
        self.is_over.wait()

    of_user = create = catalogs_of


@contextmanager
def hanging() -> Iterator[Hanging]:
    made = Hanging()
    try:
        yield made
    finally:
        made.is_over.set()


def hasty(console: Console, browser: Browser, *, seconds: float) -> Browser:
    """The same person's browser, at a console that answers within so many seconds."""
    app = console_app(replace(console, seconds=seconds))
    client = TestClient(app, base_url=URL, cookies=browser.client.cookies)
    return Browser(client=client, provider=browser.provider)


def test_passages_are_shown_when_the_model_hangs_or_is_busy(
    alice: Browser, console: Console, catalog: str
) -> None:
    services = console.services
    busy = Mock(write=Mock(side_effect=KnowledgeBaseThrottled("Converse")))

    with hanging() as model:
        services.answering = Answering(retrieval=services.retrieval, writer=model, meter=a_meter())
        answer = hasty(console, alice, seconds=FOR_A_PAGE + 3).ask(QUESTION)
    services.answering = Answering(retrieval=services.retrieval, writer=busy, meter=a_meter())

    assert "No answer was written: the model is busy" in read(ask(alice))
    assert answer.status_code == 200
    assert "No answer was written in time" in answer.text
    assert "leave.txt" in answer.text
    assert "too late" not in answer.text


def test_hanging_store_yields_503_with_explanation_and_log_line(
    alice: Browser, console: Console, caplog: pytest.LogCaptureFixture
) -> None:
    """A change may be done by then."""
    form = {"name": "Slow", "csrf_token": alice.csrf}
    services, hurried = console.services, hasty(console, alice, seconds=0.2)

    with hanging() as store:
        # As much of each as is asked.
        services.listing = services.creation = services.agents = store  # type: ignore[assignment]
        page, program = hurried.get("/catalogs"), hurried.get("/api/agents")
        change = hurried.send("/catalogs", form)

    assert {each.status_code for each in (page, program, change)} == {503}
    assert page.headers["retry-after"] == "5"
    assert "respond in time" in page.text
    assert program.json()["error"]["code"] == "TOOK_TOO_LONG"
    assert "it may have succeeded" in change.text
    late = [each for each in caplog.records if each.message == "a request took too long"]
    assert [vars(each)["path"] for each in late] == ["/catalogs", "/api/agents", "/catalogs"]
