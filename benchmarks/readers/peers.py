"""
What other libraries make of a file, as Markdown or as plain text.

None of them is a dependency of the project. Those that are installed beside it are measured:

    .venv/bin/uv pip install mammoth markdownify html2text trafilatura openpyxl python-calamine
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

Peer = Callable[[Path], str]


def peers_of(extension: str) -> dict[str, Peer]:
    """Return those that read such files and are installed, by the names of their packages."""
    return {
        name: read
        for name, (extensions, read) in _PEERS.items()
        if extension in extensions and all(find_spec(each) for each in name.split(" + "))
    }


def _mammoth(file: Path) -> str:
    with file.open("rb") as body:
        return _marked_down(import_module("mammoth").convert_to_html(body).value)


def _markdownify(file: Path) -> str:
    return _marked_down(file.read_text("utf-8", errors="replace"))


def _marked_down(html: str) -> str:
    return str(import_module("markdownify").markdownify(html, heading_style="ATX"))


def _python_docx(file: Path) -> str:
    document = import_module("docx").Document(str(file))
    return "\n".join(each.text for each in document.paragraphs)


def _openpyxl(file: Path) -> str:
    book = import_module("openpyxl").load_workbook(file, data_only=True)
    return _lines(row for sheet in book.worksheets for row in sheet.iter_rows(values_only=True))


def _calamine(file: Path) -> str:
    book = import_module("python_calamine").CalamineWorkbook.from_path(str(file))
    return _lines(
        row for name in book.sheet_names for row in book.get_sheet_by_name(name).to_python()
    )


def _lines(rows: Iterable[Iterable[object]]) -> str:
    return "\n".join(
        "| " + " | ".join("" if cell is None else str(cell) for cell in row) for row in rows
    )


def _html2text(file: Path) -> str:
    maker = import_module("html2text").HTML2Text(bodywidth=0)
    return str(maker.handle(file.read_text("utf-8", errors="replace")))


def _trafilatura(file: Path) -> str:
    extract = import_module("trafilatura").extract
    return extract(file.read_bytes(), output_format="markdown", favor_recall=True) or ""


def _markitdown(file: Path) -> str:
    return str(import_module("markitdown").MarkItDown().convert(str(file)).text_content)


_PEERS: dict[str, tuple[tuple[str, ...], Peer]] = {
    "mammoth + markdownify": (("docx",), _mammoth),
    "docx": (("docx",), _python_docx),
    "openpyxl": (("xlsx",), _openpyxl),
    "python_calamine": (("xlsx",), _calamine),
    "markdownify": (("html",), _markdownify),
    "html2text": (("html",), _html2text),
    "trafilatura": (("html",), _trafilatura),
    "markitdown": (("docx", "html", "xlsx", "csv"), _markitdown),
}
