"""A knowledge base that more is asked of than it takes: who waits, and who is sent away."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable, Unavailable
from stackroom.model.passages import Retrieved
from stackroom.search.wrappers import PATIENCE, Paced, TokenBucket


@dataclass
class Store:
    """A knowledge base that fails as told, one by one, and then answers."""

    fails: list[Unavailable | None] = field(default_factory=list)
    asked: int = 0

    def retrieve(self, *_: object, **__: object) -> Retrieved:
        self.asked += 1
        if self.fails and (error := self.fails.pop(0)) is not None:
            raise error
        return Retrieved(passages=())


class World:
    def __init__(self, *fails: Unavailable | None, repeats_failures: bool = False) -> None:
        self.passed, self.store = 0.0, Store(list(fails))
        bucket = TokenBucket("Retrieve", 20, elapsed=lambda: self.passed, sleep=self.sleep)
        self.paced = Paced(self.store, bucket, repeats_failures=repeats_failures)

    def sleep(self, seconds: float) -> None:
        self.passed += seconds

    def ask(self, deadline: Deadline = NO_DEADLINE) -> Retrieved:
        return self.paced.retrieve("how much leave?", None, 5, deadline=deadline)


def throttle() -> KnowledgeBaseThrottled:
    return KnowledgeBaseThrottled("Retrieve")


def failure() -> KnowledgeBaseUnavailable:
    return KnowledgeBaseUnavailable("Retrieve", "InternalServerException")


def test_a_seconds_worth_is_asked_at_once_and_the_rest_at_the_rate() -> None:
    world = World()

    waits = []
    for _ in range(40):
        world.ask()
        waits.append(world.passed)

    expected = [0.0] * 20 + [number / 20 for number in range(1, 21)]
    assert waits == pytest.approx(expected)


def test_throttled_search_is_retried_and_answered() -> None:
    world = World(throttle(), throttle())

    world.ask()

    assert world.store.asked == 3
    assert 0 < world.passed <= PATIENCE


def test_question_that_would_wait_too_long_is_sent_away_unasked() -> None:
    world = World()
    for _ in range(20):
        world.ask()

    with pytest.raises(KnowledgeBaseThrottled) as refused:
        world.ask(Deadline.after(0))

    assert world.store.asked == 20
    assert world.passed == pytest.approx(0.0)
    assert refused.value.retry_after is not None
    assert refused.value.retry_after >= PATIENCE
    assert str(refused.value).endswith(f"try again in {refused.value.retry_after} seconds")


def test_persistent_throttling_is_reported_within_the_patience() -> None:
    world = World(*(throttle() for _ in range(999)))

    with pytest.raises(KnowledgeBaseThrottled) as refused:
        world.ask()

    assert world.store.asked > 1
    assert refused.value.retry_after is not None
    assert world.passed <= PATIENCE


def test_a_refusal_from_further_down_is_the_answer() -> None:
    sent_away = KnowledgeBaseThrottled("Retrieve", retry_after=4)
    world = World(sent_away)

    with pytest.raises(KnowledgeBaseThrottled) as refused:
        world.ask()

    assert refused.value is sent_away
    assert world.store.asked == 1


@pytest.mark.parametrize(
    ("repeats", "fails", "asked"),
    [(True, [failure, failure], 2), (False, [failure], 1), (True, [throttle, failure, failure], 3)],
)
def test_other_failures_are_retried_once_only_if_the_store_does_not(
    repeats: bool, fails: list[Callable[[], Unavailable]], asked: int
) -> None:
    world = World(*(each() for each in fails), repeats_failures=repeats)

    with pytest.raises(KnowledgeBaseUnavailable, match="InternalServerException"):
        world.ask()

    assert world.store.asked == asked
