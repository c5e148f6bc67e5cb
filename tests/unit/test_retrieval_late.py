"""What a store keeps that answers too late: so many threads, and never more."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field

import pytest

from stackroom.deadlines import Deadline
from stackroom.errors import RetrievalFailed
from stackroom.ports.retrieval import Retrieved
from stackroom.retrieval.asking import Replies, ask_all
from stackroom.retrieval.late import LateQueries
from stackroom.retrieval.scope import Query, Scope
from stackroom.tenancy import Everyone

MOST = 20


@dataclass
class Stuck:
    """A `KnowledgeBase` that answers nobody, until it is `over`."""

    over: threading.Event = field(default_factory=threading.Event)
    asked: int = 0

    def retrieve(self, *_: object, **__: object) -> Retrieved:
        self.asked += 1
        self.over.wait()
        return Retrieved(passages=())


@pytest.fixture
def stuck() -> Iterator[Stuck]:
    made = Stuck()
    yield made
    made.over.set()


def ask(knowledge_base: Stuck, seconds: float) -> Replies:
    return ask_all(
        Scope(queries=(Query(target="kb", view=Everyone()),), catalog_of=lambda _: None),
        "is there leave?",
        pool={"kb": knowledge_base},
        conditions=(),
        limits={"kb": 5},
        deadline=Deadline.after(seconds),
    )


def test_a_hundred_late_questions_keep_no_hundred_threads_and_are_told_why(stuck: Stuck) -> None:
    for _ in range(100):
        with pytest.raises(RetrievalFailed) as raised:
            ask(stuck, 0.01)

    assert stuck.asked == MOST  # each waits in a thread of its own
    assert "nothing to the questions before this one" in raised.value.failures["kb"]


def test_now_and_then_one_tries_and_if_it_is_answered_all_may() -> None:
    moment = [0.0]
    knowledge_base, late = Stuck(), LateQueries(now=lambda: moment[0])
    under_way = [Future[object]() for _ in range(MOST)]
    for each in under_way:
        late.add(knowledge_base, each)

    assert not late.may_ask(knowledge_base)
    assert late.may_ask(Stuck())
    moment[0] = 30.0
    assert [late.may_ask(knowledge_base) for _ in range(2)] == [True, False]
    late.answered(knowledge_base)
    assert all(late.may_ask(knowledge_base) for _ in range(2))

    # What was under way before is over, and doesn't count against those that are late from now on.
    others = [Future[object]() for _ in range(MOST)]
    for each in others:
        late.add(knowledge_base, each)
    for each in under_way:
        each.set_result(None)
    assert not late.may_ask(knowledge_base)
    others[0].set_result(None)
    assert late.may_ask(knowledge_base)
