"""
A scripted Amazon Bedrock: knowledge bases with state, whose answers a test can bend.

Documents are those that lie in the bucket, or those that direct calls brought (`bedrock_direct`).
"""

from collections import defaultdict, deque
from datetime import UTC, datetime
from itertools import count
from typing import Any

from tests.workflow.bedrock_crawl import Crawler
from tests.workflow.bedrock_direct import DirectCalls
from tests.workflow.bedrock_records import Answer, Job, Refused, SharedSource, Source
from tests.workflow.bedrock_search import results
from tests.workflow.bedrock_wire import Scripted

MAX_DATA_SOURCES = 5  # of a knowledge base [AWS General Reference: Amazon Bedrock quotas]
BUSY = "You have reached the maximum number of concurrent ingestion jobs per knowledge base: 1"
DIRECT_AT_WORK = "There is an ongoing KnowledgeBaseDocuments API request in this knowledge base"


class Bedrock(Scripted):
    def __init__(self, s3: Any, bucket: str) -> None:
        super().__init__()
        self._ids = count(1)
        self.sources: list[Source] = []
        self.jobs: list[Job] = []
        self.next_sources: deque[str] = deque()  # statuses of the next data source
        self.going: deque[str] = deque()  # statuses of a data source until it is deleted
        self.polls = 1
        self.ends: deque[str] = deque()  # how the next jobs end, COMPLETE where this is empty
        self.verdicts: dict[str, deque[str]] = defaultdict(deque)  # by file name, else INDEXED
        self._crawler = Crawler(s3, bucket, self.verdicts)
        self.direct = DirectCalls(self.verdicts, self._is_job_running)

    def end_jobs(self) -> None:
        """Jobs are over at the next look at them, those that are yet to come too."""
        self.polls = 0
        for job in self.jobs:
            job.must_end = True

    @property
    def running(self) -> list[Job]:
        return [job for job in self.jobs if job.status in ("STARTING", "IN_PROGRESS", "STOPPING")]

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
        source = self._source(asked)
        if source.is_going and not source.statuses:
            self.sources.remove(source)
            raise Refused("ResourceNotFoundException", "no such data source", 404)
        return {
            "dataSource": {"status": source.statuses.popleft() if source.statuses else "AVAILABLE"}
        }

    def DeleteDataSource(self, **asked: Any) -> Answer:  # noqa: N802
        source = self._source(asked)
        source.is_going, source.statuses = True, self.going.copy()
        return {"status": "DELETING"}

    def ListDataSources(self, **asked: Any) -> Answer:  # noqa: N802
        return {
            "dataSourceSummaries": [
                {
                    "name": each.name,
                    "dataSourceId": each.data_source_id,
                    "status": "DELETING" if each.is_going else "AVAILABLE",
                }
                for each in self.sources
                if each.knowledge_base_id == asked["knowledgeBaseId"]
            ]
        }

    def StartIngestionJob(self, **asked: Any) -> Answer:  # noqa: N802
        source = self._source(asked)
        for job in self.jobs:
            if job.token == asked["clientToken"]:
                return {"ingestionJob": job.summary()}
        if self._is_job_running(source.knowledge_base_id):
            raise Refused("ConflictException", BUSY, 409)
        if any(each.is_at_work for each in self._shared_with(source.knowledge_base_id)):
            raise Refused("ValidationException", DIRECT_AT_WORK)
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
        if asked["dataSourceId"] in self.direct.sources:
            return self.direct.look(**asked)
        source = self._source(asked)
        wanted = [each["s3"]["uri"] for each in asked["documentIdentifiers"]]
        return {"documentDetails": [self._crawler.look(source, uri) for uri in wanted]}

    def IngestKnowledgeBaseDocuments(self, **asked: Any) -> Answer:  # noqa: N802
        return self.direct.ingest(**asked)

    def DeleteKnowledgeBaseDocuments(self, **asked: Any) -> Answer:  # noqa: N802
        return self.direct.delete(**asked)

    def ListKnowledgeBaseDocuments(self, **asked: Any) -> Answer:  # noqa: N802
        source = self._source(asked)
        return {"documentDetails": [self._crawler.look(source, uri) for uri in source.documents]}

    def Retrieve(self, **asked: Any) -> Answer:  # noqa: N802
        knowledge_base_id = asked["knowledgeBaseId"]
        own = [each for each in self.sources if each.knowledge_base_id == knowledge_base_id]
        places = [each.passages for each in own]
        places += [each.passages for each in self._shared_with(knowledge_base_id)]
        passages = [passage for each in places for passage in each.values()]
        return {"retrievalResults": results(passages, asked)}

    def _is_job_running(self, knowledge_base_id: str) -> bool:
        return any(each.source.knowledge_base_id == knowledge_base_id for each in self.running)

    def _shared_with(self, knowledge_base_id: str) -> list[SharedSource]:
        shared = self.direct.sources.values()
        return [each for each in shared if each.knowledge_base_id == knowledge_base_id]

    def _source(self, asked: Answer) -> Source:
        for source in self.sources:
            if source.data_source_id == asked["dataSourceId"]:
                return source
        raise Refused("ResourceNotFoundException", "no such data source", 404)

    def _go_on(self, job: Job) -> None:
        job.updated_at = datetime.now(UTC)
        if job.polls > 0 and not job.must_end:
            job.polls -= 1
            job.status = "IN_PROGRESS"
            return
        job.status = self.ends.popleft() if self.ends else "COMPLETE"
        if job.status == "COMPLETE":
            self._crawler.crawl(job.source)
