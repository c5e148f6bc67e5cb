"""How `stackroom reconcile` sums up what it found."""

from io import StringIO

from rich.console import Console

from stackroom.reconciler.discrepancies import Discrepancy, Kind, Outcome
from stackroom_cli import run_reconciler


def test_failed_comparison_is_not_a_discrepancy() -> None:
    out = StringIO()
    found = [
        Discrepancy(kind=kind, what="any", remedy="any", outcome=Outcome.FAILED)
        for kind in (Kind.STALE_RECORD, Kind.NOT_COMPARED)
    ]

    run_reconciler._sum_up(Console(file=out, width=200), found, dry_run=False)

    assert out.getvalue() == (
        "found 1 discrepancy; 1 failed (see above); 1 could not be compared (see above)\n"
    )
    assert list(run_reconciler._bad(found, dry_run=False)) == [
        "1 of 1 could not be repaired",
        "1 could not be compared",
    ]
