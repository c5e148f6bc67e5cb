"""Bedrock with state, in memory: data sources, ingestion jobs and direct ingestion."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from simulated_time import memory
from stackroom.errors import DataSourceBroken, DataSourceLimit, KnowledgeBaseThrottled
from stackroom.model.records import DataSource, DataSourceType
from stackroom.runs.bedrock_calls import Busy, DocumentDetail, Job, JobState
from tests.fakes.direct import FakeDirectDocuments

BUCKET = memory.BUCKET
DIRECT_CALLS_RUN = Busy(
    why="ValidationException: There is an ongoing KnowledgeBaseDocuments API request"
)


@dataclass
class FakeBedrock(FakeDirectDocuments):
    """
    A job does what the test has it do; of a CUSTOM data source it speaks as the base class does.

    A data source takes `deletion_seconds` to go.
    """

    source_limit: int = 5
    sources: dict[tuple[str, str], str] = field(default_factory=dict)  # (kb, name) -> id
    types: dict[str, DataSourceType] = field(default_factory=dict)  # by id
    prefixes: dict[str, str] = field(default_factory=dict)  # of those of type S3, by id
    available: bool = True
    deletion_seconds: float = 0.0
    deleting: dict[str, datetime] = field(default_factory=dict)  # by id, since when
    busy: Busy | None = None
    jobs: dict[str, Job] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    started: dict[str, tuple[DataSource, str]] = field(default_factory=dict)  # with description
    stopped: list[str] = field(default_factory=list)
    says: dict[str, DocumentDetail] = field(default_factory=dict)
    _made: int = 0

    def find(self, knowledge_base_id: str, name: str) -> DataSource | None:
        self._finish_deletions()
        found = self.sources.get((knowledge_base_id, name))
        if found is None or found in self.deleting:
            return None
        return DataSource(
            knowledge_base_id=knowledge_base_id,
            data_source_id=found,
            type=self.types.get(found, DataSourceType.CUSTOM),
        )

    def create(
        self,
        knowledge_base_id: str,
        name: str,
        *,
        source_type: DataSourceType,
        prefix: str,
        token: str,
    ) -> DataSource:
        made = self.find(knowledge_base_id, name)
        if made is not None:
            return made
        if (knowledge_base_id, name) in self.sources:  # still, for it is being deleted
            raise KnowledgeBaseThrottled("CreateDataSource")
        if len(self.all(knowledge_base_id)) >= self.source_limit:
            raise DataSourceLimit(knowledge_base_id)
        self._made += 1
        data_source_id = f"DS{self._made}"
        self.sources[(knowledge_base_id, name)] = data_source_id
        self.types[data_source_id] = source_type
        if source_type is DataSourceType.S3:
            self.prefixes[data_source_id] = prefix
        return DataSource(
            knowledge_base_id=knowledge_base_id, data_source_id=data_source_id, type=source_type
        )

    def is_available(self, knowledge_base_id: str, data_source_id: str) -> bool:
        if data_source_id in self.deleting:
            raise DataSourceBroken(data_source_id, "DELETING")
        return self.available

    def remove(self, knowledge_base_id: str, data_source_id: str) -> bool:
        self._finish_deletions()
        if data_source_id not in self.all(knowledge_base_id).values():
            return True
        if any(self.started[job][0].data_source_id == data_source_id for job in self._running()):
            return False
        if data_source_id not in self.deleting:
            self.deleting[data_source_id] = self.clock()
        return False

    def all(self, knowledge_base_id: str) -> dict[str, str]:
        self._finish_deletions()
        return {name: made for (kb, name), made in self.sources.items() if kb == knowledge_base_id}

    def start(self, source: DataSource, *, token: str, description: str) -> Job | Busy:
        if token in self.tokens:
            return self.jobs[self.tokens[token]]
        if busy := self._refusal_of_job(source.knowledge_base_id):
            return busy
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

    def details(self, source: DataSource, document_ids: Iterable[str]) -> dict[str, DocumentDetail]:
        """A job's documents go by their URIs, those ingested directly by their ids."""
        if source.type is DataSourceType.CUSTOM:
            return super().details(source, document_ids)
        return {uri: self.says[uri] for uri in document_ids if uri in self.says}

    def finish(
        self, job_id: str, state: JobState = JobState.COMPLETE, *reasons: str, failed: int = 0
    ) -> None:
        """`failed` is what its statistics say."""
        self.jobs[job_id] = replace(
            self.jobs[job_id],
            state=state,
            updated_at=self.clock(),
            failure_reasons=reasons,
            failed_documents=failed,
        )

    def forget(self, *keys: str) -> None:
        """The index has these no more; nothing any more, if none is named."""
        for uri in [f"s3://{BUCKET}/{key}" for key in keys] or list(self.says):
            del self.says[uri]

    def say(self, key: str, status: str, reason: str | None = None) -> None:
        """From now on, and as of now, the knowledge base says this of the object."""
        verdict = DocumentDetail(status=status, updated_at=self.clock(), reason=reason)
        self.says[f"s3://{BUCKET}/{key}"] = verdict

    def _refusal_of_job(self, knowledge_base_id: str) -> Busy | None:
        if self.busy is not None:
            return self.busy
        if self._job_runs_on(knowledge_base_id):
            return Busy(why="ConflictException: a job is running")
        directly = (call.knowledge_base_id for call in self.at_work())
        return DIRECT_CALLS_RUN if knowledge_base_id in directly else None

    def _job_runs_on(self, knowledge_base_id: str) -> bool:
        on = (self.started[job_id][0].knowledge_base_id for job_id in self._running())
        return knowledge_base_id in on

    def _running(self) -> list[str]:
        return [job_id for job_id, job in self.jobs.items() if job.state is JobState.RUNNING]

    def _finish_deletions(self) -> None:
        for data_source_id in list(self.deleting):
            if self._is_due(data_source_id):
                del self.deleting[data_source_id]
                self._forget_all(data_source_id)
                kept = {key: made for key, made in self.sources.items() if made != data_source_id}
                self.sources = kept

    def _forget_all(self, data_source_id: str) -> None:
        self.held = {key: each for key, each in self.held.items() if key[0] != data_source_id}
        if prefix := self.prefixes.pop(data_source_id, ""):
            crawled = f"s3://{BUCKET}/{prefix}"
            self.says = {
                uri: each for uri, each in self.says.items() if not uri.startswith(crawled)
            }

    def _is_due(self, data_source_id: str) -> bool:
        took = self.clock() - self.deleting[data_source_id]
        return took >= timedelta(seconds=self.deletion_seconds)
