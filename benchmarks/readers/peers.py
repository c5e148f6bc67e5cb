"""
Reads files with other libraries, as Markdown or as plain text.

Those that the project does not depend on are measured if they are installed:

    uv pip install beautifulsoup4 docx2python docx2txt html2text mammoth markdownify openpyxl
        pdfplumber pypdf python-calamine python-docx trafilatura xlsx2csv
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

Peer = Callable[[Path], str]


def peers_of(extension: str) -> dict[str, Peer]:
    """Return the installed peers for such files, by the names of their modules."""
    return {
        name: read
        for name, (extensions, read) in _PEERS.items()
        if extension in extensions and all(find_spec(each) for each in name.split(" + "))
    }


def _pdfium(file: Path) -> str:
    with import_module("pypdfium2").PdfDocument(file) as document:
        return "\n".join(page.get_textpage().get_text_bounded() for page in document)


def _pdfplumber(file: Path) -> str:
    with import_module("pdfplumber").open(file) as document:
        return "\n".join(page.extract_text() for page in document.pages)


def _pypdf(file: Path) -> str:
    return "\n".join(page.extract_text() for page in import_module("pypdf").PdfReader(file).pages)


def _python_docx(file: Path) -> str:
    return "\n".join(map(_of_block, import_module("docx").Document(str(file)).iter_inner_content()))


def _of_block(block: Any) -> str:
    if hasattr(block, "rows"):
        return _lines([cell.text for cell in row.cells] for row in block.rows)
    return f"{'# ' * block.style.name.startswith(('Heading', 'Title'))}{block.text}"


def _mammoth(file: Path) -> str:
    with file.open("rb") as body:
        return _marked_down(import_module("mammoth").convert_to_html(body).value)


def _docx2python(file: Path) -> str:
    with import_module("docx2python").docx2python(file) as document:
        return str(document.text)


def _selectolax(file: Path) -> str:
    parsed = import_module("selectolax.lexbor").LexborHTMLParser(file.read_bytes())
    return parsed.body.text(separator=" ") if parsed.body else ""


def _beautifulsoup(file: Path) -> str:
    return str(import_module("bs4").BeautifulSoup(file.read_bytes(), "html.parser").get_text(" "))


def _markdownify(file: Path) -> str:
    return _marked_down(file.read_text("utf-8", errors="replace"))


def _marked_down(html: str) -> str:
    return str(import_module("markdownify").markdownify(html, heading_style="ATX"))


def _html2text(file: Path) -> str:
    maker = import_module("html2text").HTML2Text(bodywidth=0)
    return str(maker.handle(file.read_text("utf-8", errors="replace")))


def _trafilatura(file: Path) -> str:
    extract = import_module("trafilatura").extract
    return extract(file.read_bytes(), output_format="markdown", favor_recall=True) or ""


def _openpyxl(file: Path) -> str:
    book = import_module("openpyxl").load_workbook(file, data_only=True)
    return _lines(row for sheet in book.worksheets for row in sheet.iter_rows(values_only=True))


def _calamine(file: Path) -> str:
    book = import_module("python_calamine").CalamineWorkbook.from_path(str(file))
    return _lines(
        row for name in book.sheet_names for row in book.get_sheet_by_name(name).to_python()
    )


def _xlsx2csv(file: Path) -> str:
    written = StringIO()
    options = {"delimiter": "\t", "exclude_hidden_sheets": True}
    import_module("xlsx2csv").Xlsx2csv(file, **options).convert(written, sheetid=0)
    return written.getvalue()


def _lines(rows: Iterable[Iterable[object]]) -> str:
    return "\n".join("\t".join("" if cell is None else str(cell) for cell in row) for row in rows)


def _chardet(file: Path) -> str:
    body = file.read_bytes()
    return body.decode(import_module("chardet").detect(body)["encoding"] or "ascii")


def _charset_normalizer(file: Path) -> str:
    best = import_module("charset_normalizer").from_bytes(file.read_bytes()).best()
    return "" if best is None else str(best)


_PEERS: dict[str, tuple[tuple[str, ...], Peer]] = {
    "pypdfium2": (("pdf",), _pdfium),
    "pdfplumber": (("pdf",), _pdfplumber),
    "pdfminer": (("pdf",), lambda file: import_module("pdfminer.high_level").extract_text(file)),
    "pypdf": (("pdf",), _pypdf),
    "docx": (("docx",), _python_docx),
    "mammoth + markdownify": (("docx",), _mammoth),
    "docx2txt": (("docx",), lambda file: import_module("docx2txt").process(file)),
    "docx2python": (("docx",), _docx2python),
    "selectolax": (("html",), _selectolax),
    "bs4": (("html",), _beautifulsoup),
    "markdownify": (("html",), _markdownify),
    "html2text": (("html",), _html2text),
    "trafilatura": (("html",), _trafilatura),
    "openpyxl": (("xlsx",), _openpyxl),
    "python_calamine": (("xlsx",), _calamine),
    "xlsx2csv": (("xlsx",), _xlsx2csv),
    "chardet": (("csv", "txt"), _chardet),
    "charset_normalizer": (("csv", "txt"), _charset_normalizer),
}
