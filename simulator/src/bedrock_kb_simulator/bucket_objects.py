"""The documents' bucket, read with boto3 as any S3."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.service_errors import Unindexable

# Metadata sidecars: `<file>.metadata.json`, in the simple form or the full one.

SUFFIX = ".metadata.json"

Value = str | float | bool | list[str]

_TYPED = {
    "STRING": "stringValue",
    "NUMBER": "numberValue",
    "BOOLEAN": "booleanValue",
    "STRING_LIST": "stringListValue",
}


@dataclass(frozen=True, kw_only=True)
class Attributes:
    """A document's attributes; those in `embedded` are embedded with its text."""

    values: dict[str, Value] = field(default_factory=dict)
    embedded: tuple[str, ...] = ()

    def preamble(self) -> str:
        """Return the text to embed before each chunk; it is never shown."""
        return "".join(f"{key}: {_as_text(self.values[key])}\n" for key in self.embedded)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The limits of a kind of knowledge base; keys with the `reserved` prefix are refused."""

    sidecar_size: rules.Rule
    reserved: str


OF_VECTOR = Bounds(sidecar_size=rules.SIDECAR_SIZE, reserved="x-amz-bedrock")
OF_MANAGED = Bounds(
    sidecar_size=rules.MANAGED_SIDECAR_SIZE, reserved="_"
)  # rule managed.filter-keys


class SidecarTooLarge(Unindexable):
    """A sidecar that is too large; the document is skipped and gets no status."""


def parse_sidecar(body: bytes, bounds: Bounds) -> Attributes:
    """Parse a sidecar. Raises SidecarTooLarge, or Unindexable for a malformed one."""
    if len(body) > bounds.sidecar_size.limit:
        raise SidecarTooLarge(bounds.sidecar_size.message)
    try:
        given = json.loads(body)["metadataAttributes"]
        return attributes(given.items(), bounds)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unindexable(rules.SIDECAR_INVALID.message) from error


def attributes(given: Any, bounds: Bounds) -> Attributes:
    """Return attributes from keys and values in either form; raises ValueError if invalid."""
    values: dict[str, Value] = {}
    embedded = []
    for key, value in given:
        if not 1 <= len(key) <= rules.ATTRIBUTE_KEY_LENGTH.limit or key.startswith(bounds.reserved):
            raise ValueError(key)
        if isinstance(value, dict):
            if value.get("includeForEmbedding"):
                embedded.append(key)
            value = value["value"][_TYPED[value["value"]["type"]]]  # noqa: PLW2901 - the same value
        values[key] = _checked_value(value)
    return Attributes(values=values, embedded=tuple(embedded))


def _checked_value(value: Any) -> Value:
    match value:
        case bool() | int() | float():
            return value
        case str() if 1 <= len(value) <= rules.ATTRIBUTE_TEXT_LENGTH.limit:
            return value
        case list() if 1 <= len(value) <= rules.ATTRIBUTE_LIST_SIZE.limit:
            if all(isinstance(item, str) and item for item in value):
                return value
    raise ValueError(type(value).__name__)


def _as_text(value: Value) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


# Codes of objects that are gone, archived, encrypted by a customer's key, or denied; HEAD has only
# statuses.
_MISSING = (
    "NoSuchKey",
    "404",
    "InvalidObjectState",
    "InvalidRequest",
    "AccessDenied",
    "400",
    "403",
)


@dataclass(frozen=True, kw_only=True)
class S3Object:
    bucket: str
    key: str
    etag: str
    size: int

    @property
    def uri(self) -> str:
        return f"s3://{self.bucket}/{self.key}"

    @property
    def is_sidecar(self) -> bool:
        return self.key.endswith(SUFFIX)

    @property
    def format(self) -> str:
        return format_of(self.key)


def format_of(key: str) -> str:
    """Return a file name's extension in lower case, or an empty string."""
    name = key.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


class ObjectMissing(Exception):
    """An object that was deleted after listing, or can't be read."""


class Objects(Protocol):
    """The operations of S3 that the simulator uses."""

    def under(self, bucket: str, prefix: str) -> Iterator[S3Object]: ...

    def read(self, bucket: str, key: str) -> tuple[bytes, str]:
        """Return body and ETag. Raises ObjectMissing."""

    def find(self, bucket: str, key: str) -> S3Object:
        """Return an object without its body. Raises ObjectMissing."""


class S3Objects:
    """Objects read with a boto3 client, which is created when first needed."""

    def __init__(self, connect: Callable[[], Any]) -> None:
        self._connect = connect

    def under(self, bucket: str, prefix: str) -> Iterator[S3Object]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        for found in pages:
            for entry in found.get("Contents", ()):
                yield S3Object(
                    bucket=bucket, key=entry["Key"], etag=entry["ETag"], size=entry["Size"]
                )

    def read(self, bucket: str, key: str) -> tuple[bytes, str]:
        try:
            answer = self._client.get_object(Bucket=bucket, Key=key)
        except self._client.exceptions.ClientError as error:
            if error.response["Error"]["Code"] in _MISSING:
                raise ObjectMissing from error
            raise
        with answer["Body"] as body:
            return body.read(), answer["ETag"]

    def find(self, bucket: str, key: str) -> S3Object:
        try:
            head = self._client.head_object(Bucket=bucket, Key=key)
        except self._client.exceptions.ClientError as error:
            if error.response["Error"]["Code"] in _MISSING:
                raise ObjectMissing from error
            raise
        return S3Object(bucket=bucket, key=key, etag=head["ETag"], size=head["ContentLength"])

    @cached_property
    def _client(self) -> Any:
        return self._connect()


def connect(endpoint: str, region: str, key: str | None) -> Any:
    """Return a client with the environment's credentials, or with `key` as id and secret."""
    import boto3  # noqa: PLC0415 - loaded when the first job needs it
    from botocore.config import Config  # noqa: PLC0415 - as above

    path_style = Config(s3={"addressing_style": "path"})
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name=region,
        config=path_style,
        aws_access_key_id=key,
        aws_secret_access_key=key,
    )


def bucket_and_key(uri: str) -> tuple[str, str]:
    """Return bucket and key of an `s3://` URI."""
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return bucket, key
