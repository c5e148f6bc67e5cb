"""
The child process that reads files: PDFium can't run in threads, and a bad file may crash it.

Its first argument is the descriptor of a connection. A request is a JSON header, then the file. The
answers, in JSON: `{"page": "..."}` for each page as OCR reads it, then `{"pages": [...]}` with the
others, or `{"error": "..."}`. The process ends with the connection.
"""

import json
import resource
import sys
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from bedrock_kb_simulator.file_pages import Unreadable, pages_of, require_text

_GIGABYTE = 1_073_741_824
_MEMORY_BYTES = 2 * _GIGABYTE  # many times the largest file that Bedrock takes
_SEEING_BYTES = 4 * _GIGABYTE  # of address space; OCR uses little more than one


def _serve(connection: Connection, *, sees: bool) -> None:
    while True:
        filename = json.loads(connection.recv_bytes())["filename"]
        body = connection.recv_bytes()
        for answer in _ocr_pages(body, filename) if sees else _text_pages(body, filename):
            connection.send_bytes(json.dumps(answer).encode())


def _text_pages(body: bytes, filename: str) -> Iterator[dict[str, Any]]:
    try:
        yield {"pages": require_text(pages_of(body, filename))}
    except Unreadable as error:
        yield {"error": str(error)}


def _ocr_pages(body: bytes, filename: str | None) -> Iterator[dict[str, Any]]:
    """Yield pages read by OCR; without a name, the lines of Textract's one page."""
    try:
        from bedrock_kb_simulator.ocr import detect_lines, pages_seen  # noqa: PLC0415 - half a second

        if filename is None:
            yield {"pages": [detect_lines(body)]}
            return
        for text in pages_seen(body, filename):
            yield {"page": text}
        yield {"pages": []}
    except Unreadable as error:
        yield {"error": str(error)}
    except ModuleNotFoundError as error:
        yield {"error": f"reading images requires the package rapidocr: {error}"}


def _bound_memory(most: int) -> None:
    with suppress(ValueError, OSError):  # not every system supports it; time is always limited
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    seeing = "--sees" in sys.argv
    _bound_memory(_SEEING_BYTES if seeing else _MEMORY_BYTES)
    with suppress(EOFError):
        _serve(Connection(int(sys.argv[1])), sees=seeing)
