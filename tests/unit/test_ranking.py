"""The order of what was found, its scores, and how near the best of it is."""

from typing import Any

import pytest

from stackroom.model.passages import Passage, Search
from stackroom.search.ranking import Ranking, Relevance, ranked, relevance_of
from stackroom.search.replies import Reply


def passage(text: str, similarity: float | None = None, **given: Any) -> Passage:
    return Passage(text=text, **{"score": 0.0, "similarity": similarity, **given})


def reply(*passages: Passage) -> Reply:
    return Reply(
        target="KB1",
        passages=passages,
        withheld=(),
        guardrail_action="NONE",
        search=Search.HYBRID,
        is_reranked=False,
        notice=None,
    )


def weigh(*replies: Reply) -> Ranking:
    return ranked("pump greased", replies)


def texts(evidence: Ranking) -> list[str]:
    return [each.text for each in evidence.passages]


def relevance(question: str, *found: Passage) -> Relevance | None:
    return relevance_of(question, found)


def test_relevance_is_none_without_passages_else_strong_or_weak() -> None:
    assert relevance("pump greased") is None
    assert relevance("pump greased", passage("the pump is greased", 0.1)) is Relevance.STRONG
    assert relevance("pump greased", passage("night", 0.9)) is Relevance.WEAK


def test_passages_that_lack_the_question_s_names_are_weak() -> None:
    found = passage("Net sales and their change over time were as follows.")

    assert relevance("How did net sales change over time?", found) is Relevance.STRONG
    assert relevance("How did net sales of Apple change in 2023?", found) is Relevance.WEAK


def test_a_file_name_title_or_attribute_has_the_names_of_a_question_too() -> None:
    question, text = "How did net sales of Apple change in 2023?", "Net sales did change."
    named = passage(text, attributes={"filename": "AAPL 2023.pdf"}, title_words="apple inc")
    attributed = passage(text, attributes={"company": ["Apple"], "year": 2023})

    assert relevance(question, named) is relevance(question, attributed) is Relevance.STRONG


def report(filename: str, text: str = "Operating expenses and revenue of the quarter") -> Passage:
    return passage(text, uri=f"s3://d/{filename}", attributes={"filename": filename})


QUARTERS = [report("2023 Q3 AMZN.pdf"), report("2022 Q3 AMZN.pdf"), report("2023 Q1 INTC.pdf")]


def test_passages_of_another_document_than_the_named_one_are_weak() -> None:
    question = "How did operating expenses of AMZN compare to revenue in Q1 2023?"
    named = report("2023 Q1 AMZN.pdf")

    assert relevance(question, *QUARTERS) is Relevance.WEAK
    assert relevance(question, *QUARTERS, named) is Relevance.STRONG


def test_report_that_nobody_has_is_named_by_its_year_and_quarter_together() -> None:
    found = [report("2023 Q1 ACME.txt"), report("2022 Q2 ACME.txt"), report("2022 Q3 ACME.txt")]

    assert relevance("Operating expenses of ACME in Q1 2022?", *found) is Relevance.WEAK
    assert relevance("Operating expenses of ACME in Q1 2023?", *found) is Relevance.STRONG
    assert relevance("Operating expenses of ACME in Q1 and Q2?", *found) is Relevance.STRONG


def test_passage_that_has_the_named_year_and_quarter_in_its_text_is_strong() -> None:
    question = "How did operating expenses of AMZN compare to revenue in Q1 2023?"
    comparing = report("2022 Q3 AMZN.pdf", "AMZN: operating expenses, revenue, Q1 2023 and before")

    assert relevance(question, *QUARTERS, comparing) is Relevance.STRONG


@pytest.mark.parametrize(
    "question",
    [
        "Operating expenses of AMZN in Q1 2023 and Q3 2022?",
        "Operating expenses and revenue of INTC and AMZN in 2023?",
        "Operating expenses and revenue of AMZN?",
    ],
)
def test_question_about_several_documents_or_none_is_strong(question: str) -> None:
    assert relevance(question, *QUARTERS) is Relevance.STRONG


def test_words_raise_a_passage_but_not_above_a_much_nearer_one() -> None:
    near = reply(passage("night", 0.9), passage("pump greased", 0.85), passage("hall", 0.2))
    far = reply(passage("night", 0.9), passage("pump greased", 0.1), passage("hall", 0.1))

    assert texts(weigh(near)) == ["pump greased", "night", "hall"]
    assert texts(weigh(far)) == ["night", "pump greased", "hall"]


def test_words_side_by_side_raise_a_passage_above_scattered_ones() -> None:
    scattered = passage("Whoever greased it last should switch the pump on.", 0.7)
    found = reply(scattered, passage("The pump is greased.", 0.69), passage("hall", 0.1))

    assert texts(weigh(found))[0] == "The pump is greased."


def test_year_of_an_upload_names_no_document() -> None:
    old = passage("net sales", 0.5, uri="s3://d/1", attributes={"uploaded_at": "2025-03-01T08:00Z"})
    new = passage("net sales", 0.6, uri="s3://d/2", attributes={"uploaded_at": "2026-03-01T08:00Z"})

    found = ranked("net sales in 2025", [reply(old, new, passage("hall", 0.1))]).passages

    assert [each.uri for each in found[:2]] == ["s3://d/2", "s3://d/1"]


def test_passages_of_the_document_that_a_question_names_come_first() -> None:
    found = reply(
        passage("net sales", 0.60, uri="s3://d/1", attributes={"filename": "2022_Q3_AMZN.pdf"}),
        passage("net sales", 0.59, uri="s3://d/2", attributes={"filename": "2022_Q3_MSFT.pdf"}),
        passage("net sales", 0.58, uri="s3://d/3", title_words="apple inc form"),
        passage("other", 0.2, uri="s3://d/4"),
    )

    first = [
        ranked(question, [found]).passages[0].uri
        for question in ("net sales", "net sales of MSFT", "Apple's net sales", "Q3 2022 net sales")
    ]

    assert first == ["s3://d/1", "s3://d/2", "s3://d/3", "s3://d/1"]


def test_word_in_the_opening_of_one_of_few_documents_names_none() -> None:
    answer = passage("Sparse vectorizers produce a matrix.", 0.9, uri="s3://d/1")
    other = passage("Ask in the channel.", 0.8, uri="s3://d/2", title_words="format of questions")
    found = reply(answer, other, passage("hall", 0.1, uri="s3://d/1"))

    first = ranked("What format do sparse vectorizers produce?", [found]).passages[0]

    assert first.uri == "s3://d/1"


def test_relevance_from_a_reranking_model_sets_score_and_order() -> None:
    first = reply(passage("a", 0.9, relevance=0.2), passage("b", 0.8, relevance=0.1))
    second = reply(passage("pump greased", 0.1, relevance=0.7))

    evidence = weigh(first, second)

    assert [(each.text, each.score) for each in evidence.passages] == [
        ("pump greased", 0.7),
        ("a", 0.2),
        ("b", 0.1),
    ]
