"""A store in trouble: told by the two errors that callers know, and over when it is over."""

import pytest

from stackroom.errors import (
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    SearchRefused,
    Unavailable,
)
from stackroom.filters import Has
from stackroom.ports.retrieval import KnowledgeBase
from tests.contract.stores.table import each_in
from tests.contract.stores.worlds import Trouble, World

ALICE = Has("user_id", "alice")
# What no repetition mends may be told as that, too.
UNMENDED = {Trouble.EXPIRED, Trouble.WRONG_DIMENSION}
UNANSWERED = set(Trouble) - UNMENDED - {Trouble.THROTTLED, Trouble.FOREIGN}


@each_in(Trouble.THROTTLED)
def test_a_throttle_is_told_as_one(world: World, docs: KnowledgeBase, trouble: Trouble) -> None:
    with world.in_trouble(trouble), pytest.raises(KnowledgeBaseThrottled):
        docs.retrieve("leave in a hurry", ALICE, 5)


@each_in(*sorted(UNANSWERED))
def test_what_is_no_answer_is_told_as_unavailable(
    world: World, docs: KnowledgeBase, trouble: Trouble
) -> None:
    with world.in_trouble(trouble), pytest.raises(KnowledgeBaseUnavailable):
        docs.retrieve(f"leave with {trouble}", ALICE, 5)


@each_in(*sorted(UNMENDED))
def test_what_no_repetition_mends_is_told(
    world: World, docs: KnowledgeBase, trouble: Trouble
) -> None:
    with world.in_trouble(trouble), pytest.raises((KnowledgeBaseUnavailable, SearchRefused)):
        docs.retrieve(f"leave with {trouble}", ALICE, 5)


@each_in(*sorted(set(Trouble) - {Trouble.LATE}))
def test_no_trouble_tells_the_question(
    world: World, docs: KnowledgeBase, trouble: Trouble, caplog: pytest.LogCaptureFixture
) -> None:
    question = f"leave of the spymaster with {trouble}"

    with world.in_trouble(trouble):
        told = failure_of(docs, question)

    assert "spymaster" not in f"{told} {told.__cause__ if told else ''} {caplog.text}"


@each_in(*sorted(set(Trouble)))
def test_when_it_is_over_the_same_adapter_answers(
    world: World, docs: KnowledgeBase, trouble: Trouble
) -> None:
    with world.in_trouble(trouble):
        failure_of(docs, f"leave while {trouble}")
    after = docs.retrieve(f"leave while {trouble}", ALICE, 5)

    assert {each.attributes["user_id"] for each in after.passages} == {"alice"}
    assert len(after.passages) == 3
    assert after.notice is None


def failure_of(knowledge_base: KnowledgeBase, question: str) -> SearchRefused | Unavailable | None:
    try:
        knowledge_base.retrieve(question, ALICE, 5)
    except (SearchRefused, Unavailable) as error:
        return error
    return None
