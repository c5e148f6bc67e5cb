"""
A million users: what a cell (an account in a Region) serves, how many it takes, a tenant's move.

    make bench-cells        within two minutes

Loads and peaks are assumed and printed; what a cell takes follows from Bedrock's limits. The move
runs in simulated time, the product's own code in both cells. docs/scaling.md, "Beyond one account",
says what follows.
"""

import argparse
from collections.abc import Sequence

from benchmarks.cell_loads import (
    FILLED,
    LOADS,
    PEAK,
    PLACED_BY_TABLE,
    USERS,
    Capacity,
    Spread,
    capacity,
    spread,
    weights,
)
from benchmarks.moving import ROUTE_KEPT, Move, Moving
from benchmarks.observation import percentile
from benchmarks.running_costs import (
    DOCUMENT_BYTES,
    embedding,
    idle,
    templates_of,
    vectors_written,
)
from benchmarks.serving import measure, print_machine
from benchmarks.simulated_time.bill import PRICES
from stackroom.catalogs.transfers import FORM_SECONDS
from stackroom_local import synthesis

_EXPONENTS = (0.8, 1.0)
_SENT_GB = 0.02  # between Regions: https://aws.amazon.com/s3/pricing/ (us-east-1 to most others)
_THOUSAND = 1_000


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench-cells", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args(arguments).seed
    print_machine()
    cell = capacity(seed)
    show_capacity(cell)
    show_spread(cell, seed)
    show_idle()
    asleep = Moving(documents=500, drops=0, askers=0, seed=seed).run()
    print(f"\n== the move of a tenant that sleeps, {asleep.documents} documents")
    show_move(asleep)
    show_costs(asleep)
    busy = Moving(documents=250, drops=0.25, askers=5, seed=seed).run()
    print("\n== the move of a tenant that drops a file each 4 s and asks a question each 0.6 s")
    show_move(busy)


def show_capacity(cell: Capacity) -> None:
    print(
        f"\n== a cell takes {cell.questions:.0f} questions and {cell.uploads:.1f} documents a"
        f" second;\n   the busiest minutes have {PEAK:.0f} times a day's mean,"
        f" and are planned to {FILLED:.0%} of that"
    )
    for load in LOADS:
        users = cell.users(load)
        print(
            f"{load.name:8}{load.questions:5.1f} questions and {load.uploads:4.2f} uploads a day:"
            f" {users:12,.0f} users a cell, which ends with {cell.ends_with(load)}"
        )


def show_spread(cell: Capacity, seed: int) -> None:
    print(f"\n== cells for {USERS:,} users, each a tenant, busy by Zipf's law")
    print(
        f"{'':8}{'exponent':>9}{'evenly':>8}   {'by hash':<34}"
        f"the {PLACED_BY_TABLE:,} busiest placed by table"
    )
    for load in LOADS:
        demand = USERS / cell.users(load)
        for exponent in _EXPONENTS:
            parts = weights(USERS, exponent)
            told = [
                spread(parts, demand, by_table=by_table, seed=seed)
                for by_table in (0, PLACED_BY_TABLE)
            ]
            by_hash, by_table = map(_told, told)
            print(f"{load.name:8}{exponent:9.1f}{demand:8.1f}   {by_hash:<34}{by_table}")


def _told(found: Spread) -> str:
    if found.cells is None and found.largest_tenant > 1:
        return f"one tenant alone takes {found.largest_tenant:.1f}"
    if found.cells is None:
        return "more than are tried"
    return f"{found.cells} cells, busiest {found.busiest:.2f} x mean"


def show_idle() -> None:
    items = idle(templates_of(synthesis.assembly()))
    told = ", ".join(f"{each.what} ${each.dollars:.2f}" for each in items)
    total = sum(each.dollars for each in items)
    print(f"\n== a cell that nobody uses, a month: ${total:.2f} ({told})")


def show_move(move: Move) -> None:
    for phase, seconds in move.phases.items():
        print(f"{phase.value:24}{seconds:10,.0f} s")
    print(f"{'altogether':24}{move.took:10,.0f} s")
    print(
        f"copied {move.copied:,}, of them {move.late:,} after questions were switched;"
        f" dropped meanwhile {move.dropped:,}, deleted {move.deleted:,},"
        f" questions {move.questions:,}"
    )
    print(
        f"lost {move.lost}, found twice {move.twice}, found once and then no more {move.missed},"
        f" left in the old cell {move.left}"
    )
    for what, waits in (("before", move.waits_before), ("during", move.waits_during)):
        if waits:
            p50, p99 = (percentile(waits, each) for each in (0.5, 0.99))
            print(f"from a drop to an answer {what} the move: p50 {p50:.1f} s, p99 {p99:.1f} s")
    print(
        f"(forms live {FORM_SECONDS} s, routes {ROUTE_KEPT:.0f} s: questions are in the new cell"
        " while the move waits for them)"
    )


def show_costs(move: Move) -> None:
    """Of a thousand documents; nobody did anything else meanwhile."""
    old, new = move.bills
    share = _THOUSAND / move.documents
    copies = move.copied * PRICES["s3 puts"]
    rows = [
        ("copies (PUT)", copies * share),
        ("registered and ingested", (new.total - copies) * share),
        ("  of that writes", new.dollars("dynamodb writes") * share),
        ("  of that transitions", new.dollars("transitions") * share),
        ("embedding", embedding(_THOUSAND)),
        ("vectors written", vectors_written(_THOUSAND)),
        ("deleted in the old cell", old.total * share),
    ]
    print(f"\ndollars for {_THOUSAND:,} documents of {DOCUMENT_BYTES // 1_000} KB")
    for what, dollars in rows:
        print(f"{what:28}{dollars:10.5f}")
    total = sum(dollars for what, dollars in rows if not what.startswith(" "))
    print(f"{'altogether':28}{total:10.5f}")
    sent = _THOUSAND * DOCUMENT_BYTES / 1e9 * _SENT_GB
    print(f"{'to another Region, besides':28}{sent:10.5f}")


if __name__ == "__main__":
    measure(main)
