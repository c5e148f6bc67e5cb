"""
Sidecars in AWS's format, for files that were prepared for another knowledge base.

An attribute is a plain value, or `{"value": {"type": "STRING", "stringValue": "hr"},
"includeForEmbedding": true}` [user guide: s3-data-source-connector].
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic import ValidationError as Malformed

from stackroom.access.tenancy import SHARED
from stackroom.errors import ValidationError
from stackroom.model.attributes import Attribute
from stackroom.uploads.descriptions import RESERVED, RESERVED_PREFIX

MAX_BYTES = 10 * 1024  # of a metadata file [user guide: s3-data-source-connector]
_ATTRIBUTES = "metadataAttributes"


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


# MetadataAttributeValue [API model of bedrock-agent]
class _Text(_Strict):
    type: Literal["STRING"]
    content: Annotated[str, Field(alias="stringValue")]


class _Number(_Strict):
    type: Literal["NUMBER"]
    content: Annotated[int | float, Field(alias="numberValue")]


class _Boolean(_Strict):
    type: Literal["BOOLEAN"]
    content: Annotated[bool, Field(alias="booleanValue")]


class _List(_Strict):
    type: Literal["STRING_LIST"]
    content: Annotated[list[str], Field(alias="stringListValue")]


class _Typed(_Strict):
    value: Annotated[_Text | _Number | _Boolean | _List, Field(discriminator="type")]
    is_embedded: Annotated[bool, Field(alias="includeForEmbedding")] = False


_ANY: TypeAdapter[Attribute | _Typed] = TypeAdapter(Attribute | _Typed)


@dataclass(frozen=True)
class AwsSidecar:
    """The attributes of a sidecar. `notes` describe attributes that are changed or left out."""

    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class AdoptionOutcome(StrEnum):
    ADOPTED = "adopted"
    TO_ADOPT = "to_adopt"
    PRESENT = "present"
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True)
class Adoption:
    name: str
    outcome: AdoptionOutcome
    reason: str | None = None
    sidecar: AwsSidecar = field(default_factory=AwsSidecar)


def read(body: bytes) -> AwsSidecar:
    """
    Parse a sidecar.

    Attributes that decide who owns or finds a document are never taken from it. Raises
    ValidationError naming what can't be kept.
    """
    attributes: dict[str, Attribute] = {}
    notes = list[str]()
    for written, value in _attributes_in(body).items():
        name = written.lower()  # S3 keeps names of metadata so [S3 user guide: UsingMetadata]
        if name in RESERVED | {SHARED} or name.startswith(RESERVED_PREFIX):
            notes.append(f"attribute {written!r} is left out: only Stackroom sets it")
            continue
        if name in attributes:
            raise ValidationError(f"attribute {written!r} occurs twice, except for capital letters")
        if name != written:
            notes.append(f"attribute {written!r} becomes {name!r}")
        try:
            found = _ANY.validate_python(value, strict=True)
        except Malformed as error:
            raise ValidationError(
                f"attribute {written!r} must be a text, a number, a boolean or a list of texts, "
                "plain or as AWS types it"
            ) from error
        if isinstance(found, _Typed):
            if found.is_embedded:
                notes.append(f"attribute {written!r} is used for filters only, and not embedded")
            found = found.value.content
        attributes[name] = found
    return AwsSidecar(attributes, tuple(notes))


def _attributes_in(body: bytes) -> dict[str, object]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ValidationError("its metadata.json is not valid JSON") from error
    found = content.get(_ATTRIBUTES) if isinstance(content, dict) else None
    if not isinstance(found, dict):
        raise ValidationError(f"its metadata.json has no object {_ATTRIBUTES!r}")
    if others := sorted(content.keys() - {_ATTRIBUTES}):  # such as who may read it
        raise ValidationError(f"its metadata.json has unsupported members: {', '.join(others)}")
    return found
