"""A document as its object has it now: its record, its sidecar, and what is wrong with it."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.errors import HeaderParseError
from email.header import Header, decode_header, make_header

from pydantic import BaseModel, Field
from pydantic import ValidationError as Malformed

from stackroom.access.tenancy import REJECTED, SHARED
from stackroom.documents.bucket import StoredObject
from stackroom.documents.formats import CONTENT_TYPES, MAX_FILE_BYTES, extension_of, unsupported
from stackroom.documents.keys import Location, Unplaced, path_problem
from stackroom.documents.model import Document, DocumentStatus
from stackroom.errors import ValidationError

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
    record: Document | None,
    found: StoredObject,
    correlation_id: str | None,
    *,
    at: datetime,
) -> Description:
    problem, sidecar = _judged(location, found, uploaded_at=found.last_modified)
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
        _, sidecar = _judged(location, found, uploaded_at=record.uploaded_at)
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
    if record.status is DocumentStatus.DELETING or record.s3_key != document.s3_key:
        return False
    if record.fingerprint != document.fingerprint:
        return False
    return record.status is not DocumentStatus.FAILED or (
        record.version_id == document.version_id and record.uploaded_at == document.uploaded_at
    )


def _judged(
    location: Location, found: StoredObject, *, uploaded_at: datetime
) -> tuple[str | None, bytes]:
    """What is wrong with the object, if anything, and the sidecar that it should have."""
    if problem := _file_problem(location.filename, found.size) or found.unreadable:
        return problem, quarantine_sidecar(location)
    try:
        attributes = user_attributes(found.attributes)
        return None, own_sidecar(location, attributes, uploaded_at=uploaded_at)
    except ValidationError as error:
        return str(error), quarantine_sidecar(location)


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


# The `{file}.metadata.json` beside each document: what makes a passage somebody's.
#
# Whoever writes sidecars writes tenancy, so only the upload handler may (bucket policy), and what
# users attach to their objects can add attributes but never set one of ours.

RESERVED = frozenset({"user_id", "catalog_id", "document_id", "filename", "uploaded_at"})
RESERVED_PREFIX = "x-amz-bedrock"  # reserved in VECTOR knowledge bases [user guide: kb-metadata]
# Through Bedrock, S3 Vectors takes 1 KB of custom metadata and 35 keys [user guide:
# s3-vectors-bedrock-kb]. Jobs hold the whole file against that, white space and all, and leave the
# document out without a status ("associated metadata was larger than service limit of
# MaximumFileSizeSupported: 1024 bytes", a user's report); the 10 KB of the data source's own limit
# are never reached. [assumed: metadata.filterable-size]
MAX_SIDECAR_BYTES = 1024
MAX_METADATA_KEYS = 35
MAX_VALUE = 2048  # MetadataAttributeValue.stringValue [API model]
MAX_LIST = 10  # MetadataAttributeValue.stringListValue [API model]

_MAX_METADATA_BYTES = 2048  # names and values [S3 user guide: UsingMetadata]

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")  # a filter key has at most 100 characters
_STRING = "kb-"
_LIST = "kb-list-"

Attribute = str | list[str]


class _Sidecar(BaseModel):
    metadata_attributes: dict[str, Attribute] = Field(alias="metadataAttributes")


def user_attributes(object_metadata: Mapping[str, str]) -> dict[str, Attribute]:
    """
    The searchable attributes in an object's `x-amz-meta-*` values (given without that prefix).

    `kb-<name>` is a string, `kb-list-<name>` a comma-separated list; all else is the user's own
    business. `allowed_groups` becomes a list either way. Raises ValidationError naming the
    attribute and what is allowed.
    """
    found: dict[str, Attribute] = {}
    for header in sorted(object_metadata):
        if not header.startswith(_STRING):
            continue
        is_list = header.startswith(_LIST)
        name = header.removeprefix(_LIST if is_list else _STRING)
        _check_name(name, known=found)
        value = _decoded(object_metadata[header])
        found[name] = _list_of(name, value) if is_list else _string_of(name, value)
    if isinstance(group := found.get(SHARED), str):
        found[SHARED] = [group]  # a store looks into lists; this way a name may hold commas
    return found


def object_metadata(attributes: Mapping[str, Attribute]) -> dict[str, str]:
    """
    What an object must carry for `user_attributes` to find these in it: the other way round.

    Raises ValidationError naming the attribute and what is allowed.
    """
    written: dict[str, str] = {}
    for name, value in attributes.items():
        is_list = not isinstance(value, str)
        if not is_list and name.startswith(_LIST.removeprefix(_STRING)):
            raise ValidationError(f"attribute name {name!r} begins as only lists are written")
        if is_list and any("," in item for item in value):
            raise ValidationError(
                f"attribute {name!r} has a comma in its list, where it divides values"
            )
        plain = value if isinstance(value, str) else ",".join(value)
        written[(_LIST if is_list else _STRING) + name] = _encoded(plain)
    found = user_attributes(written)
    for name, value in attributes.items():
        if found[name] != value:
            raise ValidationError(f"attribute {name!r} has white space at an end, or is no text")
    size = sum(len(name) + len(value) for name, value in written.items())
    if size > _MAX_METADATA_BYTES:
        raise ValidationError(
            f"the attributes take {size} bytes as S3 carries them; "
            f"at most {_MAX_METADATA_BYTES} are possible"
        )
    return written


def own_sidecar(
    location: Location, attributes: Mapping[str, Attribute], *, uploaded_at: datetime
) -> bytes:
    """The sidecar's body. Raises ValidationError if there are too many or too large attributes."""
    ours: dict[str, Attribute] = {
        "user_id": location.user_id,
        "catalog_id": location.catalog_id,
        "document_id": location.document_id,
        "filename": location.filename,
        "uploaded_at": uploaded_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    everything = {**attributes, **ours}
    body = _compact({"metadataAttributes": everything})
    if len(everything) > MAX_METADATA_KEYS:
        raise ValidationError(
            f"{len(attributes)} user attributes are too many; "
            f"at most {MAX_METADATA_KEYS - len(ours)} are allowed"
        )
    if len(body) > MAX_SIDECAR_BYTES:
        raise ValidationError(
            f"the attributes are too large: {len(body)} bytes with the file's name and ids; "
            f"at most {MAX_SIDECAR_BYTES} are allowed"
        )
    return body


def quarantine_sidecar(location: Location) -> bytes:
    """
    The sidecar of a rejected file: should a job index it before it is taken out, it is nobody's.

    One that Bedrock refuses would not keep it out for certain: the user guide has bad metadata
    files "ignored" (kb-data-source-sync-ingest), and then the file is indexed without attributes;
    or what was indexed before keeps those that it had.
    """
    ids = {"catalog_id": location.catalog_id, "document_id": location.document_id}
    return _compact({"metadataAttributes": {"user_id": REJECTED, **ids}})


def attributes_in(body: bytes) -> dict[str, Attribute] | None:
    """The attributes that a sidecar of ours says; None of what can't be one of ours."""
    try:
        return _Sidecar.model_validate_json(body).metadata_attributes
    except Malformed:
        return None


def _compact(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _check_name(name: str, *, known: Mapping[str, Attribute]) -> None:
    if name in RESERVED or name.startswith(RESERVED_PREFIX):
        raise ValidationError(f"attribute {name!r} is reserved; choose another name")
    if not _NAME.fullmatch(name):
        raise ValidationError(
            f"attribute name {name!r} is malformed; allowed are 1 to 100 characters of "
            "a-z, 0-9, '_' and '-', beginning with a letter or digit"
        )
    if name in known:
        raise ValidationError(f"attribute {name!r} is given both as a string and as a list")


def _string_of(name: str, value: str) -> str:
    if not 1 <= len(value) <= MAX_VALUE:
        raise ValidationError(f"attribute {name!r} must have 1 to {MAX_VALUE} characters")
    return value


def _list_of(name: str, value: str) -> list[str]:
    items = [item.strip() for item in value.split(",")]
    if not 1 <= len(items) <= MAX_LIST or not all(items):
        raise ValidationError(
            f"attribute {name!r} must list 1 to {MAX_LIST} values, separated by commas, none empty"
        )
    return [_string_of(name, item) for item in items]


def _encoded(value: str) -> str:
    return value if value.isascii() else Header(value, "utf-8", maxlinelen=4096).encode()


def _decoded(value: str) -> str:
    # S3 hands non-ASCII metadata back in RFC 2047 encoding [S3 user guide: UsingMetadata].
    try:
        return str(make_header(decode_header(value))).strip()
    except (HeaderParseError, UnicodeDecodeError, LookupError) as error:
        raise ValidationError("an attribute's value is in no known encoding") from error
