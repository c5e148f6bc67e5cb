"""The pipeline's ports with state, in memory; tests/contract/ports holds them to the adapters."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from stackroom.errors import CatalogLimitReached, RecordChanged, RunSuperseded
from stackroom.keys import SIDECAR_SUFFIX
from stackroom.model import Catalog, CatalogStatus, Document
from stackroom.ports import (
    Busy,
    DataSource,
    DataSourceLimit,
    Job,
    JobState,
    Lease,
    StoredObject,
    StoredSidecar,
    Verdict,
)

BUCKET = "docs"
LONGEST_KEY = 1024  # bytes [S3 user guide: object-keys]


@dataclass
class FakeClock:
    """Stands still until told otherwise."""

    time: datetime = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def pass_by(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@dataclass
class FakeCatalogs:
    limit: int = 100
    kept: dict[str, Catalog] = field(default_factory=dict)

    def get(self, catalog_id: str) -> Catalog | None:
        return self.kept.get(catalog_id)

    def of_user(self, user_id: str) -> Iterator[Catalog]:
        return (each for each in list(self.kept.values()) if each.user_id == user_id)

    def open(self, catalog: Catalog) -> Catalog:
        if catalog.catalog_id in self.kept:
            return self.kept[catalog.catalog_id]
        if len(list(self.of_user(catalog.user_id))) >= self.limit:
            raise CatalogLimitReached(self.limit)
        self.kept[catalog.catalog_id] = catalog
        return catalog

    def place(self, catalog_id: str, *, knowledge_base_id: str, data_source_id: str) -> None:
        placed = self.kept[catalog_id].data_source_id
        assert placed in (None, data_source_id), "only the catalog's one live run places it"
        self._change(catalog_id, knowledge_base_id=knowledge_base_id, data_source_id=data_source_id)

    def summarise(
        self, catalog_id: str, *, status: CatalogStatus, count: int, size: int, at: datetime
    ) -> None:
        self._change(
            catalog_id, status=status, document_count=count, total_bytes=size, updated_at=at
        )

    def _change(self, catalog_id: str, **changes: object) -> None:
        self.kept[catalog_id] = self.kept[catalog_id].model_copy(update=changes)


@dataclass
class FakeDocuments:
    """`before_save` is called with each document about to be saved: a place to interfere."""

    kept: dict[tuple[str, str], Document] = field(default_factory=dict)
    before_save: Callable[[Document], None] = lambda document: None

    def get(self, catalog_id: str, document_id: str) -> Document | None:
        return self.kept.get((catalog_id, document_id))

    def save(self, document: Document) -> Document:
        self.before_save(document)
        self._check(document)
        first = int(document.updated_at.timestamp() * 1_000_000)  # unlike one removed before
        version = document.version + 1 if document.version else first
        saved = document.model_copy(update={"version": version})
        self.kept[(document.catalog_id, document.document_id)] = saved
        return saved

    def save_all(self, documents: Iterable[Document]) -> list[Document]:
        saved = []
        for document in documents:
            try:
                saved.append(self.save(document))
            except RecordChanged:
                continue
        return saved

    def remove(self, document: Document) -> None:
        self._check(document)
        del self.kept[(document.catalog_id, document.document_id)]

    def of_catalog(self, catalog_id: str) -> Iterator[Document]:
        return (each for (where, _), each in list(self.kept.items()) if where == catalog_id)

    def _check(self, document: Document) -> None:
        kept = self.kept.get((document.catalog_id, document.document_id))
        if (kept.version if kept else 0) != document.version:
            raise RecordChanged(document.document_id)


@dataclass
class FakeBucket:
    clock: FakeClock
    objects: dict[str, StoredObject] = field(default_factory=dict)
    sidecars: dict[str, StoredSidecar] = field(default_factory=dict)
    uploads: int = 0

    def upload(self, key: str, body: str = "text", **attributes: str) -> None:
        self.uploads += 1
        self.objects[key] = StoredObject(
            key=key,
            size=len(body.encode()),
            etag=f"etag of {body}",
            version_id=f"v{self.uploads}",
            content_type="",
            last_modified=self.clock(),
            attributes={name.replace("_", "-", 1): value for name, value in attributes.items()},
        )

    def delete(self, key: str) -> None:
        del self.objects[key]

    def sidecar_attributes(self, key: str) -> dict[str, object]:
        attributes = json.loads(self.sidecars[key].body)["metadataAttributes"]
        assert isinstance(attributes, dict)
        return attributes

    def head(self, key: str) -> StoredObject | None:
        return self.objects.get(key)

    def sidecar_of(self, key: str) -> StoredSidecar | None:
        return self.sidecars.get(key)

    def write_sidecar(self, key: str, body: bytes) -> None:
        assert not key.endswith(SIDECAR_SUFFIX), "a sidecar has no sidecar"
        if len((key + SIDECAR_SUFFIX).encode()) > LONGEST_KEY:
            return
        self.sidecars[key] = StoredSidecar(body=body, last_modified=self.clock())

    def remove_sidecar(self, key: str) -> None:
        self.sidecars.pop(key, None)

    def uri_of(self, key: str) -> str:
        return f"s3://{BUCKET}/{key}"


@dataclass
class FakeLeases:
    kept: dict[str, Lease] = field(default_factory=dict)

    def get(self, catalog_id: str) -> Lease | None:
        return self.kept.get(catalog_id)

    def ask(self, catalog_id: str) -> Lease:
        nothing = Lease(catalog_id=catalog_id, requested=0, epoch=0, held=False, started=False)
        lease = self.kept.get(catalog_id, nothing)
        return self._keep(replace(lease, requested=lease.requested + 1))

    def take(self, seen: Lease, *, until: datetime, failures: int) -> Lease | None:
        now = self.kept[seen.catalog_id]
        if (now.epoch, now.held) != (seen.epoch, seen.held):
            return None
        taken = replace(now, epoch=now.epoch + 1, held=True, started=False, until=until)
        return self._keep(replace(taken, failures=failures))

    def mark_started(self, lease: Lease) -> None:
        now = self.kept.get(lease.catalog_id)
        if now and now.held and now.epoch == lease.epoch:
            self._keep(replace(now, started=True))

    def renew(self, catalog_id: str, epoch: int, *, until: datetime) -> Lease:
        return self._keep(replace(self._mine(catalog_id, epoch), until=until, started=True))

    def release(self, catalog_id: str, epoch: int, *, served: int) -> bool:
        now = self.kept.get(catalog_id)
        if now and not now.held and now.epoch == epoch:
            return True
        mine = self._mine(catalog_id, epoch)
        if mine.requested != served:
            return False
        self._keep(replace(mine, held=False, started=False, until=None, failures=0))
        return True

    def held(self) -> Iterator[Lease]:
        return (lease for lease in list(self.kept.values()) if lease.held)

    def _mine(self, catalog_id: str, epoch: int) -> Lease:
        now = self.kept.get(catalog_id)
        if now is None or not now.held or now.epoch != epoch:
            raise RunSuperseded(catalog_id, epoch)
        return now

    def _keep(self, lease: Lease) -> Lease:
        self.kept[lease.catalog_id] = lease
        return lease


@dataclass
class FakeExecutions:
    started: dict[str, Mapping[str, object]] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    refuse: Exception | None = None

    def start(self, name: str, payload: Mapping[str, object]) -> None:
        if self.refuse is not None:
            raise self.refuse
        self.started.setdefault(name, payload)

    def is_running(self, name: str) -> bool:
        return name in self.started and name not in self.ended


@dataclass
class FakeSlots:
    holders: dict[str, set[str]] = field(default_factory=dict)
    lost: int = 0

    def take(self, knowledge_base_id: str, catalog_id: str, *, limit: int) -> bool:
        holders = self.holders.setdefault(knowledge_base_id, set())
        if catalog_id not in holders and len(holders) >= limit:
            return False
        holders.add(catalog_id)
        return True

    def taken(self, knowledge_base_id: str) -> int:
        return len(self.holders.get(knowledge_base_id, ()))

    def holder_of(self, catalog_id: str, knowledge_base_ids: Iterable[str]) -> str | None:
        return next((k for k in knowledge_base_ids if catalog_id in self.holders.get(k, ())), None)

    def exhaust(self, knowledge_base_id: str, catalog_id: str) -> None:
        holders = self.holders[knowledge_base_id]
        holders.remove(catalog_id)
        self.lost += 1
        holders.add(f"!lost-{self.lost}")


@dataclass
class FakeBedrock:
    """Data sources and ingestion jobs; a job does what the test has it do."""

    clock: FakeClock
    source_limit: int = 5
    sources: dict[tuple[str, str], str] = field(default_factory=dict)  # (kb, name) -> id
    available: bool = True
    busy: Busy | None = None
    jobs: dict[str, Job] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    started: dict[str, tuple[DataSource, str]] = field(default_factory=dict)  # with description
    stopped: list[str] = field(default_factory=list)
    says: dict[str, Verdict] = field(default_factory=dict)

    def find(self, knowledge_base_id: str, name: str) -> str | None:
        return self.sources.get((knowledge_base_id, name))

    def create(self, knowledge_base_id: str, name: str, *, prefix: str, token: str) -> str:
        made = self.find(knowledge_base_id, name)
        if made is not None:
            return made
        if len([kb for kb, _ in self.sources if kb == knowledge_base_id]) >= self.source_limit:
            raise DataSourceLimit
        self.sources[(knowledge_base_id, name)] = f"DS{len(self.sources) + 1}"
        return self.sources[(knowledge_base_id, name)]

    def is_available(self, knowledge_base_id: str, data_source_id: str) -> bool:
        return self.available

    def start(self, source: DataSource, *, token: str, description: str) -> Job | Busy:
        if token in self.tokens:
            return self.jobs[self.tokens[token]]
        if self.busy or self._at_work(source.knowledge_base_id):
            return self.busy or Busy(why="ConflictException: a job is running")
        job_id = f"JOB{len(self.jobs) + 1}"
        self.tokens[token], self.started[job_id] = job_id, (source, description)
        now = self.clock()
        self.jobs[job_id] = Job(
            job_id=job_id, state=JobState.RUNNING, started_at=now, updated_at=now
        )
        return self.jobs[job_id]

    def get(self, source: DataSource, job_id: str) -> Job | None:
        return self.jobs.get(job_id)

    def running(self, source: DataSource, *, description: str) -> Job | None:
        mine = (job for job, what in self.started.items() if what == (source, description))
        return next((self.jobs[job] for job in mine), None)

    def stop(self, source: DataSource, job_id: str) -> None:
        self.stopped.append(job_id)

    def verdicts(self, source: DataSource, uris: Iterable[str]) -> dict[str, Verdict]:
        return {uri: self.says[uri] for uri in uris if uri in self.says}

    def _at_work(self, knowledge_base_id: str) -> bool:
        running = (job_id for job_id, job in self.jobs.items() if job.state is JobState.RUNNING)
        return any(
            self.started[job_id][0].knowledge_base_id == knowledge_base_id for job_id in running
        )

    def finish(self, job_id: str, state: JobState = JobState.COMPLETE, *reasons: str) -> None:
        self.jobs[job_id] = replace(
            self.jobs[job_id], state=state, updated_at=self.clock(), failure_reasons=reasons
        )

    def say(self, key: str, status: str, reason: str | None = None) -> None:
        """From now on, and as of now, the knowledge base says this of the object."""
        verdict = Verdict(status=status, updated_at=self.clock(), reason=reason)
        self.says[f"s3://{BUCKET}/{key}"] = verdict


@dataclass
class FakeFindings:
    reasons: dict[str, str] = field(default_factory=dict)  # by etag

    def reasons_for(self, documents: Iterable[Document]) -> dict[str, str]:
        return {
            each.document_id: self.reasons[each.etag]
            for each in documents
            if each.etag in self.reasons
        }
