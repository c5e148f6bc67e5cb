"""Files to text, in child processes, in bounded time."""

from collections.abc import Mapping
from typing import Any, Protocol

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.parser_child import ParserChild
from bedrock_kb_simulator.service_errors import Unindexable

_SECONDS = 120.0  # for a file, and for each page that is looked at


class Parser(Protocol):
    def text(self, body: bytes, filename: str) -> str:
        """All pages in one text. Raises Unindexable, as vague as Bedrock is."""

    def seen(self, body: bytes, filename: str) -> tuple[str, ...]:
        """
        The text of each page, of images too: rule parse.images.

        Raises Unindexable, as vague as Bedrock is.
        """

    def detected(self, body: bytes) -> Mapping[str, Any] | None:
        """Return what `ocr.detected` finds, or None for a file that can't be opened."""

    def close(self) -> None: ...


class ChildParser:
    """
    A child that reads text and one that looks at images, so that the slow keeps nobody waiting.

    Each is started when needed, and again after a file that killed it; it has one file at a time.
    """

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._reading = ParserChild(seconds)
        self._seeing = ParserChild(seconds, sees=True)

    def text(self, body: bytes, filename: str) -> str:
        return "\n".join(_pages(self._reading.read(body, filename)))

    def seen(self, body: bytes, filename: str) -> tuple[str, ...]:
        return _pages(self._seeing.read(body, filename))

    def detected(self, body: bytes) -> Mapping[str, Any] | None:
        found = self._seeing.read(body, None)
        return None if found is None else found[0]

    def close(self) -> None:
        self._reading.close()
        self._seeing.close()


def _pages(pages: list[str] | None) -> tuple[str, ...]:
    if pages is None:
        raise Unindexable(rules.FILE_UNREADABLE.message)
    return tuple(pages)
