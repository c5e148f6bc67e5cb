"""Tenants over several cells, and the move of one between two."""

import pytest

from benchmarks.cell_loads import LOADS, Capacity, Load, capacity, per_cell, spread, weights
from benchmarks.moving import Move, Moving, Phase


def moved(kind: type[Moving] = Moving) -> Move:
    return kind(documents=40, drops=0.1, askers=4, seed=1).run()


class Hasty(Moving):
    """Switches questions before the new cell has indexed what it was given."""

    def _wait_until_indexed(self) -> None:
        self.hub.sleep(1)


def test_a_move_loses_nothing_and_nobody_finds_a_document_twice_or_no_more() -> None:
    move = moved()

    assert (move.lost, move.twice, move.missed, move.left) == (0, 0, 0, 0)
    assert move.copied >= 40
    assert min(move.dropped, move.deleted, move.questions) > 0
    assert list(move.phases) == list(Phase)[1:]


def test_a_move_that_does_not_wait_is_seen_by_those_who_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("benchmarks.moving._POLICY", 1.0)

    assert moved(Hasty).missed > 0


def test_a_cell_ends_with_what_its_load_has_more_of() -> None:
    cell = Capacity(questions=20.0, uploads=10.0)
    curious = Load(name="curious", questions=4.0, uploads=1.0)
    busy = Load(name="busy", questions=1.0, uploads=1.0)

    assert cell.ends_with(curious) == "questions"
    assert cell.ends_with(busy) == "uploads"
    assert cell.users(curious) == pytest.approx(0.7 * 20 / (4 * 4 / 86_400))
    assert cell.users(busy) == pytest.approx(0.7 * 10 / (1 * 4 / 86_400))


def test_bedrocks_limits_are_those_of_the_simulator() -> None:
    cell = capacity(seed=1)

    assert cell.questions == 20
    assert 5 < cell.uploads < 10  # ten calls of ten documents, each some thirteen seconds
    assert all(cell.users(load) > 1_000 for load in LOADS)


def test_all_activity_is_somewhere_and_the_emptiest_cell_takes_the_busiest_tenant() -> None:
    parts = weights(1_000, 1.0)

    by_hash, by_table = (per_cell(parts, 10, by_table=each, seed=1) for each in (0, 100))

    assert parts.sum() == pytest.approx(1)
    assert by_hash.sum() == by_table.sum() == pytest.approx(1)
    assert by_table.max() < by_hash.max()


def test_so_many_cells_hold_it_and_one_fewer_does_not() -> None:
    parts = weights(10_000, 0.8)
    found = spread(parts, 6.6, by_table=0, seed=1)

    assert found.cells is not None
    assert per_cell(parts, found.cells, by_table=0, seed=1).max() * 6.6 <= 1
    assert per_cell(parts, found.cells - 1, by_table=0, seed=1).max() * 6.6 > 1
