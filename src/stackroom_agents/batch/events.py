"""
What is asked of a batch agent, and for whom.

    {"contentType": "data", "content": {"data": "the text"}}
    {"contentType": "file", "content": {"location": "s3", "bucket": "...", "key": "..."}}
    "the text"                               the same as the first

and, where the function takes it, beside contentType `"identity": {"user_id": "alice", "groups":
["hr"]}`. An SQS message's body is one of these in JSON, so a plain text stands in quotes there:
what is no JSON may be a broken event, and is none.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pydantic
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from stackroom.errors import MalformedEvent, MissingIdentity

_FORMS = (
    'allowed: {"contentType": "data", "content": {"data": text}},'
    ' {"contentType": "file", "content": {"location": "s3", "bucket": name, "key": key}},'
    " or a text"
)
_TOLD = 5  # problems of an event

_Filled = Annotated[str, StringConstraints(strip_whitespace=False, min_length=1, pattern=r"\S")]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Data(_Model):
    data: _Filled


class InS3(_Model):
    location: Literal["s3"]
    bucket: _Filled
    key: _Filled


class _Identity(_Model):
    """What is in it is looked at where every caller of a tool is (stackroom_agents.identity)."""

    user_id: str
    groups: list[str] = []


class _OfData(_Model):
    contentType: Literal["data"]  # noqa: N815 - as the event has it
    content: _Data
    identity: _Identity | None = None


class _OfFile(_Model):
    contentType: Literal["file"]  # noqa: N815 - as the event has it
    content: InS3
    identity: _Identity | None = None


class _Event(_Model):
    event: Annotated[_OfData | _OfFile, Field(discriminator="contentType")]


@dataclass(frozen=True, kw_only=True)
class Task:
    """`content` is a text, or where a file lies; `identity` goes into the invocation state."""

    content: str | InS3
    identity: Mapping[str, object] = field(default_factory=dict)


def task_of(event: object, *, identity_from_event: bool) -> Task:
    """
    Raises MalformedEvent, and MissingIdentity if the function takes events with an identity alone.

    An event with an identity that the function doesn't take is refused, for its sender believes
    that it counts.
    """
    if isinstance(event, str):
        event = {"contentType": "data", "content": {"data": event}}
    given = _parsed(event)
    if given.identity is not None and not identity_from_event:
        raise MalformedEvent("identity: this agent takes none (see identity_from_event)")
    if given.identity is None and identity_from_event:
        raise MissingIdentity("the event must say who is asking: identity, with user_id and groups")
    content = given.content
    return Task(
        content=content if isinstance(content, InS3) else content.data,
        identity=given.identity.model_dump() if given.identity else {},
    )


def event_of(body: str) -> object:
    """Of an SQS message. Raises MalformedEvent."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise MalformedEvent(f"the message's body is no JSON; {_FORMS}") from None


def _parsed(event: object) -> _OfData | _OfFile:
    if not isinstance(event, Mapping):
        raise MalformedEvent(_FORMS)
    try:
        return _Event.model_validate({"event": event}).event
    except pydantic.ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[:_TOLD]
        raise MalformedEvent("; ".join([*map(_problem, found), _FORMS])) from None


def _problem(detail: Any) -> str:
    """Without the input; the first two names are ours: of the wrapper, and of the kind."""
    if detail["type"].startswith("union_tag"):
        return "contentType: must be 'data' or 'file'"
    where = ".".join(str(each)[:100] for each in detail["loc"][2:])
    told = "must not be blank" if detail["type"] == "string_pattern_mismatch" else detail["msg"]
    return f"{where}: {told}" if where else str(told)
