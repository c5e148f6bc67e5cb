"""The documents' bucket, and how it is read with boto3 like any S3."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.service_errors import Unindexable

# Metadata sidecars: `<file>.metadata.json`, the simple form and the full one.

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
    """What a document says of itself; `embedded` names those that are embedded with its text."""

    values: dict[str, Value] = field(default_factory=dict)
    embedded: tuple[str, ...] = ()

    def preamble(self) -> str:
        """What is put before each chunk to be embedded, and never shown."""
        return "".join(f"{key}: {_shown(self.values[key])}\n" for key in self.embedded)


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What a kind of knowledge base takes: no keys that begin as its service's own do."""

    sidecar_size: rules.Rule
    reserved: str


OF_VECTOR = Bounds(sidecar_size=rules.SIDECAR_SIZE, reserved="x-amz-bedrock")
OF_MANAGED = Bounds(
    sidecar_size=rules.MANAGED_SIDECAR_SIZE, reserved="_"
)  # rule managed.filter-keys


class SidecarTooLarge(Unindexable):
    """The file is left out as if it were not there, so it gets no status."""


def parsed(body: bytes, bounds: Bounds) -> Attributes:
    """Raises SidecarTooLarge, or Unindexable for one that is malformed."""
    if len(body) > bounds.sidecar_size.limit:
        raise SidecarTooLarge(bounds.sidecar_size.message)
    try:
        given = json.loads(body)["metadataAttributes"]
        return attributes(given.items(), bounds)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unindexable(rules.SIDECAR_INVALID.message) from error


def attributes(given: Any, bounds: Bounds) -> Attributes:
    """From pairs of key and value in either form; raises ValueError for what Bedrock refuses."""
    values: dict[str, Value] = {}
    embedded = []
    for key, value in given:
        if not 1 <= len(key) <= rules.ATTRIBUTE_KEY_LENGTH.limit or key.startswith(bounds.reserved):
            raise ValueError(key)
        if isinstance(value, dict):
            if value.get("includeForEmbedding"):
                embedded.append(key)
            value = value["value"][_TYPED[value["value"]["type"]]]  # noqa: PLW2901 - the same value
        values[key] = _checked(value)
    return Attributes(values=values, embedded=tuple(embedded))


def _checked(value: Any) -> Value:
    match value:
        case bool() | int() | float():
            return value
        case str() if 1 <= len(value) <= rules.ATTRIBUTE_TEXT_LENGTH.limit:
            return value
        case list() if 1 <= len(value) <= rules.ATTRIBUTE_LIST_SIZE.limit:
            if all(isinstance(item, str) and item for item in value):
                return value
    raise ValueError(type(value).__name__)


def _shown(value: Value) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)


# Gone, or kept from whoever reads: archived, of a customer's own key, or denied. HEAD has no words.
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
    """The extension of a file's name in lower case, empty where there is none."""
    name = key.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


class ObjectMissing(Exception):
    """The object went away between listing and reading, or can't be read at all."""


class Objects(Protocol):
    """What the simulator needs of S3."""

    def under(self, bucket: str, prefix: str) -> Iterator[S3Object]: ...

    def read(self, bucket: str, key: str) -> tuple[bytes, str]:
        """Body and ETag. Raises ObjectMissing."""

    def find(self, bucket: str, key: str) -> S3Object:
        """Raises ObjectMissing."""


class S3Objects:
    """Reads with a boto3 client that is made when the first job needs it."""

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


def is_there(objects: Objects, uri: str | None) -> bool:
    """Whether the object still lies there; content that came with a request needs none."""
    try:
        return uri is None or objects.find(*located(uri)) is not None
    except ObjectMissing:
        return False


def connect(endpoint: str, region: str, key: str | None) -> Any:
    """With the credentials of the environment, unless a key is given, its secret the same."""
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


def located(uri: str) -> tuple[str, str]:
    """Bucket and key of an `s3://` URI."""
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return bucket, key
