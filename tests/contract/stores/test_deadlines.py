"""Until when somebody waits: what is late costs no answer of others, and begins nothing more."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from stackroom.clock import Deadline
from stackroom.errors import KnowledgeBaseUnavailable
from stackroom.model.filters import Has
from stackroom.model.passages import KnowledgeBase
from tests.contract.stores.document_sets import QUESTION
from tests.contract.stores.table import each, each_in
from tests.contract.stores.worlds import Trouble, World

ALICE = Has("user_id", "alice")
SHORT = 0.2  # seconds: of nothing that is asked here more than one call can have begun by then


# The fake answers whenever it is asked: tests of who waits want late answers of it.
@each(lambda store: store.is_process and not store.is_variant)
def test_distant_deadline_changes_nothing_and_passed_one_calls_nothing(
    world: World, docs: KnowledgeBase
) -> None:
    by_then = docs.retrieve(QUESTION, ALICE, 5, deadline=Deadline.after(3600))
    whenever = docs.retrieve(QUESTION, ALICE, 5)
    before = world.calls

    with pytest.raises(KnowledgeBaseUnavailable, match="DeadlinePassed"):
        docs.retrieve("is there leave after the deadline", ALICE, 5, deadline=Deadline.after(0))

    assert by_then == whenever
    assert world.calls == before


@each_in(Trouble.LATE)
def test_no_call_is_made_after_the_deadline(
    world: World, docs: KnowledgeBase, trouble: Trouble
) -> None:
    docs.retrieve(QUESTION, ALICE, 5)
    before = world.calls

    with ThreadPoolExecutor(1) as thread:
        with world.in_trouble(trouble):
            deadline = Deadline.after(SHORT)
            asked = thread.submit(
                docs.retrieve, "is there leave by then", ALICE, 100, deadline=deadline
            )
            time.sleep(deadline.left())
        # It may answer with what one call has told; or say that there was no time for the next.
        with suppress(KnowledgeBaseUnavailable):
            asked.result()

    assert world.calls - before <= 1
