"""Describe a document as its object is now: its record, its sidecar, and what is wrong with it."""

import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.errors import HeaderParseError
from email.header import Header, decode_header, make_header
from itertools import accumulate

from stackroom.access.tenancy import REJECTED, SHARED
from stackroom.errors import ValidationError
from stackroom.model.attributes import (
    FOLDER,
    TEXT_ID,
    UPLOADED_AT,
    UPLOADED_TS,
    Attribute,
    plain_folder,
    record_entries,
    seconds_of,
    timestamp_attribute,
)
from stackroom.model.bucket import StoredObject
from stackroom.model.formats import CONTENT_TYPES, MAX_FILE_BYTES, extension_of, unsupported
from stackroom.model.keys import Location, Unplaced, digest, path_problem
from stackroom.model.records import Document, DocumentStatus

MAX_FILENAME_BYTES = 400  # leaves room for prefix and sidecar suffix in S3's 1,024-byte keys


@dataclass(frozen=True, kw_only=True)
class Description:
    """
    The record and sidecar that an object should have. `problem` is the reason to reject the object;
    the sidecar then quarantines it. `is_known` if its record already describes this object, and the
    sidecar matches it. `attribute_types` are those of the owner's attributes, as a catalog records
    them.
    """

    document: Document
    sidecar: bytes
    attribute_types: frozenset[str]
    problem: str | None
    is_known: bool


def describe(
    location: Location,
    record: Document | None,
    found: StoredObject,
    correlation_id: str | None,
    *,
    at: datetime,
) -> Description:
    judged = _judged(location, found, uploaded_at=found.last_modified)
    # A deleted version must not answer until the new one does.
    before = None if record and record.status is DocumentStatus.DELETING else record
    document = Document(
        catalog_id=location.catalog_id,
        document_id=location.document_id,
        filename=location.filename,
        s3_key=location.key,
        size=found.size,
        etag=found.etag,
        version_id=found.version_id,
        content_type=CONTENT_TYPES.get(extension_of(location.filename), found.content_type),
        fingerprint=_fingerprint(found, judged.problem),
        status=DocumentStatus.PENDING,
        uploaded_at=found.last_modified,
        updated_at=at,
        lingering=record is not None and record.lingering,
        indexed_at=before.indexed_at if before else None,
        indexed_text_id=_text_before(before),
        indexed_version_id=_version_before(before),
        unseen_until=record.unseen_until if record else None,
        lacks_folder=judged.lacks_folder,
        correlation_id=correlation_id,
    ).following(record)
    is_known = record is not None and already_describes(record, document)
    if record is not None and is_known:
        judged = _judged(location, found, uploaded_at=record.uploaded_at)
    return Description(
        document=document,
        sidecar=judged.sidecar,
        attribute_types=judged.attribute_types,
        problem=judged.problem,
        is_known=is_known,
    )


def _text_before(record: Document | None) -> str | None:
    """
    Return the id of the text that may be found until this version's text is: one that was indexed,
    or on its way into the index.
    """
    if record is None:
        return None
    is_on_its_way = record.status is DocumentStatus.INDEXING
    return record.indexed_text_id or (record.text_id if is_on_its_way else None)


def _version_before(record: Document | None) -> str | None:
    """Return the version that such a text is of; old records don't name it."""
    if record is None:
        return None
    is_indexed = record.status in (DocumentStatus.INDEXED, DocumentStatus.INDEXING)
    return record.indexed_version_id or (record.version_id if is_indexed else None)


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
    ).following(record)


def already_describes(record: Document, document: Document) -> bool:
    """
    Return True if the record already describes this object.

    Dropping a failed document again, byte for byte, is how its owner requests another attempt. The
    same event delivered twice is not a new drop: it has the version that was recorded.
    """
    if record.status is DocumentStatus.DELETING or record.s3_key != document.s3_key:
        return False
    if record.fingerprint != document.fingerprint:
        return False
    return record.status is not DocumentStatus.FAILED or (
        record.version_id == document.version_id and record.uploaded_at == document.uploaded_at
    )


