"""Ask as a bench: an address for each answer, its threshold tried and kept, and why this order."""

import re
from dataclasses import replace
from html import unescape
from typing import Any
from unittest.mock import Mock
from urllib.parse import parse_qs, urlsplit

from stackroom.model.passages import OnlyPlaces, Ranks
from stackroom.search.cited_answers import AskedAndAnswered, CatalogAnswer, CitedSource
from stackroom.search.excerpts import Source
from stackroom.search.ranking import Relevance
from stackroom.search.results import Result
from stackroom.text.document_text import text_of
from stackroom.text.extraction.page import Page
from stackroom_console.asked_question import LONGEST_ADDRESS
from stackroom_console.console import MAX_HEADERS, Console
from stackroom_console.sealed_cookies import MAX_COOKIE
from stackroom_console.shown_answer import shown
from stackroom_console.shown_citations import Citation, FoundPassage, citations_of, source_of
from tests.console.browser import Browser, read
from tests.console.things import AGENT, CATALOG, LEAVE, NO_MAPS, NOTHING, QUESTION, new_catalog

SOURCE = source_of({"filename": "leave.pdf", "page": 4, "page_first": 4, "page_last": 5})


def tool_of(browser: Browser, catalog: str) -> tuple[str, str]:
    """The ids of an agent and of its tool that asks the catalog."""
    agent = browser.call("POST", "/api/agents", AGENT).json()["data"]["agent"]["id"]
    link = {"knowledgeBaseId": catalog, "toolName": "search_leave", "toolDescription": "Leave"}
    made = browser.call("POST", f"/api/agents/{agent}/knowledge-base-tools", link)
    return agent, made.json()["data"]["tool"]["id"]


def result(text: str, **more: object) -> Result:
    found = Result(
        content=text,
        text=text,
        source=SOURCE,
        other_sources=(),
        score=0.5,
        attributes={},
        is_cut=False,
    )
    return replace(found, **more)  # type: ignore[arg-type]


def test_an_answer_has_an_address_that_keeps_the_question_and_its_settings(
    alice: Browser, catalog: str
) -> None:
    sent = alice.post("/ask", query=QUESTION, catalog=catalog, most="3", threshold="0.1")
    address = sent.headers["location"]
    page, again = alice.get(address).text, alice.get(address).text

    assert sent.status_code == 303
    assert parse_qs(urlsplit(address).query) == {
        "q": [QUESTION],
        "catalog": [catalog],
        "most": ["3"],
        "threshold": ["0.1"],
    }
    for text in (page, again):
        assert f"{QUESTION}</textarea>" in text
        assert 'name="most" min="1" max="20" value="3"' in text
        assert 'value="0.1"' in text
        assert "thirty days for everyone" in read(text.split('<section id="answer"')[1])


def test_a_question_too_long_for_an_address_is_answered_all_the_same(
    alice: Browser, catalog: str
) -> None:
    long = "年" * 900

    page = alice.post("/ask", query=long)
    told = alice.post("/ask/feedback", question=long, verdict="up", asked="")

    assert (page.status_code, told.status_code) == (200, 200)
    assert "data-query" not in page.text
    assert "Marked as helpful." in told.text
    # In the request's line, and as the page that it comes from, twice.
    assert 3 * LONGEST_ADDRESS + MAX_COOKIE + 1_500 < MAX_HEADERS


def test_invalid_number_in_address_is_reported_in_the_form(alice: Browser) -> None:
    catalog = new_catalog(alice)

    answer = alice.get(f"/ask?q=How+long%3F&catalog={catalog}&most=7&threshold=9")
    form = answer.text.split('<form id="ask"')[1]

    assert answer.status_code == 400
    told = "Similarity threshold: Allowed: a number from 0 to 1"
    assert f'role="alert"><p class="problem"><strong>{told}' in form
    assert "How long?</textarea>" in form
    assert f'name="{catalog}" checked>' in form
    values = re.findall(r'type="number" name="\w+" [^>]*value="([^"]*)"', form)
    assert values == ["7", "9"]
    assert form.count('aria-invalid="true"') == 1


def test_a_threshold_is_tried_and_kept_for_an_agents_tool(
    alice: Browser, console: Console, catalog: str
) -> None:
    agent, tool = tool_of(alice, catalog)
    page = alice.ask(QUESTION, threshold="0.35").text
    searching = Mock(return_value=AskedAndAnswered(passages=NOTHING))
    console.services.answering = Mock(search_and_ask=searching)
    alice.ask(QUESTION, threshold="0.35", most="7")

    part = alice.post("/ask/threshold", tool=f"{agent}/{tool}", threshold="0.35")

    [asked, _] = searching.call_args.args
    assert (asked.min_score, asked.top_k) == (0.35, 7)
    assert f'value="{agent}/{tool}"' in page
    assert alice.post("/ask/threshold", tool=f"{agent}/{tool}", threshold="").status_code == 400
    assert "search_leave leaves out passages that score below 0.35" in read(part.text)
    [kept] = console.services.agents.get("alice", agent).linked_tools
    assert kept.config.default_min_score == 0.35


