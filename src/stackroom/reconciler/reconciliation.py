"""
Comparing bucket, records, index and control table, and mending what they tell differently.

Events get lost, handlers die, tables are restored from yesterday. In a full round the audits look
at everything, a bounded piece at a time, and do what the missed event or the dead handler would
have done, through the same code; between two rounds, at what tells of itself. What may still be
under way is left for the next time, so that a reconciliation after quiet finds nothing to do.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from stackroom.clock import utc_now
from stackroom.errors import is_everybodys
from stackroom.model import Record
from stackroom.ports.inventory import Bookmark
from stackroom.reconciler.discrepancies import Audit, Discrepancy, Step
from stackroom.reconciler.rounds import Round, Rounds, Tally

_TOLD = 200  # letters of a cursor


class AuditStage(StrEnum):
    """
    In this order: who is dead is known before the records are asked who works on them, and what
    was deleted is told by its receipt before the index's listing tells of it.
    """

    CONTROL = "control"
    BUCKET = "bucket"
    RECORDS = "records"
    BOOKS = "books"
    DELETIONS = "deletions"
    INDEX = "index"
    SOURCES = "sources"
    QUARANTINE = "quarantine"


class _Position(Record):
    """What the bookmark keeps, as JSON."""

    stage: AuditStage = AuditStage.CONTROL
    cursor: str | None = Field(default=None, alias="place")  # as the stage's audit has it


@dataclass(frozen=True, kw_only=True)
class Reconciliation:
    """
    `audits` are those of a round, `between` those of a look between two. `on_step` is told of each
    piece of a round that is about to be compared.
    """

    audits: Mapping[AuditStage, Audit]
    between: Sequence[Audit]
    bookmark: Bookmark
    rounds: Rounds
    tally: Tally
    now: Callable[[], datetime] = utc_now
    on_step: Callable[[AuditStage], None] | None = None

    def look_between(self, *, has_time: Callable[[], bool]) -> Iterator[Discrepancy]:
        """
        What can be told without reading all there is: dead runs, grants and queue positions, and
        open documents that nobody works on. A lost event, what the index has or lacks, and whose
        data sources and slots are, only a round finds.
        """
        for audit in self.between:
            cursor: str | None = None
            while has_time():
                cursor = yield from self._apart("a look between two rounds", audit, cursor)
                if cursor is None:
                    break

    @property
    def is_due(self) -> bool:
        """Whether a round is under way, or another one is due."""
        latest = self.rounds.latest()
        return not self.is_over or latest is None or latest.is_next_due(self.now())

    def go_on(self, *, has_time: Callable[[], bool] = lambda: True) -> Iterator[Discrepancy]:
        """
        What is found from the bookmark on, mended by the time it is told.

        Ends where there is no time for another piece, or with everything compared: the bookmark
        is then at the start again. A piece that was cut off is compared anew.
        """
        position: _Position | None = self._position()
        latest = self._begun()
        while position is not None and has_time():
            if self.on_step is not None:
                self.on_step(position.stage)
            before = Counter(self.tally.read)
            cursor = yield from self._step(position)
            latest = latest.with_read(self.tally.read - before)
            position = _after(position.stage, cursor)
            kept = position.model_dump_json(by_alias=True) if position is not None else None
            if position is None:
                latest = latest.model_copy(update={"ended": self.now()})
            self.rounds.keep(latest)
            self.bookmark.keep(kept)

    def _begun(self) -> Round:
        latest = self.rounds.latest()
        if latest is None or latest.ended is not None or self.is_over:
            return Round(began=self.now())
        return latest

    def _step(self, position: _Position) -> Step:
        """
        Where a piece can't be compared at all, the stage ends there: what comes before is done,
        and the other stages must not wait for it.
        """
        audit = self.audits[position.stage]
        return (yield from self._apart(f"the rest of {position.stage}", audit, position.cursor))

    def _apart(self, what: str, audit: Audit, cursor: str | None) -> Step:
        try:
            return (yield from audit.step(cursor))
        except Exception as error:
            if is_everybodys(error):
                raise
            yield Discrepancy.not_compared(f"{what}, from {_shortened(cursor)} on", error)
            return None

    @property
    def is_over(self) -> bool:
        """Whether the next reconciliation begins at the start."""
        return self.bookmark.read() is None

    def _position(self) -> _Position:
        kept = self.bookmark.read()
        return _Position.model_validate_json(kept) if kept is not None else _Position()


def _shortened(cursor: str | None) -> str:
    """A cursor may hold a sketch."""
    return cursor[:_TOLD] if cursor is not None else "its start"


def _after(stage: AuditStage, cursor: str | None) -> _Position | None:
    if cursor is not None:
        return _Position(stage=stage, place=cursor)
    stages = list(AuditStage)
    following = stages.index(stage) + 1
    return _Position(stage=stages[following]) if following < len(stages) else None
