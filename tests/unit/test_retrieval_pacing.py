"""A knowledge base that more is asked of than it takes: whose turn it is, and who is sent away."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pytest

from stackroom.clock import Deadline
from stackroom.documents.filters import Has
from stackroom.documents.passages import Retrieved
from stackroom.errors import (
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    ServiceRefused,
    StoreUnavailable,
    Unavailable,
)
from stackroom.search.cached_embeddings import asked_by
from stackroom.search.rate_limiter import (
    PATIENCE,
    Clocks,
    Paced,
    Share,
    TurnRate,
    Turns,
    TurnTaking,
    digest_of,
    is_calm,
    throttled,
    turn_of,
)
from tests.fakes.turns import FakeTurnBook

RATE = TurnRate(per_second=20)
NOW = 1_000_000.0
EMPTY = Turns(at=NOW, free=0.0)
FULL = Turns(at=NOW, free=20.0)


def test_tenant_without_recent_questions_gets_the_last_free_turn() -> None:
    turn = turn_of(replace(FULL, free=1.0), "a", rate=RATE, now=NOW, is_waiting=False, longest=2.0)

    assert turn.wait == 0
    assert turn.turns.free == 0
    assert turn.turns.shares == {"a": Share(lately=1.0)}


def test_only_tenant_gets_the_whole_rate() -> None:
    assert served({"a": 100.0})["a"] == pytest.approx(20 * 60, rel=0.05)


def test_tenants_over_the_rate_get_equal_shares_however_much_they_ask() -> None:
    got = served({"a": 200.0, "b": 30.0, "c": 2.0})

    assert got["c"] == pytest.approx(2 * 60, rel=0.2)
    assert got["a"] == pytest.approx(got["b"], rel=0.2)
    assert sum(got.values()) == pytest.approx(20 * 60, rel=0.05)


def served(tries: dict[str, float], *, seconds: float = 60.0) -> Counter[str]:
    """Of those who try so often a second and never wait, what each had after the first minute."""
    chance = random.Random(1)
    moments = sorted(
        (NOW + chance.uniform(0, 60 + seconds), asker)
        for asker, rate in tries.items()
        for _ in range(round(rate * (60 + seconds)))
    )
    turns, got = EMPTY, Counter[str]()
    for moment, asker in moments:
        turn = turn_of(turns, asker, rate=RATE, now=moment, is_waiting=False, longest=0.0)
        turns = turn.turns
        if turn.wait <= 0 and moment > NOW + 60:
            got[asker] += 1
    return got


def test_newcomer_does_not_pass_waiting_requests_of_the_same_tenant() -> None:
    waits = turn_of(EMPTY, "a", rate=RATE, now=NOW, is_waiting=False, longest=2.0)
    later = replace(waits.turns, free=5.0)

    other = turn_of(later, "b", rate=RATE, now=NOW, is_waiting=False, longest=2.0)
    same = turn_of(later, "a", rate=RATE, now=NOW, is_waiting=False, longest=2.0)

    assert other.wait == 0
    assert same.wait > 0


def test_aws_knows_better_whether_anything_is_free() -> None:
    seen = throttled(FULL, rate=RATE, now=NOW)

    assert seen.free == 0
    assert not is_calm(seen, rate=RATE, now=NOW + 9)
    assert is_calm(seen, rate=RATE, now=NOW + 11)


def test_pacing_is_not_calm_while_someone_waits_or_half_the_rate_is_used() -> None:
    waits = replace(FULL, shares={"a": Share(lately=1.0, due=NOW + 1)})
    busy = replace(FULL, shares={"a": Share(lately=30.0), "b": Share(lately=25.0)})

    assert not is_calm(waits, rate=RATE, now=NOW)
    assert is_calm(waits, rate=RATE, now=NOW + 2)
    assert not is_calm(busy, rate=RATE, now=NOW)
    assert is_calm(busy, rate=RATE, now=NOW + 2)


def test_no_user_id_stands_in_the_ledger() -> None:
    assert "alice" not in digest_of("alice")
    assert digest_of("alice") != digest_of("bob")
    assert digest_of(None) == digest_of("")


FILTER = Has("user_id", "alice")
START = 1_000_000.0


@dataclass
class Time:
    passed: float = 0.0
    pauses: list[float] = field(default_factory=list)

    def clocks(self) -> Clocks:
        return Clocks(
            elapsed=lambda: self.passed, since_1970=lambda: START + self.passed, sleep=self.sleep
        )

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.passed += seconds


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
        self.time, self.book, self.store = Time(), FakeTurnBook(), Store(list(fails))
        taking = TurnTaking(
            operation="Retrieve",
            rate=TurnRate(per_second=20),
            book=self.book,
            clocks=self.time.clocks(),
        )
        self.paced = Paced(self.store, taking, repeats_failures=repeats_failures)

    def ask(self, user: str = "alice", *, deadline: Deadline | None = None) -> Retrieved:
        with asked_by(user):
            if deadline is None:
                return self.paced.retrieve("how much leave?", FILTER, 5)
            return self.paced.retrieve("how much leave?", FILTER, 5, deadline=deadline)

    def flooded_by(self, user: str) -> None:
        """So that whoever of theirs comes anew has three seconds before them."""
        share = Share(lately=100.0, due=START + self.time.passed + 3)
        self.book.turns = Turns(at=START + self.time.passed, shares={digest_of(user): share})


def throttle() -> KnowledgeBaseThrottled:
    return KnowledgeBaseThrottled("Retrieve")


def test_ledger_is_read_once_and_never_written_while_calm() -> None:
    world = World()

    for _ in range(5):
        world.ask()

    assert world.store.asked == 5
    assert world.book.calls == ["read"]
    assert world.time.pauses == []


def test_throttled_question_waits_for_its_turn_and_is_answered() -> None:
    world = World(None, throttle(), throttle())
    world.ask()

    world.ask()

    assert world.store.asked == 4
    assert 0.1 <= world.time.passed <= PATIENCE  # a twentieth of a second for each throttle
    assert world.book.turns.shares.keys() == {digest_of("alice")}


def test_a_process_goes_on_taking_turns_until_all_is_calm() -> None:
    world = World(throttle())
    world.ask()
    world.book.calls.clear()
    world.time.passed += 1

    world.ask()
    turns = world.book.calls.copy()
    world.time.passed += 60
    for _ in range(3):
        world.ask()

    assert turns == ["read", "write"]
    assert world.book.calls[2:] == ["read"]


def test_request_that_would_wait_too_long_is_throttled_before_searching() -> None:
    world = World()
    world.flooded_by("alice")

    with pytest.raises(KnowledgeBaseThrottled) as refused:
        world.ask()

    assert refused.value.retry_after is not None
    assert 3 <= refused.value.retry_after <= 6
    assert str(refused.value).endswith(f"try again in {refused.value.retry_after} seconds")
    assert (world.store.asked, world.time.pauses, world.book.calls) == (0, [], ["read"])


def test_flood_of_one_tenant_does_not_delay_another() -> None:
    world = World()
    world.flooded_by("mallory")
    world.time.passed = 0.1  # two turns later

    world.ask("alice")

    assert world.store.asked == 1
    assert world.time.pauses == []


@pytest.mark.parametrize("without_ledger", [None, StoreUnavailable("GetItem", "RequestTimeout")])
def test_persistent_throttling_is_reported_within_the_patience(
    without_ledger: Exception | None,
) -> None:
    world = World(*(throttle() for _ in range(999)))
    world.book.failure = without_ledger

    with pytest.raises(KnowledgeBaseThrottled) as refused:
        world.ask()

    assert world.store.asked > 1
    assert refused.value.retry_after is not None
    assert refused.value.retry_after >= 1
    assert world.time.passed <= PATIENCE


@pytest.mark.parametrize(
    "failure",
    [StoreUnavailable("GetItem", "RequestTimeout"), ServiceRefused("GetItem", "AccessDenied")],
)
def test_questions_are_still_asked_without_the_ledger(
    failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    world = World(None, throttle())
    world.book.failure = failure

    for _ in range(4):
        world.ask()

    assert world.store.asked == 5
    assert world.book.calls == ["read"]  # and not again for some seconds
    assert "questions are asked without turns: GetItem answered" in caplog.text


def test_two_who_write_at_once_both_have_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(throttle())
    world.ask()
    intrusions = intruding(world)
    monkeypatch.setattr(world.book, "read", lambda: next(intrusions))

    world.ask()

    assert set(world.book.turns.shares) == {digest_of("alice"), "other"}
    assert world.book.turns.shares[digest_of("alice")].lately > 1.9


def intruding(world: World) -> Iterator[Turns]:
    """What is read; after the first time somebody else writes."""
    seen = world.book.turns
    yield seen
    shares = {**world.book.turns.shares, "other": Share(lately=1.0)}
    world.book.turns = Turns(
        version=seen.version + 7, at=seen.at, throttled_at=seen.at, free=20.0, shares=shares
    )
    while True:
        yield world.book.turns


def test_a_refusal_from_further_down_is_the_answer() -> None:
    sent_away = KnowledgeBaseThrottled("Retrieve", retry_after=4)
    world = World(sent_away)

    with pytest.raises(KnowledgeBaseThrottled) as refused:
        world.ask()

    assert refused.value is sent_away
    assert world.store.asked == 1


def failure() -> KnowledgeBaseUnavailable:
    return KnowledgeBaseUnavailable("Retrieve", "InternalServerException")


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
