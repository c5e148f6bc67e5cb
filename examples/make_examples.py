"""
Makes the PDF and the DOCX of the examples from their sources: `python examples/make_examples.py`.

Equal sources give an equal PDF, byte for byte, on any machine and day: every date is fixed, and
nothing is compressed. A DOCX is a compressed archive, as equal as the compressor allows.

The sources are a little Markdown: `#` headings, paragraphs, `|` tables whose first row is the head,
and `---` for a new page.
"""

import io
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import docx
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.units import cm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    Flowable,
    PageBreak,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    Table,
    TableStyle,
)

HERE = Path(__file__).parent
SHELF = Path("alice/handbook")
NEW_PAGE = "---"

Block = str | list[list[str]]  # a heading, a paragraph or NEW_PAGE; or a table by rows


def blocks(source: str) -> Iterator[Block]:
    for block in source.strip().split("\n\n"):
        if block.startswith("|"):
            yield [
                [cell.strip() for cell in row.strip("| ").split("|")] for row in block.splitlines()
            ]
        else:
            yield block.replace("\n", " ")


def pdf(source: str, title: str) -> bytes:
    body = io.BytesIO()
    document = SimpleDocTemplate(
        body,
        pagesize=A4,
        title=title,
        author="Brackwater Instruments",
        invariant=True,
        pageCompression=0,
        leftMargin=2.5 * cm,
        rightMargin=2.5 * cm,
    )
    total = source.count(f"\n{NEW_PAGE}\n") + 1

    def footer(canvas: Canvas, _: SimpleDocTemplate) -> None:
        canvas.setFont("Helvetica", 9)
        text = f"Brackwater Instruments, {title.lower()}, page {canvas.getPageNumber()} of {total}"
        canvas.drawCentredString(A4[0] / 2, 1.5 * cm, text)

    document.build(list(_flowables(blocks(source))), onFirstPage=footer, onLaterPages=footer)
    return body.getvalue()


def _flowables(source: Iterable[Block]) -> Iterator[Flowable]:
    styles = getSampleStyleSheet()
    for block in source:
        if block == NEW_PAGE:
            yield PageBreak()
        elif isinstance(block, list):
            yield _table(block)
        elif block.startswith("# "):
            yield Paragraph(block.removeprefix("# "), styles["Heading1"])
        else:
            yield Paragraph(block, styles["BodyText"])
        yield Spacer(1, 0.2 * cm)


def _table(rows: list[list[str]]) -> Table:
    return Table(
        rows,
        hAlign="LEFT",
        style=TableStyle(
            [
                ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold"),
                ("GRID", (0, 0), (-1, -1), 0.5, colors.grey),
            ]
        ),
    )


def word(source: str) -> bytes:
    document = docx.Document()
    for block in blocks(source):
        if isinstance(block, list):
            table = document.add_table(len(block), len(block[0]), style="Table Grid")
            for row, values in enumerate(block):
                for column, value in enumerate(values):
                    table.cell(row, column).text = value
        elif block.startswith("# "):
            document.add_heading(block.removeprefix("# "), level=1)
        else:
            document.add_paragraph(block)
    body = io.BytesIO()
    document.save(body)
    return _dateless(body.getvalue())


def _dateless(archive: bytes) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as dated, zipfile.ZipFile(body, "w") as dateless:
        for name in dated.namelist():
            member = zipfile.ZipInfo(name)  # 1 January 1980
            dateless.writestr(member, dated.read(name), zipfile.ZIP_DEFLATED)
    return body.getvalue()


def make(target: Path) -> None:
    shelf = target / SHELF
    shelf.mkdir(parents=True, exist_ok=True)
    handbook = (HERE / "sources/employee-handbook.md").read_text(encoding="utf-8")
    guide = (HERE / "sources/incident-guide.md").read_text(encoding="utf-8")
    (shelf / "employee-handbook.pdf").write_bytes(pdf(handbook, "Employee handbook"))
    (shelf / "incident-guide.docx").write_bytes(word(guide))


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
