"""The types of documents' attributes, and dates as numbers that stores can compare."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum

# MetadataAttributeValue [API model of bedrock-agent]: no list of numbers, and no date.
Attribute = str | bool | int | float | list[str]

FOLDER = "folder"
UPLOADED_AT = "uploaded_at"
UPLOADED_TS = "uploaded_ts"
TEXT_ID = "text_id"  # a passage's text; set in direct calls, never in a sidecar
# The limit for one catalog's record, which a search reads: some 20 KB in the worst case.
MOST_RECORDED = 200
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
_DAY = 10  # characters of a date without a time


class AttributeType(StrEnum):
    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    LIST = "list"


AttributeTypes = Mapping[str, frozenset[AttributeType]]

# Attributes that Stackroom sets itself, on every document or on some.
_BUILT_IN: AttributeTypes = {
    "document_id": frozenset({AttributeType.TEXT}),
    "filename": frozenset({AttributeType.TEXT}),
    FOLDER: frozenset({AttributeType.LIST}),
    UPLOADED_AT: frozenset({AttributeType.DATE}),
    UPLOADED_TS: frozenset({AttributeType.NUMBER}),
}


def seconds_of(text: str) -> int | None:
    """Return the seconds since 1970 of an ISO 8601 date or time, in UTC by default; else None."""
    if not _MOMENT.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return None


def is_day(text: str) -> bool:
    """Return True if a text that `seconds_of` accepts names a day without a time."""
    return len(text) == _DAY


def timestamp_attribute(date: str) -> str:
    """
    Return the name of the attribute that stores a date as a number, in addition to the text that
    people read, because stores compare only numbers [S3 user guide: s3-vectors-metadata-filtering].
    """
    return UPLOADED_TS if date == UPLOADED_AT else f"{date}_ts"


def plain_folder(path: str) -> str:
    """Return a folder's path as it is stored in the attribute `folder`."""
    return unicodedata.normalize("NFC", path).strip("/")


def record_entries(attributes: Mapping[str, Attribute]) -> frozenset[str]:
    """Return a document's own attributes as a catalog records them: `name:type` each."""
    return frozenset(f"{name}:{_type_of(name, attributes)}" for name in attributes)


def known_types(records: Iterable[frozenset[str]]) -> AttributeTypes:
    """Return attribute types by name: those in the records and the built-in ones."""
    types = dict(_BUILT_IN)
    for each in frozenset[str]().union(*records):
        name, _, kind = each.rpartition(":")
        types[name] = types.get(name, frozenset()) | {AttributeType(kind)}
    return types


def _type_of(name: str, attributes: Mapping[str, Attribute]) -> AttributeType:
    value = attributes[name]
    match value:
        case bool():
            return AttributeType.BOOLEAN
        case int() | float():
            return AttributeType.NUMBER
        case list():
            return AttributeType.LIST
        case str():
            seconds = seconds_of(value)
            is_date = seconds is not None and attributes.get(timestamp_attribute(name)) == seconds
            return AttributeType.DATE if is_date else AttributeType.TEXT
