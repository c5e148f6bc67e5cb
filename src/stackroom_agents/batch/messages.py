"""What a model is told of an event: the prompt, and behind it a text or a document."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal, Protocol

from stackroom.errors import FileTypeUnsupported, ObjectRefused
from stackroom.formats import extension_of
from stackroom_agents.batch.events import InS3, Task

# "Each document can be no more than 4.5 MB in size." Claude takes larger PDFs since version 4, Nova
# larger PDFs and DOCX; we hold every model to the limit that all have. Whether it counts 1,000 or
# 1,024 bytes a kilobyte isn't said, so we take the smaller.
# https://docs.aws.amazon.com/bedrock/latest/userguide/inference-api-restrictions.html
MAX_BYTES = 4_500_000
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
    """`stackroom.aws.s3.foreign_objects.S3Objects`, or a fake."""

    def read(self, bucket: str, key: str, *, limit: int) -> bytes: ...


@dataclass(frozen=True, kw_only=True)
class Messages:
    """
    With `batch` a text stands in a block of its own, said to be the document; with
    `attach-directly` right behind the prompt, as if it were its end.
    """

    objects: Objects
    prompt: str = ""
    invoke_type: Literal["batch", "attach-directly"] = "batch"

    def of(self, task: Task) -> list[Block]:
        """
        Blocks of Converse.

        Raises FileTypeUnsupported and ObjectRefused for a file that no model can be given, and
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
        body = self.objects.read(where.bucket, where.key, limit=MAX_BYTES)
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
        raise ObjectRefused(where.key, "there is no text in it")
    return text


def _unsupported(key: str, extension: str) -> str:
    allowed = ", ".join((*_DOCUMENTS, *_TEXTS))
    told = f"type '.{extension[:20]}'" if extension else "no type in its name"
    return f"File {PurePosixPath(key).name[:100]!r} has {told}. Allowed: {allowed}"
