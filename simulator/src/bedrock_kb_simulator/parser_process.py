"""
The child process that reads files: PDFium must not run in threads, and a bad file may kill it.

Frames on both pipes: four bytes of length, then the payload. In: a JSON header, then the file.
Out, in JSON: `{"page": "..."}` for each page that was looked at, as soon as it is read, then
`{"pages": [...]}`, which has the others, or `{"error": "..."}`. Ends when its input does.
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
_SEEING_BYTES = 4 * _GIGABYTE  # of addresses; what is used of them is little over one


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
        for answer in _seen(body, filename) if sees else _read(body, filename):
            write_frame(answers, json.dumps(answer).encode())


def _read(body: bytes, filename: str) -> Iterator[dict[str, Any]]:
    # Not with this module, whose frames the parent uses, too: it needs none of the libraries.
    from bedrock_kb_simulator.file_pages import Unreadable, checked, pages_of  # noqa: PLC0415

    try:
        yield {"pages": checked(pages_of(body, filename))}
    except Unreadable as error:
        yield {"error": str(error)}


def _seen(body: bytes, filename: str | None) -> Iterator[dict[str, Any]]:
    """Without a name the file is a document of Textract's, whose one page has lines."""
    from bedrock_kb_simulator.file_pages import Unreadable  # noqa: PLC0415 - as above

    try:
        from bedrock_kb_simulator.ocr import detected, pages_seen  # noqa: PLC0415 - half a second

        if filename is None:
            yield {"pages": [detected(body)]}
            return
        for text in pages_seen(body, filename):
            yield {"page": text}
        yield {"pages": []}
    except Unreadable as error:
        yield {"error": str(error)}
    except ModuleNotFoundError as error:
        yield {"error": f"reading pictures takes the package rapidocr: {error}"}


def _bound_memory(most: int) -> None:
    with suppress(ValueError, OSError):  # not every system can; time is always bounded
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _own_output() -> BinaryIO:
    """Standard output for frames alone: what a library prints goes to standard error."""
    frames = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return frames


if __name__ == "__main__":
    seeing = "--sees" in sys.argv
    _bound_memory(_SEEING_BYTES if seeing else _MEMORY_BYTES)
    _serve(sys.stdin.buffer, _own_output(), sees=seeing)
