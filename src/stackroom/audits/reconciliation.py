"""
Comparing bucket, records, index and control table, and mending what they tell differently.

Events get lost, handlers die, tables are restored from yesterday. The audits look at everything, a
bounded piece at a time, and do what the missed event or the dead handler would have done, through
the same code. What may still be under way is left for the next time, so that a reconciliation after
quiet finds nothing to do.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from stackroom.audits.bucket import BucketAudit
from stackroom.audits.control import ControlAudit
from stackroom.audits.discrepancies import Audit, Discrepancy
from stackroom.audits.index import IndexAudit
from stackroom.audits.listings import Listings
from stackroom.audits.mending import Mending
from stackroom.audits.orphans import Orphans
from stackroom.audits.records import RecordAudit
from stackroom.audits.sources import SourceAudit
from stackroom.model import PoolMember, Record
from stackroom.ports.admission import AdmissionBook
from stackroom.ports.data_sources import Slots
from stackroom.ports.ingestion import DirectDocuments, IngestionJobs
from stackroom.ports.inventory import Bookmark, Inventory
from stackroom.ports.retrieval import KnowledgeBase
from stackroom.settlement.details import details_by
from stackroom.settlement.search_check import SearchCheck


class Stage(StrEnum):
    """In this order: who is dead is known before the records are asked who works on them."""

    CONTROL = "control"
    BUCKET = "bucket"
    RECORDS = "records"
    INDEX = "index"
    SOURCES = "sources"


class _Position(Record):
    stage: Stage = Stage.CONTROL
    place: str | None = None  # as the stage's audit has it


@dataclass(frozen=True, kw_only=True)
class Reconciliation:
    """`on_step` is told of each piece that is about to be compared."""

    audits: Mapping[Stage, Audit]
    bookmark: Bookmark
    on_step: Callable[[Stage], None] | None = None

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
            place = yield from self.audits[position.stage].step(position.place)
            position = _after(position.stage, place)
            self.bookmark.keep(position.model_dump_json() if position is not None else None)

    @property
    def is_over(self) -> bool:
        """Whether the next reconciliation begins at the start."""
        return self.bookmark.read() is None

    def _position(self) -> _Position:
        kept = self.bookmark.read()
        return _Position.model_validate_json(kept) if kept is not None else _Position()


def _after(stage: Stage, place: str | None) -> _Position | None:
    if place is not None:
        return _Position(stage=stage, place=place)
    stages = list(Stage)
    following = stages.index(stage) + 1
    return _Position(stage=stages[following]) if following < len(stages) else None


@dataclass(frozen=True, kw_only=True)
class Auditors:
    """
    Everybody who looks, and what they look at.

    `capacity` bounds the objects or documents held at a time; `pause` comes before each page of a
    knowledge base's documents.
    """

    inventory: Inventory
    mending: Mending
    book: AdmissionBook
    slots: Slots
    jobs: IngestionJobs
    direct: DirectDocuments
    knowledge_base: Callable[[str], KnowledgeBase]
    pool: Sequence[PoolMember]
    pause: Callable[[], None]
    capacity: int = 20_000

    def audits(self) -> dict[Stage, Audit]:
        return {
            Stage.CONTROL: ControlAudit(
                leases=self.mending.runs.leases,
                executions=self.mending.runs.executions,
                book=self.book,
                mending=self.mending,
                pool=[member.knowledge_base_id for member in self.pool],
            ),
            Stage.BUCKET: BucketAudit(
                inventory=self.inventory, mending=self.mending, capacity=self.capacity
            ),
            Stage.RECORDS: RecordAudit(
                inventory=self.inventory, leases=self.mending.runs.leases, mending=self.mending
            ),
            Stage.INDEX: self._index(),
            Stage.SOURCES: SourceAudit(
                inventory=self.inventory, slots=self.slots, mending=self.mending, pool=self.pool
            ),
        }

    def _index(self) -> IndexAudit:
        details = details_by(jobs=self.jobs, direct=self.direct, bucket=self.mending.uploads.bucket)
        return IndexAudit(
            inventory=self.inventory,
            listings=Listings(
                inventory=self.inventory,
                catalogs=self.mending.uploads.catalogs,
                details=details,
                pool=self.pool,
                pause=self.pause,
                capacity=self.capacity,
            ),
            orphans=Orphans(
                direct=self.direct,
                book=self.book,
                knowledge_base=self.knowledge_base,
                mending=self.mending,
            ),
            details=details,
            search_check=SearchCheck(knowledge_base=self.knowledge_base),
            mending=self.mending,
        )
