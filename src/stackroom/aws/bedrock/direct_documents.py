"""Ingest and delete documents of data sources without a job."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from stackroom.aws.bedrock.back_pressure import BUSY_CODES, back_pressure
from stackroom.aws.bedrock.document_details import MOST_IDENTIFIERS, ids, to_detail
from stackroom.aws.error_mapping import code_of, knowledge_base_errors, message_of
from stackroom.concurrency import chunks
from stackroom.errors import DocumentsRefused
from stackroom.model.attributes import Attribute
from stackroom.model.records import DataSource
from stackroom.runs.bedrock_calls import NOT_FOUND, Busy, DocumentDetail, Submission

if TYPE_CHECKING:
    from types_boto3_bedrock_agent.client import AgentsforBedrockClient
    from types_boto3_bedrock_agent.type_defs import (
        DocumentIdentifierTypeDef,
        KnowledgeBaseDocumentTypeDef,
        MetadataAttributeValueTypeDef,
    )

# Too many documents in a call are a ValidationException ("can't exceed (10)"); under load, users
# also see ServiceUnavailableException, which the API model doesn't list
# [HatmanStack/RAGStack-Lambda lib/ragstack_common/ingestion.py].
_BUSY_CODES = BUSY_CODES | {"ServiceUnavailableException"}


@dataclass(frozen=True, kw_only=True)
class BedrockDirectDocuments:
    """
    Direct calls to CUSTOM data sources, which identify documents by our ids and accept longer
    object URIs than S3 data sources do. [assumed: direct.long-uri]
    """

    client: "AgentsforBedrockClient"

    def ingest(
        self, source: DataSource, documents: Sequence[Submission], *, token: str
    ) -> dict[str, DocumentDetail] | Busy:
        _check(documents)
        try:
            with knowledge_base_errors():
                answer = self.client.ingest_knowledge_base_documents(
                    **ids(source), clientToken=token, documents=list(map(_to_document, documents))
                )
        except Exception as error:
            try:
                return back_pressure(error, _BUSY_CODES, [each.uri for each in documents])
            except ClientError as refusal:
                if code_of(refusal) != "ValidationException":
                    raise
                # Bedrock rejects the whole call, and its message names the document at fault.
                raise DocumentsRefused(message_of(refusal)) from refusal
        return _details(answer)

    def delete(
        self, source: DataSource, document_ids: Sequence[str], *, token: str
    ) -> dict[str, DocumentDetail] | Busy:
        _check(document_ids)
        try:
            with knowledge_base_errors():
                answer = self.client.delete_knowledge_base_documents(
                    **ids(source),
                    clientToken=token,
                    documentIdentifiers=list(map(_identifier, document_ids)),
                )
        except Exception as error:
            return back_pressure(error, _BUSY_CODES)
        return _details(answer)

    def details(self, source: DataSource, document_ids: Iterable[str]) -> dict[str, DocumentDetail]:
        # Not by listing, because many catalogs share a CUSTOM data source.
        found: dict[str, DocumentDetail] = {}
        for batch in chunks(sorted(set(document_ids)), of=MOST_IDENTIFIERS):
            with knowledge_base_errors():
                answer = self.client.get_knowledge_base_documents(
                    **ids(source), documentIdentifiers=list(map(_identifier, batch))
                )
            found |= dict.fromkeys(batch, NOT_FOUND) | _details(answer)
        return found


def _details(answer: Mapping[str, Any]) -> dict[str, DocumentDetail]:
    return {
        str(custom["id"]): to_detail(each)
        for each in answer.get("documentDetails", [])
        if (custom := each["identifier"].get("custom")) is not None
    }


def _to_document(submission: Submission) -> "KnowledgeBaseDocumentTypeDef":
    return {
        "content": {
            "dataSourceType": "CUSTOM",
            "custom": {
                "customDocumentIdentifier": {"id": submission.document_id},
                "sourceType": "S3_LOCATION",
                "s3Location": {"uri": submission.uri},
            },
        },
        "metadata": {
            "type": "IN_LINE_ATTRIBUTE",
            "inlineAttributes": [
                {"key": key, "value": _to_value(value)}
                for key, value in submission.attributes.items()
            ],
        },
    }


def _to_value(value: Attribute) -> "MetadataAttributeValueTypeDef":
    match value:
        case bool():
            return {"type": "BOOLEAN", "booleanValue": value}
        case int() | float():
            return {"type": "NUMBER", "numberValue": value}
        case list():
            return {"type": "STRING_LIST", "stringListValue": value}
        case str():
            return {"type": "STRING", "stringValue": value}


def _identifier(document_id: str) -> "DocumentIdentifierTypeDef":
    return {"dataSourceType": "CUSTOM", "custom": {"id": document_id}}


def _check(documents: Sequence[object]) -> None:
    # botocore doesn't check list lengths.
    assert 1 <= len(documents) <= MOST_IDENTIFIERS, "a call takes one to ten documents"
