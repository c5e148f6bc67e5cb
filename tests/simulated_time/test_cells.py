"""Tenants over several cells, and the move of one between two."""

from benchmarks.cell_loads import LOADS, capacity, per_cell, spread, weights
from benchmarks.moving import Move, Moving, Phase


def moved(kind: type[Moving] = Moving) -> Move:
    return kind(documents=40, drops=0.1, askers=4, seed=1).run()


def test_a_move_loses_nothing_and_nobody_finds_a_document_twice_or_no_more() -> None:
    move = moved()

    assert (move.lost, move.twice, move.missed, move.left) == (0, 0, 0, 0)
    assert move.copied >= 40
    assert min(move.dropped, move.deleted, move.questions) > 0
    assert list(move.phases) == list(Phase)[1:]


def test_bedrocks_limits_are_those_of_the_simulator() -> None:
    cell = capacity(seed=1)

    assert cell.questions == 20
    assert 5 < cell.uploads < 10  # ten calls of ten documents, each some thirteen seconds
    assert all(cell.users(load) > 1_000 for load in LOADS)


def test_so_many_cells_hold_it_and_one_fewer_does_not() -> None:
    parts = weights(10_000, 0.8)
    found = spread(parts, 6.6, by_table=0, seed=1)

    assert found.cells is not None
    assert per_cell(parts, found.cells, by_table=0, seed=1).max() * 6.6 <= 1
    assert per_cell(parts, found.cells - 1, by_table=0, seed=1).max() * 6.6 > 1
