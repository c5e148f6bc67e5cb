"""
The child process that reads files: PDFium can't run in threads, and a bad file may crash it.

Both pipes carry frames: four bytes of length, then the payload. Input: a JSON header, then the
file. Output, in JSON: `{"page": "..."}` for each page as OCR reads it, then `{"pages": [...]}` with
the others, or `{"error": "..."}`. The process ends with its input.
"""

import json
import os
import resource
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO

_GIGABYTE = 1_073_741_824
_MEMORY_BYTES = 2 * _GIGABYTE  # many times the largest file that Bedrock takes
_SEEING_BYTES = 4 * _GIGABYTE  # of address space; OCR uses little more than one


def read_frame(stream: BinaryIO) -> bytes | None:
    header = stream.read(4)
    if len(header) < 4:
        return None
    (size,) = struct.unpack(">I", header)
    payload = stream.read(size)
    return payload if len(payload) == size else None


def write_frame(stream: BinaryIO, payload: bytes) -> None:
    stream.write(struct.pack(">I", len(payload)))
    stream.write(payload)
    stream.flush()


def _serve(requests: BinaryIO, answers: BinaryIO, *, sees: bool) -> None:
    while (header := read_frame(requests)) is not None:
        body = read_frame(requests)
        if body is None:
            return
        filename = json.loads(header)["filename"]
        for answer in _ocr_pages(body, filename) if sees else _text_pages(body, filename):
            write_frame(answers, json.dumps(answer).encode())


def _text_pages(body: bytes, filename: str) -> Iterator[dict[str, Any]]:
    # Not imported above: the parent imports this module for its frames, and needs no libraries.
    from bedrock_kb_simulator.file_pages import Unreadable, pages_of, require_text  # noqa: PLC0415

    try:
        yield {"pages": require_text(pages_of(body, filename))}
    except Unreadable as error:
        yield {"error": str(error)}


def _ocr_pages(body: bytes, filename: str | None) -> Iterator[dict[str, Any]]:
    """Yield pages read by OCR; without a name, the lines of Textract's one page."""
    from bedrock_kb_simulator.file_pages import Unreadable  # noqa: PLC0415 - as above

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


def _own_output() -> BinaryIO:
    """Return standard output for frames; redirect what libraries print to standard error."""
    frames = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return frames


if __name__ == "__main__":
    seeing = "--sees" in sys.argv
    _bound_memory(_SEEING_BYTES if seeing else _MEMORY_BYTES)
    _serve(sys.stdin.buffer, _own_output(), sees=seeing)