@dataclass(frozen=True, kw_only=True)
class _Judged:
    """The problem of an object, if any, and the sidecar that it should have."""

    sidecar: bytes
    problem: str | None = None
    attribute_types: frozenset[str] = frozenset()
    lacks_folder: bool = False


def _judged(location: Location, found: StoredObject, *, uploaded_at: datetime) -> _Judged:
    if problem := _file_problem(location.filename, found.size) or found.unreadable:
        return _Judged(problem=problem, sidecar=quarantine_sidecar(location))
    try:
        attributes = user_attributes(found.attributes)
        sidecar, has_folder = own_sidecar(location, attributes, uploaded_at=uploaded_at)
    except ValidationError as error:
        return _Judged(problem=str(error), sidecar=quarantine_sidecar(location))
    return _Judged(
        sidecar=sidecar, attribute_types=record_entries(attributes), lacks_folder=not has_folder
    )


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
    Return a hash of what a drop can change: the bytes, the attributes, and the problem with them or
    with their location (a catalog may be opened, or its limit raised, while an object stays as it
    is).
    """
    attributes = (f"{name}={found.attributes[name]}" for name in sorted(found.attributes))
    parts = (found.etag, str(found.size), problem or "", *attributes)
    return digest(*parts)[:32]


# The `{file}.metadata.json` beside each document: what makes a passage somebody's.
#
# Whoever writes sidecars writes tenancy, so only the upload handler may (bucket policy), and what
# users attach to their objects can add attributes but never set one of ours.

RESERVED = frozenset(
    {"user_id", "catalog_id", "document_id", "filename", UPLOADED_AT, UPLOADED_TS, FOLDER, TEXT_ID}
)
RESERVED_PREFIX = "x-amz-bedrock"  # reserved in VECTOR knowledge bases [user guide: kb-metadata]
# Through Bedrock, S3 Vectors takes 1 KB of custom metadata and 35 keys [user guide:
# s3-vectors-bedrock-kb]. Jobs hold the whole file against that, white space and all, and leave the
# document out without a status ("associated metadata was larger than service limit of
# MaximumFileSizeSupported: 1024 bytes", a user's report); the 10 KB of the data source's own limit
# are never reached. [assumed: metadata.filterable-size]
MAX_SIDECAR_BYTES = 1024
MAX_METADATA_KEYS = 35
_ROOM_FOR_TEXT_ID = len(f',"{TEXT_ID}":"{"0" * 16}"')  # a direct call adds it
MAX_VALUE = 2048  # MetadataAttributeValue.stringValue [API model]
MAX_LIST = 10  # MetadataAttributeValue.stringListValue [API model]

_MAX_METADATA_BYTES = 2048  # names and values [S3 user guide: UsingMetadata]

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")  # a filter key has at most 100 characters
_HEADER = "kb-"
_KINDS = ("list-", "number-", "date-", "bool-")  # what follows it, unless the value is a text
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_EXACT = 2**53  # numberValue is a double [API model of bedrock-agent]; larger ones are rounded


def user_attributes(object_metadata: Mapping[str, str]) -> dict[str, Attribute]:
    """
    Return the searchable attributes in an object's `x-amz-meta-*` values (given without that
    prefix).

    `kb-<name>` is a text, `kb-list-<name>` a comma-separated list, and `kb-number-`, `kb-date-` and
    `kb-bool-<name>` are what their prefix says; other values are ignored. A date is stored twice:
    as written and in seconds. `allowed_groups` becomes a list either way. Raises ValidationError
    naming the attribute and what is allowed.
    """
    found: dict[str, Attribute] = {}
    for header in sorted(object_metadata):
        if not header.startswith(_HEADER):
            continue
        kind, name = _kind_and_name(header.removeprefix(_HEADER))
        value = _decoded(object_metadata[header])
        for key, each in _typed(kind, name, value).items():
            _check_name(key, known=found)
            found[key] = each
    if isinstance(group := found.get(SHARED), str):
        found[SHARED] = [group]  # a store looks into lists; this way a name may hold commas
    if not isinstance(found.get(SHARED, []), list):
        raise ValidationError(f"attribute {SHARED!r} must be a text or a list of texts")
    return found


def _kind_and_name(written: str) -> tuple[str, str]:
    kind = next((each for each in _KINDS if written.startswith(each)), "")
    return kind, written.removeprefix(kind)


def _typed(kind: str, name: str, value: str) -> dict[str, Attribute]:
    match kind:
        case "list-":
            return {name: _list_of(name, value)}
        case "number-":
            return {name: _number_of(name, value)}
        case "bool-":
            if value.lower() not in ("true", "false"):
                raise ValidationError(f"attribute {name!r} must be true or false")
            return {name: value.lower() == "true"}
        case "date-":
            if (seconds := seconds_of(value)) is None:
                raise ValidationError(
                    f"attribute {name!r} must be a date such as 2026-03-01 or 2026-03-01T10:30:00Z"
                )
            return {name: value, timestamp_attribute(name): seconds}
        case _:
            return {name: _string_of(name, value)}


def object_metadata(attributes: Mapping[str, Attribute]) -> dict[str, str]:
    """
    Return the object metadata from which `user_attributes` reads these attributes. A text that is a
    date in ISO 8601 becomes a date.

    Raises ValidationError naming the attribute and what is allowed.
    """
    written = dict(_header_of(name, value) for name, value in attributes.items())
    found = user_attributes(written)
    for name, value in attributes.items():
        expected = [value] if name == SHARED and isinstance(value, str) else value
        if found[name] != expected:
            raise ValidationError(f"attribute {name!r} has white space at an end, or is no text")
    size = sum(len(name) + len(value) for name, value in written.items())
    if size > _MAX_METADATA_BYTES:
        raise ValidationError(
            f"the attributes take {size} bytes as S3 carries them; "
            f"at most {_MAX_METADATA_BYTES} are possible"
        )
    return written


def _header_of(name: str, value: Attribute) -> tuple[str, str]:
    _check_form(name)
    kind, written = _written(name, value)
    if not kind and any(name.startswith(each) for each in _KINDS):
        raise ValidationError(
            f"attribute name {name!r} begins as only attributes of other types are written"
        )
    return f"{_HEADER}{kind}{name}", _encoded(written)


def _written(name: str, value: Attribute) -> tuple[str, str]:
    match value:
        case bool():
            return "bool-", str(value).lower()
        case int() | float():
            return "number-", repr(value)
        case list():
            if any("," in item for item in value):
                raise ValidationError(
                    f"attribute {name!r} has a comma in its list, where it divides values"
                )
            return "list-", ",".join(value)
        case str():
            return "" if seconds_of(value) is None or name == SHARED else "date-", value


def own_sidecar(
    location: Location, attributes: Mapping[str, Attribute], *, uploaded_at: datetime
) -> tuple[bytes, bool]:
    """
    Return the sidecar's body, and whether it names the document's folders, which are left out if
    there is no room for them. Raises ValidationError for too many or too large attributes.
    """
    ours: dict[str, Attribute] = {
        "user_id": location.user_id,
        "catalog_id": location.catalog_id,
        "document_id": location.document_id,
        "filename": location.filename,
        UPLOADED_AT: uploaded_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        UPLOADED_TS: int(uploaded_at.timestamp()),
    }
    body = _sidecar_of({**attributes, **ours})
    folders = folders_of(location.filename)
    if not folders:
        return body, True
    if len(folders) <= MAX_LIST:
        with suppress(ValidationError):
            return _sidecar_of({**attributes, **ours, FOLDER: folders}), True
    return body, False


def _sidecar_of(everything: Mapping[str, Attribute]) -> bytes:
    users = len(everything.keys() - RESERVED)
    allowed = MAX_METADATA_KEYS - len(RESERVED & {*everything, TEXT_ID})
    if users > allowed:
        raise ValidationError(
            f"{users} user attributes are too many; "
            f"at most {allowed} are allowed, and a date takes two"
        )
    body = _compact({"metadataAttributes": everything})
    size = len(body) + _ROOM_FOR_TEXT_ID
    if size > MAX_SIDECAR_BYTES:
        raise ValidationError(
            f"the attributes are too large: {size} bytes with the file's name and ids; "
            f"at most {MAX_SIDECAR_BYTES} are allowed"
        )
    return body


def folders_of(filename: str) -> list[str]:
    """
    Return every folder that contains the file, outermost first: `2026`, then `2026/contracts`. S3
    Vectors compares whole values [S3 user guide: s3-vectors-metadata-filtering].
    """
    parts = plain_folder(filename).split("/")[:-1]
    return list(accumulate(parts, lambda outer, inner: f"{outer}/{inner}"))


def quarantine_sidecar(location: Location) -> bytes:
    """
    Return the sidecar of a rejected file: if a job indexes the file all the same, it has no owner.

    A sidecar that Bedrock refuses would not reliably keep the file out: the user guide has bad
    metadata files "ignored" (kb-data-source-sync-ingest), so that the file is indexed without
    attributes, or what was indexed before keeps its own.
    """
    ids = {"catalog_id": location.catalog_id, "document_id": location.document_id}
    return _compact({"metadataAttributes": {"user_id": REJECTED, **ids}})


def _compact(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _check_name(name: str, *, known: Mapping[str, Attribute]) -> None:
    _check_form(name)
    if name in RESERVED or name.startswith(RESERVED_PREFIX):
        raise ValidationError(f"attribute {name!r} is reserved; choose another name")
    if name in known:
        raise ValidationError(f"attribute {name!r} is given twice; a date takes NAME_ts, too")


def _check_form(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValidationError(
            f"attribute name {name[:100]!r} is malformed; allowed are 1 to 100 characters of "
            "a-z, 0-9, '_' and '-', beginning with a letter or digit"
        )


def _string_of(name: str, value: str) -> str:
    if not 1 <= len(value) <= MAX_VALUE:
        raise ValidationError(f"attribute {name!r} must have 1 to {MAX_VALUE} characters")
    return value


def _number_of(name: str, value: str) -> int | float:
    if not _NUMBER.fullmatch(value):
        raise ValidationError(f"attribute {name!r} must be a number such as 2026 or -1.5")
    number = float(value)
    if not math.isfinite(number) or abs(number) >= _EXACT:
        raise ValidationError(
            f"attribute {name!r} must be a number of at most 15 digits, or a text"
        )
    return int(number) if number.is_integer() else number


def _list_of(name: str, value: str) -> list[str]:
    items = [item.strip() for item in value.split(",")]
    if not 1 <= len(items) <= MAX_LIST or not all(items):
        raise ValidationError(
            f"attribute {name!r} must list 1 to {MAX_LIST} values, separated by commas, none empty"
        )
    return [_string_of(name, item) for item in items]


def _encoded(value: str) -> str:
    is_plain = value.isascii() and value.isprintable()  # a header has no line breaks
    return value if is_plain else Header(value, "utf-8", maxlinelen=4096).encode()


def _decoded(value: str) -> str:
    # S3 hands non-ASCII metadata back in RFC 2047 encoding [S3 user guide: UsingMetadata].
    try:
        return str(make_header(decode_header(value))).strip()
    except (HeaderParseError, UnicodeDecodeError, LookupError) as error:
        raise ValidationError("an attribute's value is in no known encoding") from error
