"""
How a data source names documents: a CUSTOM one by our ids, an S3 one by their objects' URIs.

[Bedrock user guide: kb-direct-ingestion-add] An S3 data source takes content and metadata by
location only, so that what the index knows of a document is what its sidecar says.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from stackroom.keys import SIDECAR_SUFFIX
from stackroom.ports.ingestion import Submission

if TYPE_CHECKING:
    from types_boto3_bedrock_agent.type_defs import (
        DocumentIdentifierTypeDef,
        KnowledgeBaseDocumentTypeDef,
        MetadataAttributeTypeDef,
        MetadataAttributeValueTypeDef,
    )

# S3BucketUri [API model bedrock-agent]: documents of S3 data sources are named by URIs that short,
# bucket name included, when they are ingested, deleted or asked for. A listing names any.
NAMEABLE = re.compile(r"s3://.{1,128}")


class Names(Protocol):
    def document(self, submission: Submission) -> "KnowledgeBaseDocumentTypeDef": ...

    def identifier(self, document_id: str) -> "DocumentIdentifierTypeDef": ...

    def name(self, document_id: str) -> str:
        """What the data source calls the document."""
        ...

    def name_in(self, identifier: Mapping[str, Any]) -> str:
        """What an answer calls one."""
        ...


@dataclass(frozen=True)
class CustomIds:
    """Of a CUSTOM data source."""

    def document(self, submission: Submission) -> "KnowledgeBaseDocumentTypeDef":
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
                "inlineAttributes": _to_attributes(submission.attributes),
            },
        }

    def identifier(self, document_id: str) -> "DocumentIdentifierTypeDef":
        return {"dataSourceType": "CUSTOM", "custom": {"id": document_id}}

    def name(self, document_id: str) -> str:
        return document_id

    def name_in(self, identifier: Mapping[str, Any]) -> str:
        return str(identifier["custom"]["id"])


@dataclass(frozen=True)
class ObjectUris:
    """Of an S3 data source; `by_id` is where each document lies."""

    by_id: Mapping[str, str]

    def document(self, submission: Submission) -> "KnowledgeBaseDocumentTypeDef":
        uri = self.by_id[submission.document_id]
        return {
            "content": {"dataSourceType": "S3", "s3": {"s3Location": {"uri": uri}}},
            # Nothing says that Bedrock looks for a sidecar that a direct call doesn't name.
            "metadata": {"type": "S3_LOCATION", "s3Location": {"uri": uri + SIDECAR_SUFFIX}},
        }

    def identifier(self, document_id: str) -> "DocumentIdentifierTypeDef":
        return {"dataSourceType": "S3", "s3": {"uri": self.by_id[document_id]}}

    def name(self, document_id: str) -> str:
        return self.by_id[document_id]

    def name_in(self, identifier: Mapping[str, Any]) -> str:
        return str(identifier["s3"]["uri"])


def _to_attributes(attributes: Mapping[str, str | list[str]]) -> "list[MetadataAttributeTypeDef]":
    return [{"key": key, "value": _to_value(value)} for key, value in attributes.items()]


def _to_value(value: str | list[str]) -> "MetadataAttributeValueTypeDef":
    if isinstance(value, str):
        return {"type": "STRING", "stringValue": value}
    return {"type": "STRING_LIST", "stringListValue": value}
