"""
Parse records of the tables' streams: a document, catalog or receipt before and after a change, or a
cap that was reached.

https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_Record.html
"""

import hashlib
import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from stackroom.aws.dynamodb.cap_records import REACHED, to_reached
from stackroom.aws.dynamodb.catalog_records import METADATA, to_catalog
from stackroom.aws.dynamodb.document_items import DOCUMENT, to_document
from stackroom.aws.dynamodb.items import from_item
from stackroom.aws.dynamodb.receipt_records import RECEIPTS, to_receipt
from stackroom.catalogs.changes import Event, Stated, change_of

logger = logging.getLogger(__name__)


def event_in(record: Mapping[str, Any]) -> Event | None:
    """
    Return the event in a record; None, too, for an item that is none of ours: it is logged, and
    must not stop those behind it.

    The event's id is the same each time that AWS delivers the record.
    """
    change = record["dynamodb"]
    keys = from_item(change["Keys"])
    make = _maker(keys)
    if make is None:
        return None
    identity = "\n".join([*(str(keys[name]) for name in sorted(keys)), record["eventID"]])
    try:
        old, new = (
            make(from_item(change[image])) if image in change else None
            for image in ("OldImage", "NewImage")
        )
        return change_of(
            old,
            new,
            event_id=hashlib.sha256(identity.encode()).hexdigest()[:32],
            at=datetime.fromtimestamp(float(change["ApproximateCreationDateTime"]), UTC),
        )
    except (KeyError, TypeError, ValueError) as error:
        logger.error("malformed item left out", extra={**keys, "error": type(error).__name__})
        return None


def _maker(keys: Mapping[str, Any]) -> Callable[[dict[str, Any]], Stated] | None:
    for prefix, make in ((RECEIPTS, to_receipt), (REACHED, to_reached)):
        if keys.get("pk", "").startswith(prefix):
            return make
    if keys.get("sk", "").startswith(DOCUMENT):
        return to_document
    return to_catalog if "catalog_id" in keys and keys["sk"] == METADATA else None
