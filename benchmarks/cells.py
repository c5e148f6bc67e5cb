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
from benchmarks.serving import measure, print_machine
from benchmarks.simulated_time.bill import LOGGED, METRIC, PRICES
from benchmarks.simulated_time.queues import IDLE_REQUESTS
from docs.store_prices import CHUNK, TITAN
from stackroom.catalogs.sending import FORM_SECONDS

_EXPONENTS = (0.8, 1.0)
_MONTH = 30 * 86_400.0
# What stands in the templates (`make synth`), and is billed while nobody does anything. CloudWatch:
# $0.10 for each metric of an alarm and $3 a dashboard each month,
# https://aws.amazon.com/cloudwatch/pricing/; a secret $0.40,
# https://aws.amazon.com/secrets-manager/pricing/ (both November 2026).
_ALARMS, _ALARM_METRICS, _ALARM, _DASHBOARD, _SECRET = 19, 45, 0.10, 3.00, 0.40
_QUEUES = 3  # that functions poll
# Sweeps and rounds of the reconciler, each traced: memory in GB times seconds, assumed.
_SWEEPS, _OF_SWEEP = _MONTH / 300, 0.5 * 0.2
_ROUNDS, _OF_ROUND = _MONTH / 900, 0.5 * 2.0
# That they count whether anything happens or not: RunsFollowed, OldestWaitSeconds, ParkedRuns,
# Grants, ReconcilerFindings, SearchIndexesNotReady.
_METRICS = 6
_BYTES, _TEXT_SHARE = 50_000, 0.2  # of a document; of its bytes that are text (admission/demand.py)
_BYTES_A_TOKEN = 4
_TOKENS_A_CHUNK, _NEW_TOKENS = 300, 240  # 20 % were said before
# S3 Vectors, a GB written: aws.amazon.com/s3/pricing, by caylent.com. Between Regions, a GB sent:
# https://aws.amazon.com/s3/pricing/ (us-east-1 to most others).
_WRITTEN_GB, _SENT_GB = 0.20, 0.02
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
    polling = IDLE_REQUESTS * _QUEUES * _MONTH * PRICES["sqs requests"]
    each = PRICES["lambda requests"] + PRICES["traces"] + PRICES["log bytes"] * LOGGED
    compute = PRICES["lambda GB-s"] * (_SWEEPS * _OF_SWEEP + _ROUNDS * _OF_ROUND)
    sweeps = (_SWEEPS + _ROUNDS) * each + compute
    watching = _ALARM_METRICS * _ALARM + _DASHBOARD + _METRICS * METRIC
    print(
        f"\n== a cell that nobody uses, a month: ${polling + sweeps + watching + _SECRET:.2f}"
        f" (polling ${polling:.2f}, sweeps and rounds ${sweeps:.2f}, {_ALARMS} alarms of"
        f" {_ALARM_METRICS} metrics, a dashboard and {_METRICS} metrics of ours ${watching:.2f},"
        f" a secret ${_SECRET:.2f})"
    )


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
    tokens = _THOUSAND * _BYTES * _TEXT_SHARE / _BYTES_A_TOKEN
    tokens *= _TOKENS_A_CHUNK / _NEW_TOKENS
    vectors = tokens / _TOKENS_A_CHUNK * (CHUNK.text + CHUNK.attributes + CHUNK.vector(1_024))
    copies = move.copied * PRICES["s3 puts"]
    rows = [
        ("copies (PUT)", copies * share),
        ("registered and ingested", (new.total - copies) * share),
        ("  of that writes", new.dollars("dynamodb writes") * share),
        ("  of that transitions", new.dollars("transitions") * share),
        ("embedding", tokens * TITAN.dollars / 1e6),
        ("vectors written", vectors / 1e9 * _WRITTEN_GB),
        ("deleted in the old cell", old.total * share),
    ]
    print(f"\ndollars for {_THOUSAND:,} documents of {_BYTES // 1_000} KB")
    for what, dollars in rows:
        print(f"{what:28}{dollars:10.5f}")
    total = sum(dollars for what, dollars in rows if not what.startswith(" "))
    print(f"{'altogether':28}{total:10.5f}")
    sent = _THOUSAND * _BYTES / 1e9 * _SENT_GB
    print(f"{'to another Region, besides':28}{sent:10.5f}")


if __name__ == "__main__":
    measure(main)
