"""The calls that ingest documents into Bedrock or delete them from it, and its status for each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from stackroom.model.attributes import Attribute
from stackroom.model.records import DataSource


class JobState(StrEnum):
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, kw_only=True)
class Job:
    job_id: str
    state: JobState
    started_at: datetime
    updated_at: datetime
    failed_documents: int = 0
    failure_reasons: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Busy:
    """Back-pressure, not failure: Bedrock would have taken the call at a quieter moment."""

    why: str


@dataclass(frozen=True, kw_only=True)
class DocumentDetail:
    """
    A knowledge base's answer about one document: a Bedrock DocumentStatus and when it changed.
    """

    status: str
    updated_at: datetime | None
    reason: str | None = None


# The knowledge base has never heard of the document, or no longer has it.
NOT_FOUND = DocumentDetail(status="NOT_FOUND", updated_at=None)


class IngestionJobs(Protocol):
    def start(self, source: DataSource, *, token: str, description: str) -> Job | Busy: ...

    def get(self, source: DataSource, job_id: str) -> Job | None: ...

    def running(self, source: DataSource, *, description: str) -> Job | None:
        """
        Return the running job with that description, in case the answer to our own call was lost.
        """

    def stop(self, source: DataSource, job_id: str) -> None: ...

    def details(self, source: DataSource, uris: Iterable[str]) -> dict[str, DocumentDetail]:
        """
        Return Bedrock's detail of each document, by URI. A document that the knowledge base doesn't
        know has NOT_FOUND or is missing.
        """


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A document to ingest directly, with exactly the attributes of its sidecar."""

    document_id: str
    uri: str
    attributes: Mapping[str, Attribute]


class DirectDocuments(Protocol):
    """
    Ingests and deletes documents of a CUSTOM data source directly, at most ten in a call.

    A call returns the status of each document at that moment, by document id, and Bedrock works on:
    until the documents are settled, the call counts among the account's concurrent calls.
    """

    def ingest(
        self, source: DataSource, documents: Sequence[Submission], *, token: str
    ) -> dict[str, DocumentDetail] | Busy:
        """
        Send the documents to Bedrock. Raises DocumentsRefused if Bedrock refuses any one of them.
        """

    def delete(
        self, source: DataSource, document_ids: Sequence[str], *, token: str
    ) -> dict[str, DocumentDetail] | Busy: ...

    def details(self, source: DataSource, document_ids: Iterable[str]) -> dict[str, DocumentDetail]:
        """
        Return Bedrock's detail of each document; one that it doesn't know has NOT_FOUND. Raises
        KnowledgeBaseThrottled.
        """
