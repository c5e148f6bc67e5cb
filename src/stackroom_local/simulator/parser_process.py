"""
The child process that reads files: PDFium must not run in threads, and a bad file may kill it.

Frames on both pipes: four bytes of length, then the payload. In: a JSON header, then the file.
Out: JSON, `{"pages": [...]}` or `{"error": "..."}`. Ends when its input does.
"""

import json
import resource
import struct
import sys
from contextlib import suppress
from typing import BinaryIO

from stackroom.errors import Unreadable
from stackroom.inspection.extraction import read_pages

_MEMORY_BYTES = 2_147_483_648  # many times the largest file that Bedrock takes


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


def _serve(requests: BinaryIO, answers: BinaryIO) -> None:
    while (header := read_frame(requests)) is not None:
        body = read_frame(requests)
        if body is None:
            return
        try:
            pages = read_pages(body, json.loads(header)["filename"])
            answer = {"pages": [page.text for page in pages]}
        except Unreadable as error:
            answer = {"error": [error.reason]}
        write_frame(answers, json.dumps(answer).encode())


def _bound_memory() -> None:
    with suppress(ValueError, OSError):  # not every system can; time is always bounded
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


if __name__ == "__main__":
    _bound_memory()
    _serve(sys.stdin.buffer, sys.stdout.buffer)
