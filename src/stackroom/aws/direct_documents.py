"""Documents of data sources, ingested and deleted without a job."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from stackroom.aws.back_pressure import BUSY_CODES, back_pressure, means_work_under_way
from stackroom.aws.document_details import MOST_IDENTIFIERS, ids, to_detail
from stackroom.aws.document_names import NAMEABLE, CustomIds, Names, ObjectUris
from stackroom.aws.translation import code_of, knowledge_base_errors, message_of
from stackroom.errors import DataSourceNotSynced, DocumentsRefused
from stackroom.model import DataSource
from stackroom.ports.ingestion import NOT_FOUND, Busy, DocumentDetail, Submission

if TYPE_CHECKING:
    from types_boto3_bedrock_agent.client import AgentsforBedrockClient

# Too many at a time is a ValidationException ("can't exceed (10)"); under load, users also see
# ServiceUnavailableException, which the API model doesn't name [HatmanStack/RAGStack-Lambda
# lib/ragstack_common/ingestion.py].
_BUSY_CODES = BUSY_CODES | {"ServiceUnavailableException"}
# "You must sync your data source" before the first direct call [Bedrock user guide:
# kb-direct-ingestion]. In which words Bedrock refuses one nobody has told; these are assumed.
_NOT_SYNCED = re.compile(r"\bsync", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class BedrockDirectDocuments:
    """Of a CUSTOM data source, unless it is given the names of an S3 one's documents."""

    client: "AgentsforBedrockClient"
    names: Names = field(default_factory=CustomIds)

    def ingest(
        self, source: DataSource, documents: Sequence[Submission], *, token: str
    ) -> dict[str, DocumentDetail] | Busy:
        _check(documents)
        try:
            with knowledge_base_errors():
                answer = self.client.ingest_knowledge_base_documents(
                    **ids(source),
                    clientToken=token,
                    documents=list(map(self.names.document, documents)),
                )
        except Exception as error:
            with _refusals(), _first_sync(source):
                return back_pressure(error, _BUSY_CODES)
        return self._details(answer, [each.document_id for each in documents])

    def delete(
        self, source: DataSource, document_ids: Sequence[str], *, token: str
    ) -> dict[str, DocumentDetail] | Busy:
        _check(document_ids)
        try:
            with knowledge_base_errors():
                answer = self.client.delete_knowledge_base_documents(
                    **ids(source),
                    clientToken=token,
                    documentIdentifiers=list(map(self.names.identifier, document_ids)),
                )
        except Exception as error:
            with _first_sync(source):
                return back_pressure(error, _BUSY_CODES)
        return self._details(answer, document_ids)

    def details(self, source: DataSource, document_ids: Iterable[str]) -> dict[str, DocumentDetail]:
        # Never by listing: catalogs without number share a CUSTOM data source.
        ordered = sorted(set(document_ids))
        found: dict[str, DocumentDetail] = {}
        for start in range(0, len(ordered), MOST_IDENTIFIERS):
            asked = ordered[start : start + MOST_IDENTIFIERS]
            with _first_sync(source), knowledge_base_errors():
                answer = self.client.get_knowledge_base_documents(
                    **ids(source), documentIdentifiers=list(map(self.names.identifier, asked))
                )
            found |= dict.fromkeys(asked, NOT_FOUND) | self._details(answer, asked)
        return found

    def _details(
        self, answer: Mapping[str, Any], asked: Iterable[str]
    ) -> dict[str, DocumentDetail]:
        ids = {self.names.name(each): each for each in asked}
        return {
            ids[self.names.name_in(each["identifier"])]: to_detail(each)
            for each in answer.get("documentDetails", [])
        }


@dataclass(frozen=True, kw_only=True)
class BedrockLocatedDocuments:
    """Of S3 data sources."""

    client: "AgentsforBedrockClient"

    def takes(self, uri: str) -> bool:
        return NAMEABLE.fullmatch(uri) is not None

    def at(self, uris: Mapping[str, str]) -> BedrockDirectDocuments:
        return BedrockDirectDocuments(client=self.client, names=ObjectUris(uris))


@contextmanager
def _refusals() -> Iterator[None]:
    """Bedrock checks a call as a whole, and names what is wrong with any document in it."""
    try:
        yield
    except ClientError as error:
        if code_of(error) != "ValidationException":
            raise
        raise DocumentsRefused(message_of(error)) from error


@contextmanager
def _first_sync(source: DataSource) -> Iterator[None]:
    """Raises DataSourceNotSynced for what an S3 data source refuses before its first job."""
    try:
        yield
    except ClientError as error:
        is_refusal = code_of(error) == "ValidationException" and not means_work_under_way(error)
        if source.is_shared or not is_refusal or not _NOT_SYNCED.search(message_of(error)):
            raise
        raise DataSourceNotSynced(source.data_source_id) from error


def _check(documents: Sequence[object]) -> None:
    # botocore holds no list to its longest.
    assert 1 <= len(documents) <= MOST_IDENTIFIERS, "a call takes one to ten documents"
