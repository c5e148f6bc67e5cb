"""A store in trouble: told by the two errors that callers know, and over when it is over."""

import pytest

from stackroom.errors import (
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    SearchRefused,
    Unavailable,
)
from stackroom.model.filters import Has
from stackroom.model.passages import KnowledgeBase
from tests.contract.stores.table import each_in
from tests.contract.stores.worlds import Trouble, World

ALICE = Has("user_id", "alice")
# What no repetition mends may be told as that, too.
UNMENDED = {Trouble.EXPIRED, Trouble.WRONG_DIMENSION}
TOLD_AS: dict[Trouble, tuple[type, ...]] = {
    **dict.fromkeys(Trouble, (KnowledgeBaseUnavailable,)),
    **dict.fromkeys(UNMENDED, (KnowledgeBaseUnavailable, SearchRefused)),
    Trouble.THROTTLED: (KnowledgeBaseThrottled,),
    # The filter's loss is nothing that the store would tell of: test_isolation.py.
    Trouble.FOREIGN: (type(None), KnowledgeBaseUnavailable),
}


@each_in(*Trouble)
def test_store_trouble_is_logged_without_the_question_and_then_ends(
    world: World, docs: KnowledgeBase, trouble: Trouble, caplog: pytest.LogCaptureFixture
) -> None:
    question = f"leave of the spymaster with {trouble}"

    with world.in_trouble(trouble):
        told = failure_of(docs, question)
    after = docs.retrieve(question, ALICE, 5)

    assert isinstance(told, TOLD_AS[trouble])
    assert "spymaster" not in f"{told} {told.__cause__ if told else ''} {caplog.text}"
    assert [each.attributes["user_id"] for each in after.passages] == ["alice"] * 3
    assert after.notice is None


def failure_of(knowledge_base: KnowledgeBase, question: str) -> SearchRefused | Unavailable | None:
    try:
        knowledge_base.retrieve(question, ALICE, 5)
    except (SearchRefused, Unavailable) as error:
        return error
    return None
