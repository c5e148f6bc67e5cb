"""`stackroom reconcile` while services fail: what was cut off is compared anew."""

from collections.abc import Iterator
from io import StringIO

import pytest
from rich.console import Console

from stackroom.errors import StoreUnavailable
from stackroom.reconciler.audit_rounds import (
    AuditStage,
    MemoryBookmark,
    Reconciliation,
    Rounds,
)
from stackroom.reconciler.audited import Piece
from stackroom.reconciler.discrepancies import Discrepancy, Kind, Outcome
from stackroom_cli import run_reconciler


class Disturbed:
    """An audit of three pieces, each of which fails so many times before it is compared."""

    def __init__(self, failures: int) -> None:
        self.failures = [failures] * 3

    def step(self, cursor: str | None) -> Piece:
        piece = int(cursor or 0)
        if self.failures[piece]:
            self.failures[piece] -= 1
            raise StoreUnavailable("Scan", "InternalServerError")
        yield Discrepancy(
            kind=Kind.STALE_RECORD,
            what=f"piece {piece}",
            remedy="mended",
            outcome=Outcome.MENDED,
        )
        return str(piece + 1) if piece < 2 else None


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_reconciler, "_pause", lambda _failures: None)


def found_with(failures: int, out: StringIO) -> Iterator[str]:
    bookmark = MemoryBookmark()
    audits = {stage: Disturbed(failures) for stage in AuditStage}
    reconciliation = Reconciliation(
        audits=audits,
        between=[],
        bookmark=bookmark,
        rounds=Rounds(kept=MemoryBookmark()),
    )
    found = run_reconciler._to_the_end(reconciliation, bookmark, Console(file=out))
    return (each.what for each in found)


def test_every_piece_is_compared_once_however_often_calls_fail_meanwhile() -> None:
    out = StringIO()

    found = list(found_with(run_reconciler._TRIES - 1, out))

    assert found == [f"piece {piece}" for _ in AuditStage for piece in range(3)]
    assert "retrying" in out.getvalue()


def test_persistent_outage_ends_the_reconciliation_with_its_error() -> None:
    with pytest.raises(StoreUnavailable):
        list(found_with(run_reconciler._TRIES, StringIO()))


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
