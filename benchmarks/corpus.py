"""
Real text to ingest: the language reference that ships with Python (`pydoc_data.topics`, what
`help("TOPIC")` prints), bound into PDFs and, for the last few topics, left as text files.
"""

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pydoc_data.topics import topics

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

SOURCE = "Python's own language reference (pydoc_data.topics)"
_LINES = 46  # a page: 11 point type, lines of at most 80 characters
_MARGIN = 56
_TEXT_FILES = 10
# The shares of the text that each PDF gets: one is a book, the others are papers.
BOOK = "reference.pdf"
_SHARES = {
    BOOK: 0.44,
    "part-2.pdf": 0.14,
    "part-3.pdf": 0.14,
    "part-4.pdf": 0.14,
    "part-5.pdf": 0.14,
}


@dataclass(frozen=True)
class Corpus:
    files: Mapping[str, bytes]
    pages: int  # of the PDFs

    def batches(self) -> Iterator[dict[str, bytes]]:
        """Each PDF with its share of the text files."""
        pdfs = [name for name in self.files if name.endswith(".pdf")]
        texts = [name for name in self.files if name.endswith(".txt")]
        for place, pdf in enumerate(pdfs):
            yield {name: self.files[name] for name in [pdf, *texts[place :: len(pdfs)]]}

    @property
    def size(self) -> int:
        return sum(map(len, self.files.values()))


def corpus() -> Corpus:
    known = sorted(topics.items())
    bound = _bound(text for _, text in known[:-_TEXT_FILES])
    pages = {name: list(_pages(lines)) for name, lines in zip(_SHARES, bound, strict=True)}
    pdfs = {name: _pdf(name, of_file) for name, of_file in pages.items()}
    texts = {f"{name}.txt": text.encode() for name, text in known[-_TEXT_FILES:]}
    return Corpus(files={**pdfs, **texts}, pages=sum(map(len, pages.values())))


def sentences() -> Iterator[str]:
    """Things to ask for: the opening words of the reference's paragraphs."""
    for _, text in sorted(topics.items()):
        for paragraph in text.split("\n\n"):
            words = paragraph.split()
            if len(words) > 20 and paragraph[0].isalpha():
                yield " ".join(words[:12])


def _bound(texts: Iterable[str]) -> Iterator[list[str]]:
    lines = [line for text in texts for line in text.splitlines()]
    ends = [round(share * len(lines)) for share in accumulate(_SHARES.values())]
    for start, end in zip([0, *ends], ends, strict=False):
        yield lines[start:end]


def _pages(lines: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(lines), _LINES):
        yield lines[start : start + _LINES]


def _pdf(title: str, pages: list[list[str]]) -> bytes:
    body = io.BytesIO()
    canvas = Canvas(body, pagesize=A4, invariant=True)
    canvas.setTitle(title)
    for lines in pages:
        text = canvas.beginText(_MARGIN, A4[1] - _MARGIN)
        text.setFont("Courier", 10, leading=15.5)
        text.textLines("\n".join(lines), trim=False)
        canvas.drawText(text)
        canvas.showPage()
    canvas.save()
    return body.getvalue()
