"""
Reads files one at a time as the pipeline does, to find crashes, hangs and missing text.

Good folders are test/pdfs of github.com/mozilla/pdf.js, test-data of github.com/apache/poi, and
test-documents of github.com/apache/tika.
"""

import multiprocessing
import resource
import time
import traceback
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path

import pypdfium2

from stackroom.errors import Unreadable
from stackroom.model.formats import unsupported
from stackroom.text.document_text import text_of
from stackroom.text.extraction.apart import read_pages_apart

_SECONDS = 180.0  # limit for a file
_SLOW = 20.0  # seconds from which a file is reported
_LARGE = 600  # MB from which a file is reported
_INK = 0.002  # the share of a page's pixels; a page with less is blank
_WHITE = 230  # of 255; lighter pixels are white
_PIXELS = 400  # of a page's height or width


@dataclass(frozen=True, kw_only=True)
class Reading:
    """
    The indexed text, or why there is none: `refused` is for the owner, `crash` for developers.

    `unseen` are pages of a PDF with ink, but neither text nor a gap.
    """

    markdown: str = ""
    gaps: tuple[str, ...] = ()
    refused: str | None = None
    crash: str | None = None
    unseen: tuple[int, ...] = ()
    seconds: float = 0.0
    megabytes: int = 0

    def defects(self) -> Iterator[str]:
        if self.crash is not None:
            yield f"CRASH: {self.crash}"
        if self.unseen:
            yield f"UNSEEN: ink, but neither text nor a gap, on {len(self.unseen)} pages: " + (
                ", ".join(map(str, self.unseen[:10]))
            )
        if self.seconds > _SLOW:
            yield f"SLOW: {self.seconds:.0f} s"
        if self.megabytes > _LARGE:
            yield f"LARGE: {self.megabytes} MB"


def files_under(folder: Path) -> list[Path]:
    files = (each for each in sorted(folder.rglob("*")) if each.is_file())
    return [each for each in files if not unsupported(each.name)]


def read_by_itself(file: Path) -> Reading:
    """Read a file in a process of its own, whose children's memory is that of this file."""
    context = multiprocessing.get_context("spawn")  # a fork would have this process's memory
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as executor:
        try:
            return executor.submit(_measured, file).result()
        except BrokenProcessPool:
            return Reading(crash="the process that makes a text of its pages died")


def _measured(file: Path) -> Reading:
    began = time.monotonic()
    try:
        reading = _read(file)
    except Exception:  # every error is a defect that this benchmark seeks
        reading = Reading(crash=" | ".join(traceback.format_exc(limit=-2).split("\n")))
    seconds = time.monotonic() - began
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    return replace(reading, seconds=seconds, megabytes=memory)


def _read(file: Path) -> Reading:
    body = file.read_bytes()
    try:
        pages = read_pages_apart(body, file.name, seconds=_SECONDS)
    except Unreadable as error:
        return Reading(refused=error.reason)
    if pages is None:
        return Reading(crash="the reader died, took too long or too much memory")
    text = text_of(pages, file.name)
    empty = [page.number for page in pages if page.number and not (page.text.strip() or page.gap)]
    return Reading(markdown=text.markdown, gaps=text.gaps, unseen=tuple(_with_ink(body, empty)))


def _with_ink(body: bytes, numbers: Iterable[int]) -> Iterator[int]:
    for number in numbers:
        with pypdfium2.PdfDocument(body) as document:
            document.init_forms()
            page = document[number - 1]
            width, height = page.get_size()
            if min(width, height) < 1:
                continue  # such a page is invisible
            scale = _PIXELS / max(width, height)
            pixels = page.render(scale=scale, grayscale=True).to_numpy()
            if (pixels < _WHITE).mean() > _INK:
                yield number
