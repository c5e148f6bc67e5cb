"""
Pictures of a PDF's pages, for OCR, made in a process of its own with bounds on time and memory.

Run as a module, this is the child: bound and page numbers in the arguments, file on standard input,
and a line of Base64 for each page on standard output, in grey as PNG.
"""

import base64
import math
import struct
import subprocess
import sys
import zlib
from collections.abc import Sequence
from typing import Any

from stackroom.text.extraction.apart import bound_process, environment

_DOTS_PER_POINT = 200 / 72
# Of a picture: a byte each, before it is compressed. Textract takes 10 MB in a call, or 5 MB by
# another page of its documentation, and 10,000 pixels on a side.
# https://docs.aws.amazon.com/textract/latest/dg/limits-document.html
# https://docs.aws.amazon.com/textract/latest/dg/API_Document.html
_MOST_PIXELS, _LONGEST_SIDE = 5_000_000, 10_000
_COMPRESSION = 3  # more takes longer, and saves little of a scan


def pictures_of(body: bytes, numbers: Sequence[int], *, seconds: float) -> list[bytes]:
    """
    Return the pictures of these pages, counted from 1; fewer if drawing one of them crashed, ran
    out of memory or took too long, with those before it.
    """
    command = [sys.executable, "-m", __name__, str(seconds), *map(str, numbers)]
    try:
        drawn = subprocess.run(  # noqa: S603 - numbers alone
            command,
            input=body,
            capture_output=True,
            timeout=seconds,
            check=False,
            env=environment(),
        ).stdout
    except subprocess.TimeoutExpired as late:
        drawn = late.stdout or b""
    *lines, _cut_off = drawn.split(b"\n")
    return [base64.b64decode(line) for line in lines]


def _main(seconds: float, numbers: Sequence[int]) -> None:
    import pypdfium2  # noqa: PLC0415 - the parent has no use for it

    bound_process(seconds)
    with pypdfium2.PdfDocument(sys.stdin.buffer.read()) as document:
        for number in numbers:
            page = document[number - 1]
            sys.stdout.buffer.write(base64.b64encode(_drawn(page)) + b"\n")
            sys.stdout.buffer.flush()
            page.close()


def _drawn(page: Any) -> bytes:
    width, height = page.get_size()
    scale = min(
        _DOTS_PER_POINT,
        math.sqrt(_MOST_PIXELS / (width * height)),
        (_LONGEST_SIDE - 1) / max(width, height),  # PDFium rounds up
    )
    bitmap = page.render(scale=scale, grayscale=True)
    rows = memoryview(bytes(bitmap.buffer))
    return _png(
        bitmap.width,
        bitmap.height,
        b"".join(
            b"\0" + rows[start : start + bitmap.width]
            for start in range(0, bitmap.height * bitmap.stride, bitmap.stride)
        ),
    )


def _png(width: int, height: int, rows: bytes) -> bytes:
    """
    Return a PNG of eight bits of grey, each row behind its filter [https://www.w3.org/TR/png-3/].
    """
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", zlib.compress(rows, _COMPRESSION)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(name: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(name + content)
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", checksum)


if __name__ == "__main__":
    _main(float(sys.argv[1]), [int(number) for number in sys.argv[2:]])
