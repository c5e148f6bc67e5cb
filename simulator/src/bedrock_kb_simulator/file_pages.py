"""
The text of a file, page by page.

This runs in the parser's child process, so a file that crashes or stalls its reader ends only that.
"""

import codecs
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from typing import IO
from xml.etree import ElementTree

import pypdfium2
from python_calamine import load_workbook
from selectolax.lexbor import LexborHTMLParser

from bedrock_kb_simulator.bucket_objects import format_of

# UTF-32 before UTF-16: the little-endian mark of the first begins with that of the second.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_HEAD_BYTES = 1_024  # where HTML requires the declaration (WHATWG HTML, 4.2.5.4)
_HIDDEN = ["script", "style", "noscript", "template", "svg", "iframe", "object"]
# fmt: off
_INLINE = frozenset({
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "wbr",
})
# fmt: on
# PDFium repairs truncated files and returns some of the pages. Readers look for the end mark in the
# last 1,024 bytes (ISO 32000-1, annex H.3, note 18); mail programs append more than that.
_TAIL_BYTES = 4_096
_NOTES = ("footnotes.xml", "endnotes.xml")
# Breaks and hyphens of WordprocessingML; table cells end with a tab, so a row is a line.
_MARKUP = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_ENDINGS = {"p": "\n", "tc": "\t", "tr": "\n"}


class Unreadable(Exception):
    """A file without readable text."""


def pages_of(body: bytes, filename: str) -> list[str]:
    """
    Return the text of each page of a PDF, including blank ones, or of another format as one page.

    Raises Unreadable if the file can't be read; `require_text` checks for text.
    """
    read = _READERS.get(format_of(filename))
    if read is None:
        raise Unreadable("the format of the file is not supported")
    try:
        return read(body)
    except Unreadable:
        raise
    except Exception as error:  # several libraries, on arbitrary files
        raise Unreadable("the file is damaged, encrypted, or not what its name says") from error


def require_text(pages: Iterable[str]) -> list[str]:
    """Return the same pages; raises Unreadable if all are blank."""
    found = list(pages)
    if not any(page.strip() for page in found):
        raise Unreadable("no text was found in the file")
    return found


def _pdf(body: bytes) -> list[str]:
    if b"%%EOF" not in body.rstrip(b"\0\r\n\t ")[-_TAIL_BYTES:]:
        raise Unreadable("the PDF is cut off")
    with pypdfium2.PdfDocument(body) as document:
        texts = [page.get_textpage().get_text_bounded() for page in document]
    # PDFium writes U+0002 for a hyphen at a line's end.
    return [_lines(text.replace("\x02", "")) for text in texts]


def _plain(body: bytes) -> list[str]:
    return [_lines(_decode(body))]


def _decode(body: bytes) -> str:
    """Decode by byte order mark, as UTF-8, or as Windows-1252 (WHATWG Encoding's default)."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body.decode(encoding)
    if b"\0" in body:
        raise Unreadable("the file is not text")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("cp1252", errors="replace")


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _web_page(body: bytes) -> list[str]:
    """Return the text that a browser shows, one line per block."""
    tree = LexborHTMLParser(_markup(body))
    tree.strip_tags(_HIDDEN)
    pieces = []
    for node in tree.root.traverse(include_text=True) if tree.root else ():
        if node.tag == "-text":
            pieces.append(re.sub(r"\s+", " ", node.text_content or ""))
        elif node.tag not in _INLINE:
            pieces.append("\n")
    lines = (line.strip() for line in "".join(pieces).split("\n"))
    return ["\n".join(line for line in lines if line)]


def _markup(body: bytes) -> str:
    declared = _CHARSET.search(body[:_HEAD_BYTES])
    if declared and not body.startswith(tuple(mark for mark, _ in _MARKS)):
        try:
            return body.decode(declared[1].decode("ascii"))
        except (LookupError, UnicodeDecodeError):
            pass  # wrong declarations are common; detect the encoding instead
    return _decode(body)


def _docx(body: bytes) -> list[str]:
    with zipfile.ZipFile(BytesIO(body)) as archive:
        relations = ElementTree.fromstring(archive.read("_rels/.rels"))  # noqa: S314 - see _pieces
        [main] = [
            each.get("Target", "").lstrip("/")
            for each in relations
            if each.get("Type", "").endswith("/officeDocument")
        ]
        folder, known = posixpath.dirname(main), archive.namelist()
        notes = [part for name in _NOTES if (part := posixpath.join(folder, name)) in known]
        texts = []
        for part in (main, *notes):
            with archive.open(part) as opened:
                texts.append("".join(_pieces(opened)))
    return ["\n".join(texts)]


def _pieces(part: IO[bytes]) -> Iterator[str]:
    # Expat limits the expansion of entities, the child's memory limits the rest.
    cells = fallbacks = 0  # open cells, and open mc:Fallback elements: the text for older readers
    for event, element in ElementTree.iterparse(part, ("start", "end")):  # noqa: S314 - as above
        name, step = element.tag.rpartition("}")[2], 1 if event == "start" else -1
        cells += step * (name == "tc")
        fallbacks += step * (name == "Fallback")
        if fallbacks:
            continue
        if event == "start":
            yield _MARKUP.get(name, "")
        elif name == "t":
            yield element.text or ""
        elif name in _ENDINGS:
            yield " " if name == "p" and cells else _ENDINGS[name]
            element.clear()


def _workbook(body: bytes) -> list[str]:
    """Return every non-empty sheet under its name, one line per row."""
    workbook, lines = load_workbook(BytesIO(body)), []
    for name in workbook.sheet_names:
        rows = [row for row in map(_row, workbook.get_sheet_by_name(name).iter_rows()) if row]
        lines += [name, *rows] if rows else []
    return ["\n".join(lines)]


def _row(cells: Sequence[object]) -> str:
    # Spreadsheets have no integers: 80 is read as 80.0.
    whole = (int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in cells)
    return "\t".join(map(str, whole)).strip()


_READERS: dict[str, Callable[[bytes], list[str]]] = {
    "pdf": _pdf,
    "docx": _docx,
    "txt": _plain,
    "md": _plain,
    "csv": _plain,
    "html": _web_page,
    "xlsx": _workbook,
}
