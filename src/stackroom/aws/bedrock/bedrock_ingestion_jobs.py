"""Ingestion jobs of Bedrock knowledge bases, and what they report of documents."""

import json
import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from stackroom.aws.bedrock.back_pressure import back_pressure
from stackroom.aws.bedrock.document_details import MOST_IDENTIFIERS, ids, most_listed, to_detail
from stackroom.aws.error_mapping import knowledge_base_errors
from stackroom.concurrency import chunks
from stackroom.model.records import DataSource
from stackroom.runs.bedrock_calls import Busy, DocumentDetail, Job, JobState

if TYPE_CHECKING:
    from types_boto3_bedrock_agent.client import AgentsforBedrockClient
    from types_boto3_bedrock_agent.type_defs import (
        DocumentIdentifierTypeDef,
        IngestionJobTypeDef,
        KnowledgeBaseDocumentDetailTypeDef,
    )

# IngestionJobStatus [API model bedrock-agent]
_STATES = {
    "STARTING": JobState.RUNNING,
    "IN_PROGRESS": JobState.RUNNING,
    "STOPPING": JobState.RUNNING,
    "COMPLETE": JobState.COMPLETE,
    "FAILED": JobState.FAILED,
    "STOPPED": JobState.STOPPED,
}
# S3BucketUri [API model bedrock-agent]: documents of S3 data sources are asked for by URIs that
# short, bucket name included. A listing names any.
_NAMEABLE = re.compile(r"s3://.{1,128}")
# Both calls share 5 requests/s; past so many documents, one listing is the cheaper way.
_LIST_ABOVE = 50


@dataclass(frozen=True, kw_only=True)
class BedrockIngestionJobs:
    """Ingestion jobs over the Bedrock API. `managed` are the MANAGED knowledge bases."""

    client: "AgentsforBedrockClient"
    managed: Container[str] = frozenset()

    def start(self, source: DataSource, *, token: str, description: str) -> Job | Busy:
        try:
            with knowledge_base_errors():
                answer = self.client.start_ingestion_job(
                    **ids(source), clientToken=token, description=description
                )
        except Exception as error:
            return back_pressure(error)
        return _to_job(answer["ingestionJob"])

    def get(self, source: DataSource, job_id: str) -> Job | None:
        try:
            with knowledge_base_errors():
                answer = self.client.get_ingestion_job(**ids(source), ingestionJobId=job_id)
        except self.client.exceptions.ResourceNotFoundException:
            return None
        return _to_job(answer["ingestionJob"])

    def running(self, source: DataSource, *, description: str) -> Job | None:
        with knowledge_base_errors():
            answer = self.client.list_ingestion_jobs(
                **ids(source), sortBy={"attribute": "STARTED_AT", "order": "DESCENDING"}
            )
        jobs = answer["ingestionJobSummaries"]
        mine = (each for each in jobs if each.get("description") == description)
        # A summary is a job without its failure reasons.
        return next((_to_job(cast("IngestionJobTypeDef", each)) for each in mine), None)

    def stop(self, source: DataSource, job_id: str) -> None:
        try:
            with knowledge_base_errors():
                self.client.stop_ingestion_job(**ids(source), ingestionJobId=job_id)
        except (
            self.client.exceptions.ConflictException,
            self.client.exceptions.ValidationException,
        ):
            return  # it is stopping already, or over

    def details(self, source: DataSource, uris: Iterable[str]) -> dict[str, DocumentDetail]:
        wanted = set(uris)
        # One longer key must not cost its catalog all verdicts.
        can_get = len(wanted) <= _LIST_ABOVE and all(map(_NAMEABLE.fullmatch, wanted))
        with knowledge_base_errors():
            details = self._get(source, wanted) if can_get else self._list(source)
            return {
                each["identifier"]["s3"]["uri"]: to_detail(each)
                for each in details
                if each["identifier"].get("s3", {}).get("uri") in wanted
            }

    def _get(
        self, source: DataSource, uris: set[str]
    ) -> "Iterator[KnowledgeBaseDocumentDetailTypeDef]":
        for some in chunks(sorted(uris), of=MOST_IDENTIFIERS):
            identifiers: list[DocumentIdentifierTypeDef] = [
                {"dataSourceType": "S3", "s3": {"uri": uri}} for uri in some
            ]
            answer = self.client.get_knowledge_base_documents(
                **ids(source), documentIdentifiers=identifiers
            )
            yield from answer.get("documentDetails", ())

    def _list(self, source: DataSource) -> "Iterator[KnowledgeBaseDocumentDetailTypeDef]":
        pages = self.client.get_paginator("list_knowledge_base_documents").paginate(
            # Handed on to each call, which the paginator's own type doesn't know.
            **ids(source),
            maxResults=most_listed(source, self.managed),  # type: ignore[call-arg]
        )
        for page in pages:
            yield from page["documentDetails"]


def _to_job(job: "IngestionJobTypeDef") -> Job:
    return Job(
        job_id=job["ingestionJobId"],
        state=_STATES[job["status"]],
        started_at=job["startedAt"],
        updated_at=job["updatedAt"],
        failed_documents=job.get("statistics", {}).get("numberOfDocumentsFailed", 0),
        failure_reasons=tuple(
            reason for entry in job.get("failureReasons", ()) for reason in _reasons(entry)
        ),
    )


def _reasons(entry: str) -> list[str]:
    """
    Return the failure reasons. Users report plain sentences, and also entries that are JSON lists
    of sentences.
    """
    try:
        listed = json.loads(entry)
    except ValueError:
        return [entry]
    return [str(each) for each in listed] if isinstance(listed, list) else [entry]
