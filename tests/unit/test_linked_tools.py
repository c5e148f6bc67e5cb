"""A linked tool's request for its user, and its answer to a model."""

from typing import Any

import pytest

from stackroom.access.identity import Caller
from stackroom.model.passages import Passage
from stackroom.model.records import CatalogStatus
from tests.support.linked_tools import KnowledgeBases
from tests.support.records import NOW

GONE = {
    "success": False,
    "error": True,
    "message": "Knowledge base not found. It may have been deleted.",
}


@pytest.fixture
def bases() -> KnowledgeBases:
    return KnowledgeBases()


def test_the_answer_is_as_the_contract_has_it(bases: KnowledgeBases) -> None:
    bases.pool.put(
        "Leave is 30 days.", filename="leave.pdf", page=4, score=0.9, attributes={"year": 2026}
    )

    answer = bases.ask({"query": "leave"})

    [result] = answer.pop("results")
    assert answer == {
        "success": True,
        "query": "leave",
        "knowledgeBaseName": "Plans",
        "resultCount": 1,
        "summary": "Found 1 relevant chunks (0 omitted due to size)",
        "metadata": {"totalTokensUsed": 5, "cached": False},
    }
    source = result.pop("source")
    assert result == {
        "rank": 1,
        "content": "Leave is 30 days.",
        "chunkIndex": None,
        "similarity": 0.9,
        "metadata": {"year": 2026},
    }
    assert (source["filename"], source["page"]) == ("leave.pdf", 4)
    assert (source["document_id"], source["catalog_id"]) == ("doc-leave.pdf", "cat-1")


@pytest.mark.parametrize(
    ("config", "given", "shown"),
    [
        ({}, {}, [0.7, 0.5]),
        ({}, {"minScore": 0.7}, [0.7, 0.5]),
        ({}, {"minScore": "many"}, [0.7, 0.5]),
        ({}, {"minScore": 0.6}, [0.7]),
        ({"default_min_score": 0.6}, {}, [0.7]),
        ({"default_min_score": 0.4}, {"minScore": 0.7}, [0.7]),
    ],
    ids=["nobody's", "the schema's", "no number", "the model's", "the user's", "both"],
)
def test_passages_are_left_out_only_by_a_min_score_that_was_set(
    bases: KnowledgeBases, config: dict[str, Any], given: dict[str, Any], shown: list[float]
) -> None:
    for score in (0.7, 0.5):
        bases.pool.put(f"leave {score}", filename=f"{score}.txt", score=score)

    answer = bases.ask({"query": "leave", **given}, **{"default_min_score": 0.7, **config})

    assert [each["similarity"] for each in answer["results"]] == shown


@pytest.mark.parametrize(
    ("given", "count", "told"),
    [
        ({"topK": 50}, 20, "topK was 50; allowed: 1 to 20; 20 was used"),
        ({"topK": "many"}, 5, "topK was not a number; allowed: 1 to 20; the default was used"),
        ({"topK": True}, 5, "topK was not a number; allowed: 1 to 20; the default was used"),
        (
            {"minScore": float("nan")},
            5,
            "minScore was not a number; allowed: 0 to 1; the default was used",
        ),
        ({"minScore": 1.20804989337921143}, 0, "minScore was 1.21; allowed: 0 to 1; 1 was used"),
    ],
)
def test_numbers_beyond_the_limits_are_clamped_and_reported(
    bases: KnowledgeBases, given: dict[str, Any], count: int, told: str
) -> None:
    for number in range(30):
        bases.pool.put(f"leave {number}", filename=f"{number}.txt", score=0.5)

    answer = bases.ask({"query": "leave", **given})

    assert answer["resultCount"] == count
    assert answer["metadata"]["notices"] == [told]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "query: Field required"),
        ({"query": "  "}, "query: is empty"),
        ("leave", "the arguments are a text; send a JSON object"),
        ({"query": "leave", "user_id": "bob"}, "user_id: no such argument. Allowed: query, topK"),
    ],
)
def test_invalid_question_is_reported_to_the_model(
    bases: KnowledgeBases, given: object, problem: str
) -> None:
    answer = bases.ask(given)

    assert (answer["success"], answer["error"]) == (False, True)
    assert answer["message"].startswith(problem)
    assert bases.pool.filters == []


def test_missing_deleted_or_foreign_catalog_is_reported_in_same_words(
    bases: KnowledgeBases,
) -> None:
    bases.pool.put("leave", user_id="bob", catalog_id="cat-2", score=0.9)

    never, anothers = bases.ask({"query": "leave"}, "cat-9"), bases.ask({"query": "x"}, "cat-2")
    bases.catalogs.mark_deleting("cat-1", at=NOW)
    going = bases.ask({"query": "leave"})

    assert bases.catalogs.kept["cat-1"].status is CatalogStatus.DELETING
    assert [never, anothers, going] == [GONE, GONE, GONE]
    assert bases.pool.filters == []


def hold(bases: KnowledgeBases, text: str, score: float, *groups: str) -> None:
    passage = Passage(
        text=text, score=score, uri=f"s3://x/{text}", attributes={"allowed_groups": list(groups)}
    )
    bases.handbook.passages.append(passage)


def test_shared_base_is_searched_for_the_callers_groups_only(bases: KnowledgeBases) -> None:
    hold(bases, "leave for all of hr", 0.9, "hr")
    hold(bases, "leave of the board", 0.8, "board")

    hr = bases.ask({"query": "leave"}, "HANDBOOK01", Caller("alice", ("hr",)))
    nobody = bases.ask({"query": "leave"}, "HANDBOOK01", Caller("alice"))

    assert [each["content"] for each in hr["results"]] == ["leave for all of hr"]
    assert nobody["results"] == []


def test_every_call_leaves_a_line_without_its_text(bases: KnowledgeBases) -> None:
    bases.pool.put("Leave is 30 days.", filename="leave.pdf", score=0.9)
    hold(bases, "leave for all", 0.9, "hr")

    bases.ask({"query": "leave"})
    bases.ask({"query": "secret"}, "cat-9")
    bases.ask({"question": "secret"})
    bases.ask({"query": "leave"}, "HANDBOOK01", Caller("alice", ("hr",)))

    assert [each.outcome for each in bases.lines] == [
        "success",
        "KnowledgeBaseNotFound",
        "ValidationError",
        "success",
    ]
    assert bases.lines[0].document_ids == ("doc-leave.pdf",)
    # Nobody but Stackroom's own pool knows our ids.
    assert bases.lines[3].document_ids == ("s3://x/leave%20for%20all",)
    catalogs = [each.catalog_id for each in bases.lines]
    assert catalogs == ["cat-1", "cat-9", "cat-1", "HANDBOOK01"]
    assert "secret" not in str(bases.lines)


def test_withheld_and_missing_parts_of_an_answer_are_told_to_the_model(
    bases: KnowledgeBases, monkeypatch: pytest.MonkeyPatch
) -> None:
    bases.pool.put("leave", score=0.9)
    bases.pool.guardrail_action = "INTERVENED"

    notices = bases.ask({"query": "leave"})["metadata"]["notices"]

    assert notices == ["a guardrail intervened; withheld content is not shown"]
