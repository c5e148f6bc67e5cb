"""
Direct calls at a catalog's own data source, where they are sooner than a job (ways).

Everything goes as at a shared data source, with two differences: the data source knows documents by
where they lie, and what no call can bring a job may. So what a call is refused waits for a job.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from stackroom.errors import DocumentsRefused, JobNeeded
from stackroom.ingestion.direct_calls import Bound, Call, DirectCalls
from stackroom.ingestion.direct_round import DirectPorts, DirectRound
from stackroom.ingestion.rounds import DirectWork
from stackroom.ingestion.shared_runs import SharedRuns
from stackroom.model import Catalog, CatalogStatus, DataSource, Document
from stackroom.ports.ingestion import Busy, LocatedDocuments
from stackroom.ports.worklists import Entry
from stackroom.runs.progress import Run, RunOutcome


class OneCatalog:
    """The worklist of a catalog alone, which is named like it: who asks moves the run's counter."""

    def add(self, worklist_id: str, catalog_id: str) -> None:  # noqa: ARG002 - the port's arguments
        raise AssertionError("a catalog's own worklist has no entries")

    def entries(self, worklist_id: str, *, after: str | None = None, limit: int) -> Iterator[Entry]:
        if after is None and limit:
            yield Entry(catalog_id=worklist_id, stamp="")

    def drop(self, worklist_id: str, entry: Entry) -> bool:  # noqa: ARG002 - the port's arguments
        return True


@dataclass(frozen=True, kw_only=True)
class LocatedCalls(DirectCalls):
    """`uris` is where documents in hand lie, by id; a call's are added before it is sent."""

    located: LocatedDocuments
    uris: dict[str, str]

    def bind(self, batch: list[Document], round_id: str) -> Bound:
        self.know(batch)
        return super().bind(batch, round_id)

    def send(self, source: DataSource, bound: Bound, round_id: str) -> datetime | Busy:
        """Raises DataSourceNotSynced or JobNeeded: Bedrock checks a call as a whole."""
        try:
            return super().send(source, bound, round_id)
        except DocumentsRefused as refusal:
            raise JobNeeded(source.data_source_id, refusal.why) from refusal

    def know(self, documents: Sequence[Document]) -> None:
        self.uris.update({each.document_id: self.bucket.uri_of(each.s3_key) for each in documents})


@dataclass(frozen=True, kw_only=True)
class OwnRuns(SharedRuns):
    """`worklists` is OneCatalog."""

    located: LocatedDocuments

    def _source(self, run: Run) -> DataSource | None:
        catalog = self.catalogs.get(run.worklist_id)
        return None if catalog is None else catalog.source

    def _ports(self, calls: Sequence[Call]) -> DirectPorts:
        uris: dict[str, str] = {}
        located = LocatedCalls(
            documents=self.ports.calls.documents,
            bucket=self.ports.calls.bucket,
            direct=self.located.at(uris),
            now=self.ports.calls.now,
            located=self.located,
            uris=uris,
        )
        for call in calls:
            located.know(list(call.documents.values()))
        return replace(self.ports, calls=located)

    def _after(self, run: Run, round_: DirectRound, work: DirectWork) -> tuple[Run, DirectWork]:
        if not round_.work.failures or round_.calls:
            return super()._after(run, round_, work)
        # Whatever it was that calls could not do is left to a job, which tries all that is open.
        work.failures = round_.work.failures
        self.admission.leave(run.worklist_id, run.epoch)
        return self._queued(run).went(RunOutcome.PLACED, by_job=True), work

    def _released(self, run: Run, served: int) -> Run:
        catalog = self.catalogs.get(run.worklist_id)
        is_going = catalog is not None and catalog.status is CatalogStatus.DELETING
        if not is_going or next(self.documents.open_in(run.worklist_id, limit=1), None):
            return super()._released(run, served)
        # The run looks once more, and takes the catalog down if it is empty.
        self.admission.leave(run.worklist_id, run.epoch)
        return run.went(RunOutcome.MORE, waiting_since=None, calls_at_work=())

    def _finish(self, catalog: Catalog) -> bool:
        if catalog.status is not CatalogStatus.DELETING:
            self.catalogs.settle_status(catalog.catalog_id, at=self.now())
        return True
