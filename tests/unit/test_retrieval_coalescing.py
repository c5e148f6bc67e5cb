"""Equal questions under way at once: asked once, and never across who asks."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from stackroom.deadlines import NO_DEADLINE, Deadline
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom.filters import Filter, Has
from stackroom.identity import Caller
from stackroom.ports.retrieval import Passage, Retrieved
from stackroom.retrieval.arguments import RetrieveArguments
from stackroom.retrieval.coalescing import Coalesced
from stackroom.retrieval.embeddings import asked_by
from stackroom.retrieval.search import Retrieval
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.fakes.pipeline import FakeCatalogs
from tests.fakes.place_maps import FakePlaceMaps

ALICE = Has("user_id", "alice")
TOLD = Retrieved(passages=(Passage(text="thirty days", score=1.0),))


class Held:
    """A knowledge base that answers when it is let; `asked` is told of each question."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.let = threading.Event()
        self.asked = threading.Semaphore(0)
        self.count = 0
        self.failure = failure

    def retrieve(self, *_: object, **__: object) -> Retrieved:
        self.count += 1
        failure = self.failure
        self.asked.release()
        assert self.let.wait(10)
        if failure is not None:
            raise failure
        return TOLD


def asking(
    threads: ThreadPoolExecutor,
    knowledge_base: Any,
    asker: str | None = "alice",
    condition: Filter | None = ALICE,
    *,
    query: str = "how much leave?",
    limit: int = 5,
    deadline: Deadline = NO_DEADLINE,
) -> "Future[Retrieved]":
    def ask() -> Retrieved:
        with asked_by(asker):
            found: Retrieved = knowledge_base.retrieve(query, condition, limit, deadline=deadline)
            return found

    return threads.submit(ask)


def test_what_is_being_asked_is_asked_once_and_afterwards_anew() -> None:
    held = Held()
    knowledge_base = Coalesced(held)
    waiting = Waiting(knowledge_base)
    with ThreadPoolExecutor(3) as threads:
        first = asking(threads, knowledge_base)
        assert held.asked.acquire(timeout=10)
        others = [asking(threads, knowledge_base) for _ in range(2)]
        waiting.until(2)
        held.let.set()

    assert [each.result() for each in (first, *others)] == [TOLD] * 3
    assert held.count == 1
    with asked_by("alice"):
        knowledge_base.retrieve("how much leave?", ALICE, 5)
    assert held.count == 2


class Waiting:
    """Counts who waits for another's answer."""

    def __init__(self, knowledge_base: Coalesced) -> None:
        self._arrived = threading.Semaphore(0)
        arrived = self._arrived

        class Told(dict[Any, Any]):
            def setdefault(self, key: Any, default: Any = None) -> Any:
                found = super().setdefault(key, default)
                if found is not default:
                    arrived.release()
                return found

        object.__setattr__(knowledge_base, "_under_way", Told())

    def until(self, count: int) -> None:
        for _ in range(count):
            assert self._arrived.acquire(timeout=10)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"asker": "bob"}),
        ({"asker": None}, {"asker": None}),
        ({}, {"condition": Has("user_id", "bob")}),
        ({}, {"condition": None}),
        ({"condition": Has("level", 1)}, {"condition": Has("level", True)}),  # equal to Python
        ({}, {"query": "How much leave?"}),
        ({}, {"limit": 6}),
    ],
)
def test_nobody_gets_the_answer_to_another_question_or_to_who_does_not_say_who_asks(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    held = Held()
    knowledge_base = Coalesced(held)
    with ThreadPoolExecutor(2) as threads:
        asking(threads, knowledge_base, **one)
        asking(threads, knowledge_base, **other)
        both = [held.asked.acquire(timeout=10) for _ in range(2)]
        held.let.set()

    assert both == [True, True]


def test_a_failure_is_not_shared_for_the_reason_may_be_the_others() -> None:
    held = Held(failure=KnowledgeBaseThrottled("Retrieve", retry_after=3))
    knowledge_base = Coalesced(held)
    waiting = Waiting(knowledge_base)
    with ThreadPoolExecutor(2) as threads:
        first = asking(threads, knowledge_base)
        assert held.asked.acquire(timeout=10)
        second = asking(threads, knowledge_base)
        waiting.until(1)
        held.failure = None
        held.let.set()

    assert isinstance(first.exception(), KnowledgeBaseThrottled)
    assert second.result() == TOLD


def test_who_waits_for_anothers_answer_waits_to_their_own_deadline() -> None:
    held = Held()
    knowledge_base = Coalesced(held)
    with ThreadPoolExecutor(2) as threads:
        asking(threads, knowledge_base)
        assert held.asked.acquire(timeout=10)
        late = asking(threads, knowledge_base, deadline=Deadline.after(0.01))
        error = late.exception(timeout=10)
        held.let.set()

    assert isinstance(error, KnowledgeBaseUnavailable)
    assert held.count == 1


def test_while_one_tenant_floods_another_gets_their_own_answers_and_nothing_else() -> None:
    """The attack: everybody asks the same at once, over and over, of one process."""
    store = FakeKnowledgeBase(delay=0.002)
    for user in ("alice", "mallory"):
        store.put(f"The code of the safe is {user}'s.", user_id=user, catalog_id=f"cat-{user}")
    retrieval = Retrieval(
        pool={"KB1": Coalesced(store)}, catalogs=FakeCatalogs(), place_maps=FakePlaceMaps()
    )
    askers = (["mallory"] * 9 + ["alice"]) * 30

    def ask(user: str) -> tuple[str, list[str]]:
        question = RetrieveArguments(query="What is the code of the safe?")
        answer = retrieval.search(question, Caller(user))
        return user, [result.content for result in answer.results]

    with ThreadPoolExecutor(20) as threads:
        answers = list(threads.map(ask, askers))

    assert len(answers) == 300
    assert len(store.filters) < 300  # some were shared, or nothing was proven
    for user, told in answers:
        assert told == [f"The code of the safe is {user}'s."]
