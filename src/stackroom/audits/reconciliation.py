"""
Comparing bucket, records, index and control table, and mending what they tell differently.

Events get lost, handlers die, tables are restored from yesterday. The audits look at everything, a
bounded piece at a time, and do what the missed event or the dead handler would have done, through
the same code. What may still be under way is left for the next time, so that a reconciliation after
quiet finds nothing to do.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from pydantic import Field

from stackroom.audits.discrepancies import Audit, Discrepancy, Step
from stackroom.isolation import is_everybodys
from stackroom.model import Record
from stackroom.ports.inventory import Bookmark


class AuditStage(StrEnum):
    """In this order: who is dead is known before the records are asked who works on them."""

    CONTROL = "control"
    BUCKET = "bucket"
    RECORDS = "records"
    INDEX = "index"
    SOURCES = "sources"


class _Position(Record):
    """What the bookmark keeps, as JSON."""

    stage: AuditStage = AuditStage.CONTROL
    cursor: str | None = Field(default=None, alias="place")  # as the stage's audit has it


@dataclass(frozen=True, kw_only=True)
class Reconciliation:
    """`on_step` is told of each piece that is about to be compared."""

    audits: Mapping[AuditStage, Audit]
    bookmark: Bookmark
    on_step: Callable[[AuditStage], None] | None = None

    def go_on(self, *, has_time: Callable[[], bool] = lambda: True) -> Iterator[Discrepancy]:
        """
        What is found from the bookmark on, mended by the time it is told.

        Ends where there is no time for another piece, or with everything compared: the bookmark
        is then at the start again. A piece that was cut off is compared anew.
        """
        position: _Position | None = self._position()
        while position is not None and has_time():
            if self.on_step is not None:
                self.on_step(position.stage)
            cursor = yield from self._step(position)
            position = _after(position.stage, cursor)
            kept = position.model_dump_json(by_alias=True) if position is not None else None
            self.bookmark.keep(kept)

    def _step(self, position: _Position) -> Step:
        """
        Where a piece can't be compared at all, the stage ends there: what comes before is done,
        and the other stages must not wait for it.
        """
        try:
            return (yield from self.audits[position.stage].step(position.cursor))
        except Exception as error:
            if is_everybodys(error):
                raise
            what = f"the rest of {position.stage}, from {position.cursor or 'its start'} on"
            yield Discrepancy.not_compared(what, error)
            return None

    @property
    def is_over(self) -> bool:
        """Whether the next reconciliation begins at the start."""
        return self.bookmark.read() is None

    def _position(self) -> _Position:
        kept = self.bookmark.read()
        return _Position.model_validate_json(kept) if kept is not None else _Position()


def _after(stage: AuditStage, cursor: str | None) -> _Position | None:
    if cursor is not None:
        return _Position(stage=stage, place=cursor)
    stages = list(AuditStage)
    following = stages.index(stage) + 1
    return _Position(stage=stages[following]) if following < len(stages) else None
