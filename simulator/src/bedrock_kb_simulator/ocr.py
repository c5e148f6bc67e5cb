"""
Text out of pictures by OCR (PP-OCR's small models on the ONNX Runtime): what stands in for the
model, or for Bedrock Data Automation, that reads pages on AWS. Its models are in its wheel.

For the parser's child process: the libraries take a second to load, and 1 GB to work.
"""

import io
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pypdfium2
from numpy.typing import NDArray
from PIL import Image

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.bucket_objects import format_of
from bedrock_kb_simulator.file_pages import Unreadable, checked, pages_of

# Of the longer side. The recogniser makes larger pictures as small as this itself; a page of A4
# has 170 dots per inch then.
_PIXELS = 2_000
_THREADS = 2
_INK = 48  # of 255: how far from the paper's colour something must be that is printed
_MARGIN = 50  # pixels that are left around it
# Bedrock Data Automation takes pictures of at most 10,000 pixels on each side [user guide:
# bda-limits]; PIL refuses what has more than twice as many as this.
Image.MAX_IMAGE_PIXELS = 50_000_000


def pages_seen(body: bytes, filename: str) -> Iterator[str]:
    """
    The text of each page in order, one after the other as they are read; an image is one page.

    A page of a PDF that has text keeps that, the others are looked at: rule parse.images. Raises
    Unreadable, also if no page has anything to read.
    """
    if format_of(filename) in rules.IMAGE_FORMATS:
        yield from checked([_read(_opened(body))])
        return
    texts = pages_of(body, filename)
    if format_of(filename) != "pdf":
        yield from checked(texts)
        return
    found = False
    with pypdfium2.PdfDocument(body) as document:
        for number, text in enumerate(texts):
            seen = text if text.strip() else _read(_rendered(document, number))
            found = found or bool(seen.strip())
            yield seen
    if not found:
        raise Unreadable("nothing to read was seen on any page")


def _opened(body: bytes) -> NDArray[np.uint8]:
    try:
        with Image.open(io.BytesIO(body), formats=("JPEG", "PNG")) as image:
            image.thumbnail((_PIXELS, _PIXELS))
            return np.asarray(image.convert("RGB"))
    except (OSError, Image.DecompressionBombError) as error:
        raise Unreadable("the file is no JPEG or PNG that can be opened") from error


def _rendered(document: Any, number: int) -> NDArray[np.uint8]:
    page = document[number]
    picture = page.render(scale=_PIXELS / max(page.get_size())).to_numpy()
    page.close()
    return np.asarray(picture)


def _read(picture: NDArray[np.uint8]) -> str:
    printed = _without_margins(picture)
    found = _recogniser()(printed) if printed.size else None
    if found is None or found.boxes is None:
        return ""
    return "\n".join(_lines(found.boxes, found.txts))


def _without_margins(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """What is printed: the detector misses single words on a page that is empty but for them."""
    paper = np.median(picture, axis=(0, 1)).astype(np.int16)
    ink = np.abs(picture.astype(np.int16) - paper).max(axis=2) > _INK
    rows, columns = (np.flatnonzero(ink.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return picture[:0]
    top, left = max(0, rows[0] - _MARGIN), max(0, columns[0] - _MARGIN)
    return np.ascontiguousarray(picture[top : rows[-1] + _MARGIN, left : columns[-1] + _MARGIN])


def _lines(boxes: Sequence[Any], texts: Sequence[str]) -> Iterator[str]:
    """What stands side by side is a line: columns of a table, words with wide gaps."""
    row: list[tuple[float, str]] = []
    middle = height = 0.0
    for box, text in sorted(zip(boxes, texts, strict=True), key=lambda each: _middle(each[0])):
        at = _middle(box)
        if row and at - middle > height / 2:
            yield _joined(row)
            row = []
        middle, height = at, float(np.ptp(np.asarray(box)[:, 1]))
        row.append((float(np.asarray(box)[:, 0].min()), text))
    if row:
        yield _joined(row)


def _middle(box: Any) -> float:
    return float(np.asarray(box)[:, 1].mean())


def _joined(row: list[tuple[float, str]]) -> str:
    return " ".join(text for _, text in sorted(row))


@cache
def _recogniser() -> Any:
    from rapidocr import RapidOCR  # noqa: PLC0415 - loaded for the first page that needs it

    threads = {"EngineConfig.onnxruntime.intra_op_num_threads": _THREADS}
    return RapidOCR(params={"Global.log_level": "error", **threads})