def test_threshold_of_another_users_agent_is_neither_kept_nor_shown(
    alice: Browser, bob: Browser, console: Console
) -> None:
    agent, tool = tool_of(alice, new_catalog(alice))

    for other in (f"{agent}/{tool}", agent, "", "a/b/c"):
        answer = bob.post("/ask/threshold", tool=other, threshold="0.1")
        assert answer.status_code == 404
    assert agent not in bob.ask(QUESTION, threshold="0.1").text
    [kept] = console.services.agents.get("alice", agent).linked_tools
    assert kept.config.default_min_score != 0.1


def test_each_passage_has_the_ranks_that_explain_its_place() -> None:
    found = (
        result("one", ranks=Ranks(by_meaning=1, by_words=12, found=40)),
        result("two", ranks=Ranks(by_meaning=23, by_words=None, found=40)),
        result("three", is_navigation=True),
    )
    answer = replace(NOTHING, results=found)

    page = shown(QUESTION, AskedAndAnswered(passages=answer), {}, NO_MAPS)
    reranked = shown(
        QUESTION, AskedAndAnswered(passages=replace(answer, is_reranked=True)), {}, NO_MAPS
    )
    by_date = shown(QUESTION, AskedAndAnswered(passages=answer), {}, NO_MAPS, by_date=True)

    assert [each.why for each in page.others] == [
        "Rank 1 in the search: rank 1 by meaning and rank 12 by words, of 40 found.",
        "Rank 2 in the search: rank 23 by meaning, of 40 found. It has none of the question's"
        " words.",
        "Rank 3 in the search. A table of contents or an index comes last.",
    ]
    assert "by meaning and by the question's words together" in page.order
    assert reranked.others[0].why == "Rank 1 in the search."
    assert "A model read the question" in reranked.order
    assert (by_date.others[0].why, by_date.order) == ("", "")


def test_scores_that_make_no_order_stand_with_the_places_by_meaning() -> None:
    found = (
        result("one", score=0.3, ranks=Ranks(by_meaning=2, by_words=1, found=40)),
        result("two", score=0.512, ranks=Ranks(by_meaning=1, by_words=None, found=40)),
    )

    page = shown(QUESTION, AskedAndAnswered(passages=replace(NOTHING, results=found)), {}, NO_MAPS)

    assert [(each.score, each.why) for each in page.others] == [
        (
            "",
            "Rank 1 in the search: rank 2 by meaning and rank 1 by words, of 40 found. Score 0.30.",
        ),
        (
            "",
            "Rank 2 in the search: rank 1 by meaning, of 40 found. It has none of the question's"
            " words. Score 0.51.",
        ),
    ]
    assert page.range_of_scores.startswith("Scores are 0.30 to 0.51;")


def test_weak_passages_are_shown_with_a_sentence_that_says_so(
    alice: Browser, console: Console
) -> None:
    def page(relevance: Relevance) -> str:
        found = replace(NOTHING, results=(result("one"),), relevance=relevance)
        unanswered = "No answer found in your documents."
        asked = AskedAndAnswered(passages=found, unanswered=unanswered)
        console.services.answering = Mock(search_and_ask=Mock(return_value=asked))
        return read(alice.ask("Which tram?").text)

    weak, strong = page(Relevance.WEAK), page(Relevance.STRONG)

    for each in (weak, strong):
        assert "No answer found in your documents." in each
        assert "Closest passages" in each
    assert "These passages may not answer your question." in weak
    assert "may not answer" not in strong


def test_a_long_passage_is_folded_to_the_sentence_with_the_questions_words() -> None:
    other = "The canteen opens at seven, and it closes at three in the afternoon. " * 8
    text = f"{other}\n{LEAVE} {other}"

    [long, short] = citations_of(
        QUESTION,
        [
            FoundPassage(sources=(SOURCE,), text=text, score=0.5),
            FoundPassage(sources=(SOURCE,), text=LEAVE, score=0.4),
        ],
        {},
        NO_MAPS,
        anchors="step-1",
    )

    assert "".join(each.text for each in long.heart) == LEAVE
    whole = (*long.before, *long.heart, *long.after)
    assert "".join(each.text for each in whole) == text
    assert [each.text for each in long.heart if each.is_marked] == ["Annual", "leave"]
    assert (long.is_folded, short.is_folded) == (True, False)
    assert (long.anchor, long.label) == ("step-1-1", "leave.pdf, pages 4 to 5")


