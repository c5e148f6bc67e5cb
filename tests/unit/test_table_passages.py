"""Tables of 400 rows, read, written as text and cut as a knowledge base cuts it."""

from io import BytesIO
from itertools import chain

import docx
import pytest
from docx.oxml import OxmlElement

from bedrock_kb_simulator.chunk_strategies import Chunking
from simulator.tests import files
from stackroom.text.document_text import text_of
from stackroom.text.extraction import read_pages

COLUMNS = ("vendor", "net_terms_days", "discount_pct", "region")
ROWS: list[list[str | float]] = [
    [f"Vendor {n}", n % 90, n % 7, ("North", "South")[n % 2]] for n in range(1, 401)
]
TABLE: list[list[str | float]] = [[*COLUMNS], *ROWS]


def document_of(rows: list[list[str | float]]) -> bytes:
    """Return a document with one table whose header repeats on each page."""
    document = docx.Document()
    table = document.add_table(rows=len(rows), cols=len(rows[0]))
    for cell, text in zip(table._cells, chain(*rows), strict=True):
        cell.text = str(text)
    table.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
    body = BytesIO()
    document.save(body)
    return body.getvalue()


FILES = {
    "a.docx": document_of(TABLE),
    "a.csv": "\n".join(";".join(map(str, row)) for row in TABLE).encode(),
    "a.xlsx": files.workbook({"Vendors": TABLE}),
    "a.md": "\n".join(
        ["# Vendors\n", f"| {' | '.join(COLUMNS)} |", "|---|---|---|---|"]
        + [f"| {' | '.join(map(str, row))} |" for row in ROWS]
    ).encode(),
    "a.html": (
        "<p>Terms</p><table><caption>Vendors</caption>"
        + "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in TABLE)
        + "</table>"
    ).encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_each_passage_of_a_long_table_names_the_columns_of_its_rows(name: str) -> None:
    text = text_of(read_pages(FILES[name], name), name).markdown

    passages = list(Chunking(max_tokens=300, overlap_percentage=20).split(text))

    assert len(passages) > 20
    for vendor, days, percent, region in ROWS[::25]:
        row = f"{vendor}; net_terms_days: {days}; discount_pct: {percent}; region: {region}"
        assert any(f"vendor: {row}" in passage for passage in passages)
    lines = [line for passage in passages for line in passage.split("\n")[1:-1]]
    assert all(
        all(f"{each}: " in line for each in COLUMNS) for line in lines if line.startswith("vendor")
    )


def test_each_passage_of_a_wide_table_names_row_and_columns() -> None:
    names = ["plant", *(f"measure {n}" for n in range(29))]
    rows = [[f"Plant {row}", *(f"{row * n % 977}" for n in range(29))] for row in range(400)]
    body = "\n".join(";".join(row) for row in [["Measures 2026"], [], names, *rows]).encode()
    text = text_of(read_pages(body, "a.csv"), "a.csv").markdown

    passages = list(Chunking(max_tokens=300, overlap_percentage=20).split(text))

    lines = {line for passage in passages for line in passage.split("\n")}
    for plant, *values in rows[::25]:
        its = [line for line in lines if line.startswith(f"plant: {plant};")]
        assert any(f"measure 28: {values[28]}" in line for line in its)
