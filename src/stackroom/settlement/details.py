"""
What Bedrock says of documents, by our own ids.

An S3 data source knows a document by its object's URI, a CUSTOM one by the id that we gave it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from stackroom.keys import Location, locate, unplaced_id_of
from stackroom.model import DataSource, Document, PerSourceType
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.ingestion import NOT_FOUND, DirectDocuments, DocumentDetail, IngestionJobs


class Details(Protocol):
    def of(self, source: DataSource, documents: Iterable[Document]) -> dict[str, DocumentDetail]:
        """By document id; what it doesn't know reads NOT_FOUND. Raises KnowledgeBaseThrottled."""
        ...

    def document_id(self, identifier: str) -> str:
        """Our id of what the data source lists as that."""
        ...


@dataclass(frozen=True, kw_only=True)
class DetailsByUri:
    jobs: IngestionJobs
    bucket: DocumentBucket

    def of(self, source: DataSource, documents: Iterable[Document]) -> dict[str, DocumentDetail]:
        uris = {each.document_id: self.bucket.uri_of(each.s3_key) for each in documents}
        said = self.jobs.details(source, uris.values()) if uris else {}
        return {document_id: said.get(uri, NOT_FOUND) for document_id, uri in uris.items()}

    def document_id(self, identifier: str) -> str:
        key = key_of(self.bucket, identifier)
        location = locate(key)
        return location.document_id if isinstance(location, Location) else unplaced_id_of(key)


@dataclass(frozen=True, kw_only=True)
class DetailsById:
    direct: DirectDocuments

    def of(self, source: DataSource, documents: Iterable[Document]) -> dict[str, DocumentDetail]:
        ids = [each.document_id for each in documents]
        said = self.direct.details(source, ids) if ids else {}
        return {each: said.get(each, NOT_FOUND) for each in ids}

    def document_id(self, identifier: str) -> str:
        return identifier


def key_of(bucket: DocumentBucket, uri: str) -> str:
    return uri.removeprefix(bucket.uri_of(""))


def details_by(
    *, jobs: IngestionJobs, direct: DirectDocuments, bucket: DocumentBucket
) -> PerSourceType[Details]:
    return PerSourceType(
        s3=DetailsByUri(jobs=jobs, bucket=bucket), custom=DetailsById(direct=direct)
    )
