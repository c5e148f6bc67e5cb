"""What of a file cannot be found, as its owner reads it."""

import io

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from simulator.tests import files
from stackroom.inspection.extraction import Page, PageGap, read_pages
from stackroom.inspection.gaps import gaps_of

SCAN = files.photograph("The notice period is nine weeks.")


def drawn(*pages: str, scanned: int = 0, footer: str = "", recognized: str = "") -> bytes:
    """A PDF with pages of text, then scanned ones with a footer or an invisible layer of OCR."""
    body = io.BytesIO()
    canvas = Canvas(body, pagesize=A4, invariant=True)
    for text in pages:
        canvas.drawString(72, 770, text)
        canvas.showPage()
    for _ in range(scanned):
        canvas.drawImage(ImageReader(io.BytesIO(SCAN)), 0, 0, *A4)
        canvas.drawString(72, 40, footer)
        layer = canvas.beginText(72, 770)
        layer.setTextRenderMode(3)
        layer.textLines(recognized)
        canvas.drawText(layer)
        canvas.showPage()
    canvas.save()
    return body.getvalue()


@pytest.mark.parametrize("footer", ["", "Lease Agreement - Page 2 of 4 - confidential"])
def test_scanned_pages_behind_a_text_page_are_a_gap(footer: str) -> None:
    pages = read_pages(drawn("Lease Agreement", scanned=3, footer=footer), "lease.pdf")

    assert gaps_of(pages) == ("3 of 4 pages have no text, or hardly any, beside an image: 2-4",)


@pytest.mark.parametrize(
    "body",
    [
        drawn("The rent is 812 euros.", "", "The deposit is three months of rent."),
        drawn("Annex B", scanned=1, recognized="The notice period is nine weeks."),
        files.pdf("Vuokrasopimuksen irtisanomisaika on kolme kuukautta. QX-77-ZKW"),
    ],
    ids=["blank page", "OCR layer", "part numbers"],
)
def test_page_whose_text_is_all_that_people_see_is_no_gap(body: bytes) -> None:
    assert gaps_of(read_pages(body, "annex.pdf")) == ()


def test_scans_that_the_deployment_reads_are_no_gap() -> None:
    pages = read_pages(drawn("Lease Agreement", scanned=3), "lease.pdf", scans=True)

    assert gaps_of(pages) == ()


def test_page_of_private_characters_looks_garbled() -> None:
    pages = read_pages(files.garbled_pdf("Sound", "Secret"), "lease.pdf")

    assert gaps_of(pages) == ("1 of 2 pages looks garbled: 2",)


@pytest.mark.parametrize(
    ("name", "body", "gaps"),
    [
        (
            "a.csv",
            "Müller;Königstraße".encode("cp1252"),
            ("read as Windows-1252, a guess; save it as UTF-8",),
        ),
        (
            "a.txt",
            "notice: nine weeks".encode("utf-16-le"),
            ("read as UTF-16-LE, a guess; save it as UTF-8",),
        ),
        ("a.txt", "Müller".encode(), ()),
        ("a.csv", "Müller;1200".encode("utf-16"), ()),
        ("a.html", "<meta charset=cp1251><p>Срок".encode("cp1251"), ()),
    ],
)
def test_encoding_that_only_the_bytes_tell_is_a_gap(
    name: str, body: bytes, gaps: tuple[str, ...]
) -> None:
    assert gaps_of(read_pages(body, name)) == gaps


def test_pages_are_listed_as_ranges_and_no_more_than_fit() -> None:
    scattered = [
        Page(number=number, text="", gap=PageGap.NO_TEXT if number % 2 else None)
        for number in range(1, 60)
    ]

    [gap] = gaps_of(scattered)

    assert gap.startswith("30 of 59 pages have no text, or hardly any, beside an image: 1, 3, 5, ")
    assert gap.endswith(", 37, 39, and 10 more ranges")
