"""
A scripted Amazon Bedrock: knowledge bases with state, whose answers a test can bend.

It answers a real boto3 client below its parameter validation and above its transport, so that
what the adapters send and catch is AWS's own. Documents are those that lie in the bucket.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from types import SimpleNamespace
from typing import Any

from tests.workflow.bedrock_records import Answer, Job, Refused, Source

MAX_DATA_SOURCES = 5  # of a knowledge base [AWS General Reference: Amazon Bedrock quotas]
BUSY = "You have reached the maximum number of concurrent ingestion jobs per knowledge base: 1"


class Bedrock:
    def __init__(self, s3: Any, bucket: str) -> None:
        self._s3, self._bucket = s3, bucket
        self._ids = count(1)
        self.sources: list[Source] = []
        self.jobs: list[Job] = []
        self.calls: list[str] = []
        self.next_sources: deque[str] = deque()  # statuses of the next data source
        self.polls = 1
        self.ends: deque[str] = deque()  # how the next jobs end, COMPLETE where this is empty
        self.verdicts: dict[str, deque[str]] = defaultdict(deque)  # by file name, else INDEXED
        self.before: dict[str, deque[Exception | Callable[[], None]]] = defaultdict(deque)
        self.after: dict[str, deque[Exception]] = defaultdict(deque)

    @contextmanager
    def answering(self, client: Any) -> Iterator[None]:
        """Answer this client of bedrock-agent."""
        events = client.meta.events
        handlers: dict[str, Any] = {
            "before-parameter-build": self._note,
            "before-call": self._answer,
        }
        for event, handler in handlers.items():
            events.register(f"{event}.bedrock-agent", handler)
        yield
        for event, handler in handlers.items():
            events.unregister(f"{event}.bedrock-agent", handler)

    @property
    def running(self) -> list[Job]:
        return [job for job in self.jobs if job.status in ("STARTING", "IN_PROGRESS", "STOPPING")]

    def _note(self, params: Answer, context: Answer, **_: Any) -> None:
        context["asked"] = params

    def _answer(self, model: Any, context: Answer, **_: Any) -> tuple[Any, Answer]:
        operation = model.name
        self.calls.append(operation)
        try:
            if self.before[operation]:
                what = self.before[operation].popleft()
                if isinstance(what, Exception):
                    raise what
                what()
            answer: Answer = getattr(self, operation)(**context["asked"])
            if self.after[operation]:
                raise self.after[operation].popleft()
        except Refused as error:
            parsed = {"Error": {"Code": error.code, "Message": error.message}}
            metadata = {"HTTPStatusCode": error.status}
            return SimpleNamespace(status_code=error.status), {
                **parsed,
                "ResponseMetadata": metadata,
            }
        return SimpleNamespace(status_code=200), answer

    # Operations, under the names and with the members of the API model. N802: AWS's spelling.

    def CreateDataSource(self, **asked: Any) -> Answer:  # noqa: N802
        mine = [each for each in self.sources if each.knowledge_base_id == asked["knowledgeBaseId"]]
        if any(each.name == asked["name"] for each in mine):
            raise Refused("ConflictException", "a data source of that name exists", 409)
        if len(mine) >= MAX_DATA_SOURCES:
            raise Refused("ServiceQuotaExceededException", "too many data sources", 402)
        configuration = asked["dataSourceConfiguration"]["s3Configuration"]
        source = Source(
            knowledge_base_id=asked["knowledgeBaseId"],
            data_source_id=f"DS{next(self._ids):08}",
            name=asked["name"],
            prefix=configuration["inclusionPrefixes"][0],
            statuses=self.next_sources,
        )
        self.next_sources = deque()
        self.sources.append(source)
        return {"dataSource": {"dataSourceId": source.data_source_id, "status": "CREATING"}}

    def GetDataSource(self, **asked: Any) -> Answer:  # noqa: N802
        statuses = self._source(asked).statuses
        return {"dataSource": {"status": statuses.popleft() if statuses else "AVAILABLE"}}

    def ListDataSources(self, **asked: Any) -> Answer:  # noqa: N802
        return {
            "dataSourceSummaries": [
                {"name": each.name, "dataSourceId": each.data_source_id}
                for each in self.sources
                if each.knowledge_base_id == asked["knowledgeBaseId"]
            ]
        }

    def StartIngestionJob(self, **asked: Any) -> Answer:  # noqa: N802
        source = self._source(asked)
        for job in self.jobs:
            if job.token == asked["clientToken"]:
                return {"ingestionJob": job.summary()}
        at_work = {job.source.knowledge_base_id for job in self.running}
        if source.knowledge_base_id in at_work:
            raise Refused("ConflictException", BUSY, 409)
        job = Job(
            source=source,
            job_id=f"JOB{next(self._ids):07}",
            token=asked["clientToken"],
            description=asked["description"],
            started_at=datetime.now(UTC),
            updated_at=datetime.now(UTC),
            polls=self.polls,
        )
        self.jobs.append(job)
        return {"ingestionJob": job.summary()}

    def GetIngestionJob(self, **asked: Any) -> Answer:  # noqa: N802
        job = next(each for each in self.jobs if each.job_id == asked["ingestionJobId"])
        if job in self.running:
            self._go_on(job)
        return {"ingestionJob": {**job.summary(), "failureReasons": job.reasons}}

    def ListIngestionJobs(self, **asked: Any) -> Answer:  # noqa: N802
        source = self._source(asked)
        mine = [job.summary() for job in self.jobs if job.source is source]
        return {"ingestionJobSummaries": mine[::-1]}

    def StopIngestionJob(self, **asked: Any) -> Answer:  # noqa: N802
        job = next(each for each in self.jobs if each.job_id == asked["ingestionJobId"])
        job.status, job.polls = "STOPPING", 0
        self.ends.appendleft("STOPPED")
        return {"ingestionJob": job.summary()}

    def GetKnowledgeBaseDocuments(self, **asked: Any) -> Answer:  # noqa: N802
        wanted = [each["s3"]["uri"] for each in asked["documentIdentifiers"]]
        return {"documentDetails": [self._detail(self._source(asked), uri) for uri in wanted]}

    def ListKnowledgeBaseDocuments(self, **asked: Any) -> Answer:  # noqa: N802
        source = self._source(asked)
        return {"documentDetails": [self._detail(source, uri) for uri in source.documents]}

    def _source(self, asked: Answer) -> Source:
        for source in self.sources:
            if source.data_source_id == asked["dataSourceId"]:
                return source
        raise Refused("ResourceNotFoundException", "no such data source", 404)

    def _go_on(self, job: Job) -> None:
        job.updated_at = datetime.now(UTC)
        if job.polls > 0:
            job.polls -= 1
            job.status = "IN_PROGRESS"
            return
        job.status = self.ends.popleft() if self.ends else "COMPLETE"
        if job.status == "COMPLETE":
            self._crawl(job.source)

    def _crawl(self, source: Source) -> None:
        """As a job does: what is new or changed is taken up, what is gone is forgotten."""
        listed = self._s3.list_objects_v2(Bucket=self._bucket, Prefix=source.prefix)
        etags = {each["Key"]: each["ETag"] for each in listed.get("Contents", [])}
        files = [key for key in etags if not key.endswith(".metadata.json")]
        found = {key: (etags[key], etags.get(f"{key}.metadata.json", "")) for key in files}
        for key, states in found.items():
            if source.etags.get(key) != states or self.verdicts[_name(key)]:
                verdicts = self.verdicts[_name(key)]
                status = verdicts.popleft() if verdicts else "INDEXED"
                source.documents[self._uri(key)] = {
                    "status": status,
                    "updatedAt": datetime.now(UTC),
                }
        for key in source.etags.keys() - found.keys():
            source.documents.pop(self._uri(key), None)
        source.etags = found

    def _detail(self, source: Source, uri: str) -> Answer:
        name = _name(uri)
        document = source.documents.get(uri, {"status": "NOT_FOUND"})
        answer = {"identifier": {"dataSourceType": "S3", "s3": {"uri": uri}}, **document}
        if document["status"] == "IN_PROGRESS":  # decided by the next look
            verdicts = self.verdicts[name]
            document["status"] = verdicts.popleft() if verdicts else "INDEXED"
        return answer

    def _uri(self, key: str) -> str:
        return f"s3://{self._bucket}/{key}"


def _name(key: str) -> str:
    return key.rpartition("/")[2]
