"""Whose question is asked next: the rules over the ledger of turns, with no clock but these."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from stackroom.ports.turns import Share, Turns
from stackroom.retrieval.turns import Rate, digest_of, is_calm, throttled, turn_of

RATE = Rate(per_second=20)
NOW = 1_000_000.0
EMPTY = Turns(at=NOW, free=0.0)
FULL = Turns(at=NOW, free=20.0)


def test_one_who_asked_nothing_lately_takes_the_last_that_is_free() -> None:
    turn = turn_of(replace(FULL, free=1.0), "a", rate=RATE, now=NOW, is_waiting=False, longest=2.0)

    assert turn.wait == 0
    assert turn.turns.free == 0
    assert turn.turns.shares == {"a": Share(lately=1.0)}


def test_one_who_is_alone_gets_the_whole_rate() -> None:
    assert served({"a": 100.0})["a"] == pytest.approx(20 * 60, rel=0.05)


def test_those_who_want_more_than_there_is_get_equal_parts_whatever_they_try() -> None:
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


def test_whoever_comes_anew_does_not_pass_those_of_the_same_tenant_who_wait() -> None:
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


def test_it_is_not_calm_while_somebody_waits_or_half_of_the_rate_is_asked_for() -> None:
    waits = replace(FULL, shares={"a": Share(lately=1.0, due=NOW + 1)})
    busy = replace(FULL, shares={"a": Share(lately=30.0), "b": Share(lately=25.0)})

    assert not is_calm(waits, rate=RATE, now=NOW)
    assert is_calm(waits, rate=RATE, now=NOW + 2)
    assert not is_calm(busy, rate=RATE, now=NOW)
    assert is_calm(busy, rate=RATE, now=NOW + 2)


def test_a_clock_that_is_behind_gives_nothing_back() -> None:
    turn = turn_of(
        replace(FULL, free=5.0), "a", rate=RATE, now=NOW - 30, is_waiting=False, longest=2.0
    )

    assert (turn.turns.at, turn.turns.free) == (NOW, 4.0)


def test_no_user_id_stands_in_the_ledger() -> None:
    assert "alice" not in digest_of("alice")
    assert digest_of("alice") != digest_of("bob")
    assert digest_of(None) == digest_of("")
