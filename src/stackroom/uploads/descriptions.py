"""A document's record as its object has it now, and how it compares with the one that is kept."""

import hashlib
from datetime import datetime

from stackroom.formats import CONTENT_TYPES, extension_of
from stackroom.keys import Location, Unplaced
from stackroom.model import Document, DocumentStatus
from stackroom.ports.bucket import StoredObject


def describe(
    place: Location,
    record: Document | None,
    found: StoredObject,
    correlation_id: str | None,
    *,
    at: datetime,
) -> Document:
    return Document(
        catalog_id=place.catalog_id,
        document_id=place.document_id,
        filename=place.filename,
        s3_key=place.key,
        size=found.size,
        etag=found.etag,
        version_id=found.version_id,
        content_type=CONTENT_TYPES.get(extension_of(place.filename), found.content_type),
        status=DocumentStatus.PENDING,
        uploaded_at=found.last_modified,
        updated_at=at,
        lingering=record is not None and record.lingering,
        indexed_at=record.indexed_at if record else None,
        correlation_id=correlation_id,
        version=record.version if record else 0,
    )


def describe_unplaced(
    place: Unplaced,
    shelf: str,
    record: Document | None,
    found: StoredObject,
    correlation_id: str | None,
    *,
    at: datetime,
) -> Document:
    return Document(
        catalog_id=shelf,
        document_id=place.document_id,
        filename=place.key,  # it has no place that could say the rest
        s3_key=place.key,
        size=found.size,
        etag=found.etag,
        version_id=found.version_id,
        fingerprint=fingerprint_of(found, place.reason),
        status=DocumentStatus.FAILED,
        status_reason=place.reason,
        uploaded_at=found.last_modified,
        updated_at=at,
        correlation_id=correlation_id,
        version=record.version if record else 0,
    )


def fingerprint_of(found: StoredObject, problem: str | None) -> str:
    """
    Of what a drop can change: the bytes, the attributes, and what is wrong with them or their place
    (a catalog may be opened, or its limit raised, under an object that stays as it is).
    """
    attributes = (f"{name}={found.attributes[name]}" for name in sorted(found.attributes))
    parts = (found.etag, str(found.size), problem or "", *attributes)
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:32]


def says_the_same(record: Document, document: Document) -> bool:
    """
    Whether the record already tells of this object.

    A failed document that is dropped again, byte for byte, is its owner's way of asking for
    another try; the same event delivered twice is not, and has the version that was recorded.
    """
    if record.status is DocumentStatus.DELETING or record.fingerprint != document.fingerprint:
        return False
    if record.status is DocumentStatus.FAILED:
        return (record.version_id, record.uploaded_at) == (
            document.version_id,
            document.uploaded_at,
        )
    return True
