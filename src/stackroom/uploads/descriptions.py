"""A document as its object has it now: its record, its sidecar, and what is wrong with it."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from stackroom.documents.bucket import StoredObject
from stackroom.documents.formats import CONTENT_TYPES, MAX_FILE_BYTES, extension_of, unsupported
from stackroom.documents.keys import Location, Unplaced, path_problem
from stackroom.documents.model import Catalog, Document, DocumentStatus
from stackroom.errors import ValidationError
from stackroom.uploads import sidecars

MAX_FILENAME_BYTES = 400  # leaves room for prefix and sidecar suffix in S3's 1,024-byte keys


@dataclass(frozen=True, kw_only=True)
class Description:
    """
    `problem` is why the object can't be taken; the sidecar quarantines it then. `is_known`: its
    record already tells of this very object, and the sidecar is the one that goes with it.
    """

    document: Document
    sidecar: bytes
    problem: str | None
    is_known: bool


def describe(
    location: Location,
    catalog: Catalog,
    record: Document | None,
    found: StoredObject,
    correlation_id: str | None,
    *,
    at: datetime,
) -> Description:
    problem, sidecar = _judged(location, catalog, found, uploaded_at=found.last_modified)
    document = Document(
        catalog_id=location.catalog_id,
        document_id=location.document_id,
        filename=location.filename,
        s3_key=location.key,
        size=found.size,
        etag=found.etag,
        version_id=found.version_id,
        content_type=CONTENT_TYPES.get(extension_of(location.filename), found.content_type),
        fingerprint=_fingerprint(found, problem),
        status=DocumentStatus.PENDING,
        uploaded_at=found.last_modified,
        updated_at=at,
        lingering=record is not None and record.lingering,
        indexed_at=record.indexed_at if record else None,
        correlation_id=correlation_id,
        opened_at=record.opened_at if record else None,
        counted=record.counted if record else None,
        version=record.version if record else 0,
    )
    is_known = record is not None and says_the_same(record, document)
    if record is not None and is_known:
        _, sidecar = _judged(location, catalog, found, uploaded_at=record.uploaded_at)
    return Description(document=document, sidecar=sidecar, problem=problem, is_known=is_known)


def describe_unplaced(
    unplaced: Unplaced,
    record: Document | None,
    found: StoredObject,
    correlation_id: str | None,
    *,
    at: datetime,
) -> Document:
    return Document(
        catalog_id=unplaced.partition,
        document_id=unplaced.document_id,
        filename=unplaced.key,  # no catalog says what of it is the name
        s3_key=unplaced.key,
        size=found.size,
        etag=found.etag,
        version_id=found.version_id,
        fingerprint=_fingerprint(found, unplaced.reason),
        status=DocumentStatus.FAILED,
        status_reason=unplaced.reason,
        uploaded_at=found.last_modified,
        updated_at=at,
        correlation_id=correlation_id,
        opened_at=record.opened_at if record else None,
        counted=record.counted if record else None,
        version=record.version if record else 0,
    )


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


def _judged(
    location: Location, catalog: Catalog, found: StoredObject, *, uploaded_at: datetime
) -> tuple[str | None, bytes]:
    """What is wrong with the object, if anything, and the sidecar that it should have."""
    quarantine = sidecars.quarantine(
        catalog_id=location.catalog_id, document_id=location.document_id
    )
    if problem := _file_problem(location.filename, found.size) or found.unreadable:
        return problem, quarantine
    try:
        sidecar = sidecars.sidecar(
            user_id=catalog.user_id,
            catalog_id=catalog.catalog_id,
            document_id=location.document_id,
            filename=location.filename,
            uploaded_at=uploaded_at,
            attributes=sidecars.user_attributes(found.attributes),
        )
    except ValidationError as error:
        return str(error), quarantine
    return None, sidecar


def _file_problem(filename: str, size: int) -> str | None:
    if problem := path_problem(filename):
        return problem
    length = len(filename.encode())
    if length > MAX_FILENAME_BYTES:
        return f"the file name has {length} bytes; at most {MAX_FILENAME_BYTES} are allowed"
    if problem := unsupported(filename):
        return problem
    if size == 0:
        return "the file is empty"
    if size > MAX_FILE_BYTES:
        return f"File exceeds {MAX_FILE_BYTES // 1024**2}MB limit"
    return None


def _fingerprint(found: StoredObject, problem: str | None) -> str:
    """
    Of what a drop can change: the bytes, the attributes, and what is wrong with them or their
    location (a catalog may be opened, or its limit raised, under an object that stays as it is).
    """
    attributes = (f"{name}={found.attributes[name]}" for name in sorted(found.attributes))
    parts = (found.etag, str(found.size), problem or "", *attributes)
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:32]
