"""A record and what a listing tells of its object: what seems wrong, for a HEAD to show."""

from dataclasses import dataclass
from datetime import datetime

from stackroom.keys import can_have_sidecar
from stackroom.model import Document, DocumentStatus
from stackroom.ports.inventory import ListedObject
from stackroom.reconciler.discrepancies import Kind


@dataclass
class Listed:
    """An object and when its sidecar was written; None if there is none."""

    item: ListedObject
    sidecar: datetime | None = None


def difference(record: Document, listed: Listed) -> Kind | None:
    if record.status in (DocumentStatus.DELETING, DocumentStatus.UPLOADING):
        return Kind.STALE_RECORD
    if not is_the_same(record, listed.item):
        return Kind.STALE_RECORD
    return None if _has_its_sidecar(record, listed) else Kind.WRONG_SIDECAR


def is_the_same(record: Document, item: ListedObject) -> bool:
    """By what a listing tells; a HEAD gives whole seconds, and a listing may give fractions."""
    at = record.uploaded_at.replace(microsecond=0)
    return has_the_same_content(record, item) and at == item.last_modified.replace(microsecond=0)


def has_the_same_content(record: Document, item: ListedObject) -> bool:
    return (record.etag, record.size) == (item.etag, item.size)


def _has_its_sidecar(record: Document, listed: Listed) -> bool:
    """Whoever writes a sidecar then writes the record: a later one is of somebody who failed to."""
    if not can_have_sidecar(record.s3_key):
        return True
    known_since = record.present_since or record.updated_at
    return listed.sidecar is not None and listed.sidecar <= known_since