def test_cited_passage_is_folded_to_the_sentence_the_answer_used() -> None:
    other = "The annual report has the days of leave in it, and who took annual leave. " * 5
    said, early = "Everybody may stay home for 31 days.", "Whoever asks early gets the dates."
    cited = [
        CitedSource(source=SOURCE, chunk_text=f"{other}{each} {other}", relevance_score=0.5)
        for each in (said, early)
    ]
    text = f"Extracted: {said} [1] Ask early for dates [2][1]."
    answer = CatalogAnswer(text=text, sources=tuple(cited), guardrail_action="NONE")

    page = shown(QUESTION, AskedAndAnswered(passages=NOTHING, answer=answer), {}, NO_MAPS)

    hearts = ["".join(piece.text for piece in each.heart).strip() for each in page.cited]
    assert hearts == [said, early]


def test_passage_tells_the_gaps_of_its_document_cited_or_not() -> None:
    gaps = ("1 of 2 pages looks garbled: 2",)
    cited = (CitedSource(source=SOURCE, chunk_text=LEAVE, relevance_score=0.5, gaps=gaps),)
    answer = CatalogAnswer(text="Thirty. [1]", sources=cited, guardrail_action="NONE")
    found = replace(NOTHING, results=(result("Other.", gaps=gaps), result("Whole.")))

    page = shown(QUESTION, AskedAndAnswered(passages=found, answer=answer), {}, NO_MAPS)

    told = "with gaps: 1 of 2 pages looks garbled: 2"
    assert [each.gaps for each in (*page.cited, *page.others)] == [told, told, ""]


def test_a_sentence_of_a_pdf_goes_on_where_its_page_ended_a_line() -> None:
    wrapped = "Grease the rope every 250 hours, and look at it by eye\nalong its length.\nBolts"
    table = "Department of the harbour, and head  4,200,000\nIT, and its head  1,250,000"
    polish = "Smaruj linę co 250 godzin, a potem sprawdź jej\nłączenia."
    listed = "These are greased every week, in the order of this list:\nrope\nchain"
    text = "\n".join((wrapped, table, polish, listed))
    of_text = replace(SOURCE, filename="leave.txt")

    pdf, txt = citations_of(
        "",
        [FoundPassage(sources=(each,), text=text, score=0.5) for each in (SOURCE, of_text)],
        {},
        NO_MAPS,
    )

    joined = text.replace("\nalong", " along").replace("\nł", " ł")
    assert _text_of(pdf) == joined
    assert _text_of(txt) == text


def _text_of(cited: Citation) -> str:
    return "".join(each.text for each in (*cited.before, *cited.heart, *cited.after))


def test_pdf_citation_opens_at_the_page_of_the_cited_sentence() -> None:
    told = "The canteen opens at seven, and it closes at three in the afternoon. " * 8
    place_map = text_of([Page(4, told), Page(5, f"{LEAVE} Ask early.")], "handbook.pdf").places
    text = f"{told}\n{LEAVE} Ask early."

    def opened(question: str, source: Source, maps: OnlyPlaces) -> str:
        found = FoundPassage(sources=(source,), text=text, score=0.5)
        [cited] = citations_of(question, [found], {"cat-1": CATALOG}, maps)
        return (cited.stands[0].pdf_href or "none of ours").rpartition("/")[2]

    ids: Any = {"catalog_id": "cat-1", "document_id": "doc-1", "text_id": "0123456789abcdef"}
    source, maps = replace(SOURCE, **ids), OnlyPlaces(place_map)
    assert opened(QUESTION, source, maps) == "file#page=5"
    assert opened("When does the canteen open?", source, maps) == "file#page=4"
    # What was uploaded in its place since has the sentence elsewhere.
    newer = text_of([Page(1, LEAVE), Page(2, told)], "handbook.pdf").places
    assert opened(QUESTION, source, OnlyPlaces(newer)) == "file#page=4"
    assert opened(QUESTION, source, NO_MAPS) == "file#page=4"


def test_place_map_of_another_user_is_not_read() -> None:
    source = replace(SOURCE, catalog_id="cat-2", document_id="doc-2")
    found = FoundPassage(sources=(source,), text=LEAVE, score=0.5)
    maps = Mock(spec=["get"])

    [cited] = citations_of(QUESTION, [found], {"cat-1": CATALOG}, maps)

    assert cited.stands[0].href is None
    assert maps.mock_calls == []


def test_feedback_form_redirects_only_to_the_ask_page(alice: Browser) -> None:
    """Whatever a form beside the answer says, it leads to the page Ask and nowhere else."""
    for asked in ("q=Why&x=%0d%0aSet-Cookie:1", "https://evil.test", "q=Why&most=99", "=&&"):
        answer = alice.post("/ask/feedback", question=QUESTION, verdict="up", asked=asked)

        location = answer.headers.get("location", "/ask?")
        assert location.startswith("/ask?")
        assert "evil" not in location
        assert "Set-Cookie" not in unescape(location)
