"""Parsing of files to text, in child processes and limited time."""

from collections.abc import Mapping
from typing import Any, Protocol

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.parser_child import ParserChild
from bedrock_kb_simulator.service_errors import Unindexable

_SECONDS = 120.0  # for a file, or for each page read by OCR


class Parser(Protocol):
    def text(self, body: bytes, filename: str) -> str:
        """Return all pages as one text. Raises Unindexable, as vague as Bedrock's error."""

    def page_texts(self, body: bytes, filename: str) -> tuple[str, ...]:
        """
        Return the text of each page, including images: rule parse.images.

        Raises Unindexable, as vague as Bedrock's error.
        """

    def detect_lines(self, body: bytes) -> Mapping[str, Any] | None:
        """Return what `ocr.detect_lines` finds, or None for a file that can't be opened."""

    def close(self) -> None: ...


class ChildParser:
    """
    One child that reads text and one that reads images, so that slow OCR delays no text.

    Each starts when needed, and again after a file that killed it; it reads one file at a time.
    """

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._reading = ParserChild(seconds)
        self._seeing = ParserChild(seconds, sees=True)

    def text(self, body: bytes, filename: str) -> str:
        return "\n".join(_pages(self._reading.read(body, filename)))

    def page_texts(self, body: bytes, filename: str) -> tuple[str, ...]:
        return _pages(self._seeing.read(body, filename))

    def detect_lines(self, body: bytes) -> Mapping[str, Any] | None:
        found = self._seeing.read(body, None)
        return None if found is None else found[0]

    def close(self) -> None:
        self._reading.close()
        self._seeing.close()


def _pages(pages: list[str] | None) -> tuple[str, ...]:
    if pages is None:
        raise Unindexable(rules.FILE_UNREADABLE.message)
    return tuple(pages)
