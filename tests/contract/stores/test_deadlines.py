"""Until when somebody waits: what is late costs no answer of others, and begins nothing more."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from stackroom.deadlines import Deadline
from stackroom.errors import KnowledgeBaseUnavailable, RetrievalFailed
from stackroom.filters import Has
from stackroom.ports.retrieval import KnowledgeBase
from stackroom.retrieval.asking import ask_all
from stackroom.retrieval.scope import Query, Scope
from stackroom.tenancy import Tenant
from tests.contract.stores.shelves import QUESTION
from tests.contract.stores.table import each, each_in
from tests.contract.stores.test_isolation import CATALOGS
from tests.contract.stores.worlds import Trouble, World
from tests.fakes.knowledge_base import FakeKnowledgeBase

ALICE = Has("user_id", "alice")
SHORT = 0.2  # seconds: of nothing that is asked here more than one call can have begun by then
MORE_THAN_AT_ONCE = 24  # ask_all asks twenty


def scope_of(*targets: str) -> Scope:
    queries = tuple(Query(target=target, view=Tenant("alice")) for target in targets)
    return Scope(queries=queries, catalog_of=CATALOGS.get)


# The fake answers whenever it is asked: tests of who waits want late answers of it.
@each(lambda store: store.is_process and not store.is_variant)
def test_a_deadline_that_is_far_changes_nothing_and_behind_one_nothing_is_called(
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
def test_what_answers_behind_the_deadline_is_asked_for_no_more(
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


@each_in(Trouble.LATE)
def test_what_is_late_costs_no_answer_of_the_others(
    world: World, docs: KnowledgeBase, trouble: Trouble
) -> None:
    well = FakeKnowledgeBase()
    well.put("The annual leave of alice is long", user_id="alice", catalog_id="cat-1")

    with world.in_trouble(trouble):
        replies = ask_all(
            scope_of("late", "well"),
            "who is late for leave",
            pool={"late": docs, "well": well},
            conditions=(),
            limits={"late": 5, "well": 5},
            deadline=Deadline.after(SHORT),
        )
        told_while_late = dict(replies.failures)

    assert [reply.target for reply in replies.given] == ["well"]
    assert list(told_while_late) == ["late"]


@each_in(Trouble.LATE)
def test_what_was_to_be_asked_and_is_given_up_never_is(
    world: World, docs: KnowledgeBase, trouble: Trouble
) -> None:
    docs.retrieve(QUESTION, ALICE, 5)
    targets = [f"the same {number}" for number in range(MORE_THAN_AT_ONCE)]
    before = world.calls

    with world.in_trouble(trouble), pytest.raises(RetrievalFailed):
        ask_all(
            scope_of(*targets),
            QUESTION,
            pool=dict.fromkeys(targets, docs),
            conditions=(),
            limits=dict.fromkeys(targets, 5),
            deadline=Deadline.after(SHORT),
        )
    wait_for_threads()

    assert world.calls - before < MORE_THAN_AT_ONCE


def wait_for_threads() -> None:
    """Of the pools that have been given up."""
    for thread in threading.enumerate():
        if thread.name.startswith("ThreadPoolExecutor"):
            thread.join()
