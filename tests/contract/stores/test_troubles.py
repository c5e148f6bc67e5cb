"""A store in trouble: told by the errors that callers know, and over when it is over."""

import pytest

from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable, SearchRefused
from stackroom.model.filters import Has
from stackroom.model.passages import KnowledgeBase
from tests.contract.stores.table import each_in
from tests.contract.stores.worlds import Trouble, World

ALICE = Has("user_id", "alice")
TOLD_AS: dict[Trouble, type[Exception] | tuple[type[Exception], ...]] = {
    Trouble.THROTTLED: KnowledgeBaseThrottled,
    Trouble.DOWN: KnowledgeBaseUnavailable,
    # What no repetition mends may be told as that, too.
    Trouble.EXPIRED: (KnowledgeBaseUnavailable, SearchRefused),
    Trouble.NOT_JSON: KnowledgeBaseUnavailable,
    Trouble.EMPTY: KnowledgeBaseUnavailable,
}


@each_in(*TOLD_AS)
def test_store_trouble_is_logged_without_the_question_and_then_ends(
    world: World, docs: KnowledgeBase, trouble: Trouble, caplog: pytest.LogCaptureFixture
) -> None:
    with world.in_trouble(trouble), pytest.raises(TOLD_AS[trouble]) as told:
        docs.retrieve(f"leave of the spymaster with {trouble}", ALICE, 5)
    after = docs.retrieve("leave", ALICE, 5)

    assert "spymaster" not in f"{told.value} {told.value.__cause__} {caplog.text}"
    assert [each.attributes["user_id"] for each in after.passages] == ["alice"] * 3
    assert after.notice is None
