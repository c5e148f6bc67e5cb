"""
Text out of pictures by OCR (PP-OCR's small models on the ONNX Runtime): what stands in for the
model, or for Bedrock Data Automation, that reads pages on AWS, and for Textract. Its models are in
its wheel.

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


def detected(body: bytes) -> dict[str, Any]:
    """
    The number of pages of a document of Textract's, its sides in pixels (of a PDF 0), and the lines
    of one that has one page and is small enough, with their places as shares of the page's sides.

    Raises Unreadable.
    """
    if body.startswith(b"%PDF-"):
        try:
            with pypdfium2.PdfDocument(body) as document:
                pages, sides = len(document), (0, 0)
                picture = _rendered(document, 0) if pages == 1 else None
        except pypdfium2.PdfiumError as error:
            raise Unreadable("the PDF can't be opened") from error
    else:
        pages, sides = _measured(body)
        fits = pages == 1 and max(sides) <= rules.TEXTRACT_PIXELS.limit
        picture = _opened(body, ("JPEG", "PNG", "TIFF")) if fits else None
    least = rules.TEXTRACT_HEIGHT.value / (sides[1] or float("inf"))
    lines = [] if picture is None else [*_placed(picture, least)]
    return {"pages": pages, "sides": sides, "lines": lines}


def _measured(body: bytes) -> tuple[int, tuple[int, int]]:
    try:
        with Image.open(io.BytesIO(body), formats=("JPEG", "PNG", "TIFF")) as image:
            return getattr(image, "n_frames", 1), image.size
    except (OSError, Image.DecompressionBombError) as error:
        raise Unreadable("the file can't be opened") from error


def _placed(picture: NDArray[np.uint8], least: float) -> Iterator[dict[str, Any]]:
    """From top to bottom; lines that are lower than the least share of the page are left out."""
    high, wide = picture.shape[:2]
    for box, text, score in sorted(_found(picture), key=lambda each: _middle(each[0])):
        left, top = (float(each) for each in box.min(axis=0))
        width, height = (float(each) for each in np.ptp(box, axis=0))
        if height / high >= least:
            place = (left / wide, top / high, width / wide, height / high)
            yield {"text": text, "confidence": 100 * float(score), "place": place}


def _opened(body: bytes, formats: tuple[str, ...] = ("JPEG", "PNG")) -> NDArray[np.uint8]:
    try:
        with Image.open(io.BytesIO(body), formats=formats) as image:
            image.thumbnail((_PIXELS, _PIXELS))
            return np.asarray(image.convert("RGB"))
    except (OSError, Image.DecompressionBombError) as error:
        raise Unreadable("the file is no picture that can be opened") from error


def _rendered(document: Any, number: int) -> NDArray[np.uint8]:
    page = document[number]
    picture = page.render(scale=_PIXELS / max(page.get_size())).to_numpy()
    page.close()
    return np.asarray(picture)


def _read(picture: NDArray[np.uint8]) -> str:
    found = [*_found(picture)]
    return "\n".join(_lines([box for box, _, _ in found], [text for _, text, _ in found]))


def _found(picture: NDArray[np.uint8]) -> Iterator[tuple[Any, str, float]]:
    """Box, text and score of each line, or part of one."""
    printed, corner = _without_margins(picture)
    found = _recogniser()(printed) if printed.size else None
    if found is not None and found.boxes is not None:
        for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
            yield np.asarray(box) + corner, text, score


def _without_margins(picture: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], tuple[int, int]]:
    """
    What is printed, and where its corner is: the detector misses single words on a page that is
    empty but for them.
    """
    paper = np.median(picture, axis=(0, 1)).astype(np.int16)
    ink = np.abs(picture.astype(np.int16) - paper).max(axis=2) > _INK
    rows, columns = (np.flatnonzero(ink.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return picture[:0], (0, 0)
    top, left = max(0, rows[0] - _MARGIN), max(0, columns[0] - _MARGIN)
    printed = picture[top : rows[-1] + _MARGIN, left : columns[-1] + _MARGIN]
    return np.ascontiguousarray(printed), (int(left), int(top))


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
