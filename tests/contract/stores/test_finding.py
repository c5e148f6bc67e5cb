"""Search results: their order, scores, and statements about their source."""

import pytest

from stackroom.access.tenancy import Tenant
from stackroom.model.filters import Has
from stackroom.model.passages import KnowledgeBase
from tests.contract.stores.document_sets import CROWD, DOCS, HIDDEN, QUESTION
from tests.contract.stores.meaning import cosine
from tests.contract.stores.table import ALL, each, no_variant
from tests.contract.stores.worlds import Ranks, Store

CLOSE = 2e-3  # of a cosine: stores keep vectors in single precision, and some in less


@ALL
def test_without_a_filter_everything_is_found_with_its_attributes(docs: KnowledgeBase) -> None:
    found = docs.retrieve(QUESTION, None, 100).passages

    kept = {each.text: each.attributes for each in found}
    assert sorted(each.text for each in found) == sorted(each.text for each in DOCS.documents)
    for document in DOCS.documents:
        shown = kept[document.text]
        assert {key: shown.get(key) for key in document.attributes} == document.attributes


def test_search_of_an_empty_store_finds_nothing(bare: KnowledgeBase) -> None:
    retrieved = bare.retrieve(QUESTION, None, 10)

    assert retrieved.passages == ()
    assert retrieved.notice is None


@ALL
def test_passages_come_best_first_up_to_the_limit_with_their_source(
    docs: KnowledgeBase,
) -> None:
    retrieved = docs.retrieve("annual leave in rome.txt", Tenant("alice").filter(), 2)

    best = retrieved.passages[0]
    assert len(retrieved.passages) == 2
    assert best.score == max(passage.score for passage in retrieved.passages)
    assert best.text == "The annual leave of alice as rome.txt has it"
    assert best.uri == "s3://docs/alice/cat-1/rome.txt"
    assert best.custom_id is None
    assert best.attributes["document_id"] == "doc-rome.txt"
    assert retrieved.guardrail_action == "NONE"
    assert retrieved.notice is None


@each(lambda store: store.score_of is not None)
def test_scores_are_the_cosines_by_the_stores_documented_distance(
    docs: KnowledgeBase, store: Store
) -> None:
    assert store.score_of is not None, "the test is for stores that score by meaning"
    found = docs.retrieve(QUESTION, None, 100).passages

    for passage in found:
        expected = cosine(QUESTION, passage.text, dimensions=store.dimensions)
        assert passage.similarity == pytest.approx(expected, abs=CLOSE)
        assert passage.score == pytest.approx(store.score_of(expected), abs=CLOSE)


@each(lambda store: no_variant(store) and store.ranks is Ranks.BY_MEANING)
def test_the_nearest_by_meaning_come_first(crowd: KnowledgeBase, store: Store) -> None:
    nearness = {
        document.text: cosine(QUESTION, document.text, dimensions=store.dimensions)
        for document in CROWD.documents
    }
    best = sorted(nearness.values(), reverse=True)

    found = [nearness[passage.text] for passage in crowd.retrieve(QUESTION, None, 20).passages]

    assert found == pytest.approx(best[:20], abs=CLOSE)


def test_one_match_is_found_behind_a_hundred_that_are_nearer(crowd: KnowledgeBase) -> None:
    found = crowd.retrieve(QUESTION, Has("city", "Oslo"), 1).passages

    assert [passage.text for passage in found] == [HIDDEN.text]


def test_requested_number_is_found_without_repeats_and_fewer_are_the_best(
    crowd: KnowledgeBase,
) -> None:
    rome = Has("city", "Rome")

    few, many = (crowd.retrieve(QUESTION, rome, limit).passages for limit in (5, 100))

    assert len({passage.text for passage in many}) == len(many) == 100
    assert len({passage.text for passage in few}) == len(few) == 5
    assert [each.score for each in few] == pytest.approx(
        [each.score for each in many[:5]], abs=CLOSE
    )


QUESTIONS = {
    "a letter": "x",
    "a mark": "?",
    "an emoji": "🙂",
    "stop words": "the of and is",
    "Japanese": "年次休暇は何日ですか",
    "many words": ("annual leave " * 77)[:1000],
    "operators": 'leave" OR 1=1 -- \\ NEAR(a b) {x}: *^',
    "a null byte": "null\x00byte",
}


@ALL
def test_any_question_finds_only_the_callers_and_scores_up_to_one(
    docs: KnowledgeBase,
) -> None:
    for name, question in QUESTIONS.items():
        retrieved = docs.retrieve(question, Tenant("alice", "cat-1").filter(), 10)

        owners = {passage.attributes["catalog_id"] for passage in retrieved.passages}
        assert owners <= {"cat-1"}, name
        assert all(0 <= passage.score <= 1 for passage in retrieved.passages), name
        assert retrieved.notice is None, name
