"""The text of files by format, and unreadable files."""

import pytest

from bedrock_kb_simulator.file_pages import Unreadable, pages_of, require_text
from simulator.tests import files


@pytest.mark.parametrize(
    ("name", "body", "pages"),
    [
        ("two.pdf", files.pdf("Parking is free.", ""), ["Parking is free.", ""]),
        (
            "table.docx",
            files.word("Dear Ada,", table=[["Saturday", "closed"]]),
            ["Dear Ada,\nSaturday \tclosed \t\n"],
        ),
        (
            "hours.html",
            files.html_page(),
            [
                "Opening hours\nOpening hours\nThe reading room is open from 9 to 17.\nSaturday\n"
                "closed"
            ],
        ),
        (
            "book.xlsx",
            files.workbook({"Rent": [["Nimbus", 80.0, 2.5], []], "Empty": []}),
            ["Rent\nNimbus\t80\t2.5"],
        ),
        ("places.csv", files.latin1_csv(), [files.latin1_csv().decode("latin-1")]),
        ("size.txt", files.utf16_text(), ["Größe und Maß: 42 Meter\n"]),
        ("notes.MD", b"# Notes\r\n\r\nIt is cold.", ["# Notes\n\nIt is cold."]),
    ],
    ids=["pdf", "docx", "html", "xlsx", "csv", "txt", "md"],
)
def test_file_is_read_as_text(name: str, body: bytes, pages: list[str]) -> None:
    assert require_text(pages_of(body, name)) == pages


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("cut.pdf", files.truncated_pdf()),
        ("password.pdf", files.encrypted_pdf()),
        ("scan.pdf", files.pdf_without_text()),
        ("no.docx", files.word_that_is_no_zip()),
        ("picture.txt", files.picture()),
        ("old.doc", b"text"),
    ],
)
def test_file_without_text_is_unreadable(name: str, body: bytes) -> None:
    with pytest.raises(Unreadable):
        require_text(pages_of(body, name))
