"""
The documents of an IngestKnowledgeBaseDocuments request: what they are and where they lie.

One whose identifier is known replaces that document: rule document.overwritten.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from bedrock_kb_simulator.documents import key_of, kind_of
from bedrock_kb_simulator.drafts import Draft
from bedrock_kb_simulator.errors import ServiceError, Unindexable
from bedrock_kb_simulator.indexing import Indexing
from bedrock_kb_simulator.managed_ingestion import ingestion_of
from bedrock_kb_simulator.objects import ObjectMissing, located
from bedrock_kb_simulator.rules import (
    DIRECT_PAYLOAD,
    DOCUMENT_CONTENT,
    FILE_FORMAT,
    FILE_UNREADABLE,
)
from bedrock_kb_simulator.sidecars import Attributes, Bounds, attributes
from bedrock_kb_simulator.store import Row, loaded
from bedrock_kb_simulator.vector_ingestion import VectorIngestion

_EXTENSIONS = {
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "image/jpeg": "jpg",
    "image/png": "png",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
}


@dataclass(frozen=True, kw_only=True)
class Content:
    """Content is at `uri` or in `body`; attributes are at `sidecar_uri` or given."""

    identifier: str
    uri: str | None = None
    body: bytes = b""
    filename: str = ""
    sidecar_uri: str | None = None
    given: Attributes = field(default_factory=Attributes)


def contents_of(source: Row, documents: Iterable[dict[str, Any]]) -> list[Content]:
    """Raises ValidationException for a combination that the data source does not take."""
    return [_content(source, document) for document in documents]


def refuse_too_much(documents: Iterable[dict[str, Any]]) -> None:
    """Raise ValidationException for more content than one request takes."""
    total = sum(_inline_size(document["content"].get("custom") or {}) for document in documents)
    if total > DIRECT_PAYLOAD.limit:
        raise DIRECT_PAYLOAD.broken()


def drafted(indexing: Indexing, ingestion: VectorIngestion, content: Content) -> Draft:
    """Raises Unindexable."""
    if content.uri is None:
        etag = hashlib.md5(content.body, usedforsecurity=False).hexdigest()
        return Draft(
            identifier=content.identifier,
            pieces=indexing.drafts.pieces(ingestion, content.body, content.filename),
            attributes=content.given,
            etag=etag,
        )
    try:
        found = indexing.drafts.objects.find(*located(content.uri))
        sidecar = (
            indexing.drafts.objects.find(*located(content.sidecar_uri or ""))
            if content.sidecar_uri
            else None
        )
    except ObjectMissing as error:
        raise Unindexable(FILE_UNREADABLE.message) from error
    draft = indexing.drafts.read(ingestion, found, sidecar)
    given = draft.attributes if sidecar else content.given
    return Draft(
        identifier=content.identifier,
        pieces=draft.pieces,
        attributes=given,
        etag=draft.etag,
        uri=content.uri,
        sidecar_etag=draft.sidecar_etag,
    )


def _content(source: Row, document: dict[str, Any]) -> Content:
    content, metadata = document["content"], document.get("metadata") or {}
    kind = content["dataSourceType"]
    custom = content.get("custom") or {}
    identifier = {
        "dataSourceType": kind,
        "s3": (content.get("s3") or {}).get("s3Location"),
        "custom": custom.get("customDocumentIdentifier"),
    }
    key = key_of(source, identifier)
    sidecar_uri = (metadata.get("s3Location") or {}).get("uri")
    _check(kind_of(source), custom, metadata)
    if kind == "S3":  # rule document.by-uri: wherever it lies
        return Content(identifier=key, uri=key, sidecar_uri=sidecar_uri)
    bounds = ingestion_of(loaded(source["body"])).bounds
    given = _given(metadata.get("inlineAttributes") or (), bounds)
    if custom["sourceType"] == "S3_LOCATION":
        uri = custom["s3Location"]["uri"]
        return Content(identifier=key, uri=uri, sidecar_uri=sidecar_uri, given=given)
    body, filename = _inline(custom.get("inlineContent") or {})
    return Content(identifier=key, body=body, filename=filename, given=given)


def _inline_size(custom: dict[str, Any]) -> int:
    content = custom.get("inlineContent") or {}
    text = (content.get("textContent") or {}).get("data") or ""
    body = (content.get("byteContent") or {}).get("data") or b""
    return len(text.encode()) + len(body)


def _check(kind: str, custom: dict[str, Any], metadata: dict[str, Any]) -> None:
    by_location = metadata.get("type") in (None, "S3_LOCATION")
    if kind == "S3" and not by_location:
        raise DOCUMENT_CONTENT.broken(problem="An S3 data source takes metadata from S3 only")
    if custom.get("sourceType") == "IN_LINE" and metadata and by_location:
        raise DOCUMENT_CONTENT.broken(problem="Inline content needs inline metadata")
    if custom.get("sourceType") == "S3_LOCATION" and not custom.get("s3Location"):
        raise DOCUMENT_CONTENT.broken(problem="s3Location is missing")
    if metadata.get("type") == "S3_LOCATION" and not metadata.get("s3Location"):
        raise DOCUMENT_CONTENT.broken(problem="s3Location of the metadata is missing")
    if custom.get("sourceType") == "IN_LINE" and not _has_content(custom):
        raise DOCUMENT_CONTENT.broken(problem="inlineContent is missing")


def _has_content(custom: dict[str, Any]) -> bool:
    content = custom.get("inlineContent") or {}
    member = {"TEXT": "textContent", "BYTE": "byteContent"}.get(content.get("type", ""))
    return member is not None and content.get(member) is not None


def _given(inline: Iterable[dict[str, Any]], bounds: Bounds) -> Attributes:
    pairs = ((attribute["key"], {"value": attribute["value"]}) for attribute in inline)
    try:
        return attributes(pairs, bounds)
    except (ValueError, KeyError) as error:
        problem = "The inline attributes are invalid"
        raise ServiceError("ValidationException", problem) from error


def _inline(content: dict[str, Any]) -> tuple[bytes, str]:
    if content.get("type") == "TEXT":
        return content["textContent"]["data"].encode(), "inline.txt"
    given = content["byteContent"]
    extension = _EXTENSIONS.get(given["mimeType"])
    if extension is None:
        raise DOCUMENT_CONTENT.broken(problem=FILE_FORMAT.message.format(count=1))
    return given["data"], f"inline.{extension}"
