"""
Compare bucket, records, index and control table in rounds, and repair what differs.

Events get lost, handlers crash, tables are restored from yesterday. In a full round the audits read
everything, a bounded piece at a time, and do what the missed event or the crashed handler would
have done, through the same code. Between two rounds they read only what can be found cheaply. What
may still be under way is left for the next time, so a reconciliation after a quiet time finds
nothing.

A full round may take many invocations. The next is due ten times as long after the last as the last
took, and after an hour at least: a small deployment is compared every hour, and one with millions
of documents spends a tenth of its time on it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import AwareDatetime, ConfigDict, Field, ValidationError

from stackroom.clock import utc_now
from stackroom.model.records import Record
from stackroom.reconciler.audited import Audit, Audited, Piece
from stackroom.reconciler.bedrock_requests import Patience, RequestPace
from stackroom.reconciler.bucket_audit import BucketAudit
from stackroom.reconciler.control_audit import ControlAudit, SourceAudit
from stackroom.reconciler.count_audit import CountAudit
from stackroom.reconciler.discrepancies import BETWEEN, Discrepancy
from stackroom.reconciler.index_audit import IndexAudit
from stackroom.reconciler.mending import isolate_failures
from stackroom.reconciler.record_audit import OpenAudit, RecordAudit
from stackroom.reconciler.search_audit import DeletionAudit
from stackroom.reconciler.text_audit import TextAudit
from stackroom.runs.inventory import Bookmark

_SHARE = 10
_CURSOR_SHOWN = 200  # characters


class AuditStage(StrEnum):
    """
    The stages in their order. Dead runs and open documents are known before records are checked for
    who works on them, and receipts of deletions are read before the index is compared.
    """

    CONTROL = "control"
    BUCKET = "bucket"
    BOOKS = "books"
    RECORDS = "records"
    TEXTS = "texts"
    DELETIONS = "deletions"
    INDEX = "index"
    SOURCES = "sources"


_AUDITS: dict[AuditStage, Callable[[Audited], Audit]] = {
    AuditStage.CONTROL: ControlAudit,
    AuditStage.BUCKET: BucketAudit,
    AuditStage.BOOKS: CountAudit,
    AuditStage.RECORDS: RecordAudit,
    AuditStage.TEXTS: TextAudit,
    AuditStage.DELETIONS: DeletionAudit,
    AuditStage.INDEX: IndexAudit,
    AuditStage.SOURCES: SourceAudit,
}


class Round(Record):
    """The beginning and end of a round. Fields that an earlier version kept are ignored."""

    model_config = ConfigDict(extra="ignore")

    began: AwareDatetime
    ended: AwareDatetime | None = None

    def is_next_due(self, at: datetime) -> bool:
        if self.ended is None:
            return True
        return at - self.ended >= max(BETWEEN, _SHARE * (self.ended - self.began))


@dataclass
class MemoryBookmark:
    """A `Bookmark` in memory, for one reconciliation that nothing else continues."""

    cursor: str | None = None

    def read(self) -> str | None:
        return self.cursor

    def keep(self, cursor: str | None) -> None:
        self.cursor = cursor


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """The current or last round, kept beside the bookmark."""

    kept: Bookmark

    def latest(self) -> Round | None:
        kept = self.kept.read()
        return Round.model_validate_json(kept) if kept is not None else None

    def keep(self, latest: Round) -> None:
        self.kept.keep(latest.model_dump_json())


class _Position(Record):
    """The content of the bookmark, as JSON."""

    stage: AuditStage = AuditStage.CONTROL
    cursor: str | None = Field(default=None, alias="place")  # as the stage's audit has it

    @classmethod
    def of(cls, kept: str | None) -> Self:
        """Return the position, or the start if the stage exists only in an earlier version."""
        try:
            return cls() if kept is None else cls.model_validate_json(kept)
        except ValidationError:
            return cls()


@dataclass(frozen=True, kw_only=True)
class Reconciliation:
    """
    The audits of a round, and those `between` two rounds. `on_step` is called with the stage of
    each piece before it is compared.
    """

    audits: Mapping[AuditStage, Audit]
    between: Sequence[Audit]
    bookmark: Bookmark
    rounds: Rounds
    now: Callable[[], datetime] = utc_now
    on_step: Callable[[AuditStage], None] | None = None

    @classmethod
    def over(
        cls,
        audited: Audited,
        *,
        bookmark: Bookmark,
        rounds: Rounds,
        pace: RequestPace,
        patience: Patience | None = None,
        on_step: Callable[[AuditStage], None] | None = None,
    ) -> Self:
        """
        Return a reconciliation. A round asks the knowledge bases with patience, and lists documents
        at `pace`.
        """
        patient, paced = (patience or Patience()).with_, pace.of
        inventory = paced(audited.inventory, "indexed")
        asked = replace(
            audited,
            inventory=patient(inventory, "source_ids", "source", "indexed"),
            data_sources=patient(audited.data_sources, "all"),
            direct=patient(paced(audited.direct, "details"), "details", "delete"),
            knowledge_base=lambda each: patient(audited.knowledge_base(each), "retrieve"),
        )
        return cls(
            audits={stage: audit(asked) for stage, audit in _AUDITS.items()},
            between=(ControlAudit(audited), OpenAudit(audited)),
            bookmark=bookmark,
            rounds=rounds,
            now=audited.mending.now,
            on_step=on_step,
        )

    def check_between_rounds(self, *, has_time: Callable[[], bool]) -> Iterator[Discrepancy]:
        """
        Find what needs no full reading: dead runs, and open documents that no run works on. Only a
        round finds a lost event, differences in the index, and the owners of data sources and
        slots.
        """
        for audit in self.between:
            cursor: str | None = None
            while has_time():
                cursor = yield from _step("a look between two rounds", audit, cursor)
                if cursor is None:
                    break

    @property
    def is_due(self) -> bool:
        """Return True if a round is under way or the next one is due."""
        latest = self.rounds.latest()
        return not self.is_over or latest is None or latest.is_next_due(self.now())

    @property
    def is_over(self) -> bool:
        """Return True if the next reconciliation begins at the start."""
        return self.bookmark.read() is None

    def resume(self, *, has_time: Callable[[], bool] = lambda: True) -> Iterator[Discrepancy]:
        """
        Yield discrepancies from the bookmark on, each repaired by the time it is yielded.

        Ends if there is no time for another piece, or once everything is compared and the bookmark
        is back at the start. A piece that was interrupted is compared again.
        """
        kept = self.bookmark.read()
        position = _Position.of(kept)
        latest = self.rounds.latest()
        if latest is None or latest.ended is not None or kept is None:
            latest = Round(began=self.now())
        while has_time():
            if self.on_step is not None:
                self.on_step(position.stage)
            # If a piece can't be compared at all, the stage ends there: the earlier pieces are
            # done, and the other stages must not wait for it.
            audit, rest = self.audits[position.stage], f"the rest of {position.stage}"
            cursor = yield from _step(rest, audit, position.cursor)
            following = _after(position.stage, cursor)
            if following is None:
                self.rounds.keep(latest.model_copy(update={"ended": self.now()}))
                self.bookmark.keep(None)
                return
            position = following
            self.rounds.keep(latest)
            self.bookmark.keep(position.model_dump_json(by_alias=True))


def _step(what: str, audit: Audit, cursor: str | None) -> Piece:
    # A cursor may hold many ids.
    start = cursor[:_CURSOR_SHOWN] if cursor is not None else "its start"
    following: str | None = yield from isolate_failures(
        f"{what}, from {start} on", audit.step(cursor)
    )
    return following


def _after(stage: AuditStage, cursor: str | None) -> _Position | None:
    if cursor is not None:
        return _Position(stage=stage, place=cursor)
    stages = list(AuditStage)
    following = stages[stages.index(stage) + 1 :]
    return _Position(stage=following[0]) if following else None
