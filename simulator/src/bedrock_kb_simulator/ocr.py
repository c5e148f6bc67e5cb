"""
Text in images by OCR (PP-OCR's small models on ONNX Runtime), in place of AWS's parsers and of
Textract. The models are in the wheel.

This runs in the parser's child process: the libraries load for a second and take 1 GB.
"""

import io
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pypdfium2
from numpy.typing import NDArray
from PIL import Image

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.bucket_objects import format_of
from bedrock_kb_simulator.file_pages import Unreadable, pages_of, require_text

# The longer side of an image; the recogniser itself shrinks larger ones. An A4 page then has 170
# dots per inch.
_PIXELS = 2_000
_THREADS = 2
# A page may take longer than a client waits. Its next attempt gets what the last one had read.
_REMEMBERED = 8  # pages of at most 10 MB
_INK = 48  # of 255: the least difference of print from the paper's colour
_MARGIN = 50  # pixels to keep around the print
# Bedrock Data Automation takes images of at most 10,000 pixels on each side [user guide:
# bda-limits]; PIL refuses images with more than twice this number.
Image.MAX_IMAGE_PIXELS = 50_000_000


def pages_seen(body: bytes, filename: str) -> Iterator[str]:
    """
    Yield the text of each page as it is read; an image is one page.

    Pages of a PDF with text keep it, others are read by OCR: rule parse.images. Raises Unreadable,
    also if no page has any text.
    """
    if format_of(filename) in rules.IMAGE_FORMATS:
        yield from require_text([_read(_open_image(body))])
        return
    texts = pages_of(body, filename)
    if format_of(filename) != "pdf":
        yield from require_text(texts)
        return
    found = False
    with pypdfium2.PdfDocument(body) as document:
        for number, text in enumerate(texts):
            seen = text if text.strip() else _read(_render_page(document, number))
            found = found or bool(seen.strip())
            yield seen
    if not found:
        raise Unreadable("no page has any text")


@lru_cache(maxsize=_REMEMBERED)
def detect_lines(body: bytes) -> dict[str, Any]:
    """
    Return a document's number of pages, its sides in pixels (0 for a PDF), and its lines.

    Only documents of one page within the limit in pixels have lines; their places are shares of the
    page's sides. Raises Unreadable.
    """
    if body.startswith(b"%PDF-"):
        try:
            with pypdfium2.PdfDocument(body) as document:
                pages, sides = len(document), (0, 0)
                picture = _render_page(document, 0) if pages == 1 else None
        except pypdfium2.PdfiumError as error:
            raise Unreadable("the PDF can't be opened") from error
    else:
        pages, sides = _measure(body)
        fits = pages == 1 and max(sides) <= rules.TEXTRACT_PIXELS.limit
        picture = _open_image(body, ("JPEG", "PNG", "TIFF")) if fits else None
    least = rules.TEXTRACT_HEIGHT.value / (sides[1] or float("inf"))
    lines = [] if picture is None else [*_placed_lines(picture, least)]
    return {"pages": pages, "sides": sides, "lines": lines}


def _measure(body: bytes) -> tuple[int, tuple[int, int]]:
    try:
        with Image.open(io.BytesIO(body), formats=("JPEG", "PNG", "TIFF")) as image:
            return getattr(image, "n_frames", 1), image.size
    except (OSError, Image.DecompressionBombError) as error:
        raise Unreadable("the file can't be opened") from error


def _placed_lines(picture: NDArray[np.uint8], least: float) -> Iterator[dict[str, Any]]:
    """Yield the lines from top to bottom, without those below the least share in height."""
    high, wide = picture.shape[:2]
    for box, text, score in sorted(_find_lines(picture), key=lambda each: _middle(each[0])):
        left, top = (float(each) for each in box.min(axis=0))
        width, height = (float(each) for each in np.ptp(box, axis=0))
        if height / high >= least:
            place = (left / wide, top / high, width / wide, height / high)
            yield {"text": text, "confidence": 100 * float(score), "place": place}


def _open_image(body: bytes, formats: tuple[str, ...] = ("JPEG", "PNG")) -> NDArray[np.uint8]:
    try:
        with Image.open(io.BytesIO(body), formats=formats) as image:
            image.thumbnail((_PIXELS, _PIXELS))
            return np.asarray(image.convert("RGB"))
    except (OSError, Image.DecompressionBombError) as error:
        raise Unreadable("the image can't be opened") from error


def _render_page(document: Any, number: int) -> NDArray[np.uint8]:
    page = document[number]
    picture = page.render(scale=_PIXELS / max(page.get_size())).to_numpy()
    page.close()
    return np.asarray(picture)


def _read(picture: NDArray[np.uint8]) -> str:
    found = [*_find_lines(picture)]
    return "\n".join(_lines([box for box, _, _ in found], [text for _, text, _ in found]))


def _find_lines(picture: NDArray[np.uint8]) -> Iterator[tuple[Any, str, float]]:
    """Yield box, text and score of each line, or part of a line."""
    printed, corner = _without_margins(picture)
    found = _recogniser()(printed) if printed.size else None
    if found is not None and found.boxes is not None:
        for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
            yield np.asarray(box) + corner, text, score


def _without_margins(picture: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], tuple[int, int]]:
    """
    Return the printed area and its upper left corner.

    The detector misses single words on an otherwise empty page.
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
    """Yield lines of texts side by side, such as columns of a table."""
    row: list[tuple[float, str]] = []
    middle = height = 0.0
    for box, text in sorted(zip(boxes, texts, strict=True), key=lambda each: _middle(each[0])):
        at = _middle(box)
        if row and at - middle > height / 2:
            yield _join(row)
            row = []
        middle, height = at, float(np.ptp(np.asarray(box)[:, 1]))
        row.append((float(np.asarray(box)[:, 0].min()), text))
    if row:
        yield _join(row)


def _middle(box: Any) -> float:
    return float(np.asarray(box)[:, 1].mean())


def _join(row: list[tuple[float, str]]) -> str:
    return " ".join(text for _, text in sorted(row))


@cache
def _recogniser() -> Any:
    from rapidocr import RapidOCR  # noqa: PLC0415 - loaded for the first page that needs it

    threads = {"EngineConfig.onnxruntime.intra_op_num_threads": _THREADS}
    return RapidOCR(params={"Global.log_level": "error", **threads})
