"""
The events of a batch agent: a question, and the user it is asked for.

    {"contentType": "data", "content": {"data": "the text"}}
    {"contentType": "file", "content": {"location": "s3", "bucket": "...", "key": "..."}}
    "the text"                               the same as the first

and, if the function takes it, beside contentType `"identity": {"user_id": "alice", "groups":
["hr"]}`. An SQS message's body is one of these in JSON, so a plain text is in quotes there: a body
that isn't JSON may be a broken event, and is refused.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, Protocol

import pydantic
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from stackroom.errors import FileTypeUnsupported, MalformedEvent, MissingIdentity, ObjectRefused
from stackroom.model.formats import extension_of

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
    """An event's identity, whose content is checked like other tools' callers (tool_context)."""

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
    """
    A question. `content` is a text, or a file's location; `identity` goes into the invocation
    state.
    """

    content: str | InS3
    identity: Mapping[str, object] = field(default_factory=dict)


def task_of(event: object, *, identity_from_event: bool) -> Task:
    """
    Return an event's task.

    An identity in an event is refused if the function ignores it, because its sender relies on it.
    Raises MalformedEvent, or MissingIdentity if the function requires an identity.
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
    """Parse the body of an SQS message. Raises MalformedEvent."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise MalformedEvent(f"the message's body is not JSON; {_FORMS}") from None


def _parsed(event: object) -> _OfData | _OfFile:
    if not isinstance(event, Mapping):
        raise MalformedEvent(_FORMS)
    try:
        return _Event.model_validate({"event": event}).event
    except pydantic.ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[:_TOLD]
        raise MalformedEvent("; ".join([*map(_problem, found), _FORMS])) from None


def _problem(detail: Any) -> str:
    """Describe a validation error without its input, and without our own wrapper in its path."""
    if detail["type"].startswith("union_tag"):
        return "contentType: must be 'data' or 'file'"
    where = ".".join(str(each)[:100] for each in detail["loc"][2:])
    problem = "must not be blank" if detail["type"] == "string_pattern_mismatch" else detail["msg"]
    return f"{where}: {problem}" if where else str(problem)


# What a model is told of an event: the prompt, and behind it a text or a document.

# "Each document can be no more than 4.5 MB in size." Claude takes larger PDFs since version 4, Nova
# larger PDFs and DOCX; we hold every model to the limit that all have. Whether it counts 1,000 or
# 1,024 bytes a kilobyte isn't said, so we take the smaller.
# https://docs.aws.amazon.com/bedrock/latest/userguide/inference-api-restrictions.html
_MAX_DOCUMENT = 4_500_000
# DocumentFormat in the API model of bedrock-runtime, but for its texts: as a text block every model
# reads those, and not every model takes documents.
_DOCUMENTS = ("pdf", "doc", "docx", "xls", "xlsx")
_TEXTS = ("txt", "md", "csv", "tsv", "html", "htm", "json", "jsonl", "xml", "yaml", "yml", "log")

# A message with a document must have a text, too (same page), and so must one with a prompt of
# nothing.
_NO_PROMPT = "Do with this what your instructions say."
# The document's name reaches the model: AWS warns that one can carry instructions, and recommends a
# neutral one [DocumentBlock in the API model].
_NAME = "document"

Block = dict[str, Any]


class Objects(Protocol):
    """The interface of `stackroom.aws.s3.foreign_objects.S3Objects`."""

    def read(self, bucket: str, key: str, *, limit: int) -> bytes: ...


@dataclass(frozen=True, kw_only=True)
class Messages:
    """
    Builds a task's message to the model.

    With `batch`, a text comes in a block of its own that introduces it as the document; with
    `attach-directly`, it follows the prompt directly.
    """

    objects: Objects
    prompt: str = ""
    invoke_type: Literal["batch", "attach-directly"] = "batch"

    def of(self, task: Task) -> list[Block]:
        """
        Return the blocks for Converse.

        Raises FileTypeUnsupported and ObjectRefused for a file that no model accepts, and
        StoreUnavailable.
        """
        if isinstance(task.content, str):
            return self._with_text(task.content)
        extension = extension_of(task.content.key)
        if extension in _DOCUMENTS:
            document = {"format": extension, "name": _NAME, "source": {"bytes": self._read(task)}}
            return [{"text": self.prompt or _NO_PROMPT}, {"document": document}]
        if extension in _TEXTS:
            return self._with_text(_decoded(task.content, self._read(task)))
        raise FileTypeUnsupported(_unsupported(task.content.key, extension))

    def _with_text(self, text: str) -> list[Block]:
        if self.invoke_type == "attach-directly":
            return [{"text": f"{self.prompt} {text}" if self.prompt else text}]
        return [{"text": self.prompt or _NO_PROMPT}, {"text": f"The document:\n\n{text}"}]

    def _read(self, task: Task) -> bytes:
        where = task.content
        assert isinstance(where, InS3), "a text isn't read"
        body = self.objects.read(where.bucket, where.key, limit=_MAX_DOCUMENT)
        if not body:
            raise ObjectRefused(where.key, "it is empty")
        return body


def _decoded(where: InS3, body: bytes) -> str:
    decode: Callable[..., str] = body.decode
    try:
        text = decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ObjectRefused(where.key, "its text is not in UTF-8") from None
    if not text.strip():
        raise ObjectRefused(where.key, "it contains no text")
    return text


def _unsupported(key: str, extension: str) -> str:
    allowed = ", ".join((*_DOCUMENTS, *_TEXTS))
    given = f"type '.{extension[:20]}'" if extension else "no type in its name"
    return f"File {PurePosixPath(key).name[:100]!r} has {given}. Allowed: {allowed}"
