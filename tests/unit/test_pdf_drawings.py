"""Contents of a PDF's page beside its text: drawn annotations, and letters."""

import io
from collections.abc import Callable

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from stackroom.text.extraction import read_pages
from stackroom.text.gaps import gaps_of

WORDS = "The plant in Kiel makes lamps of three kinds, and ships them in May."


def annotated(properties: str, written: str) -> bytes:
    """A PDF whose page has a line of text, and an annotation with a drawing of its own."""
    content = f"BT /F1 12 Tf 60 700 Td ({WORDS}) Tj ET"
    drawing = f"BT /F1 14 Tf 5 8 Td ({written}) Tj ET"
    fonts = "/Resources<</Font<</F1 5 0 R>>>>"
    objects = [
        "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[6 0 R]>>>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R{fonts}/Annots[6 0 R]>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        f"<</Type/Annot/Rect[100 200 300 230]/AP<</N 7 0 R>>{properties}>>",
        f"<</Type/XObject/Subtype/Form/BBox[0 0 200 30]{fonts}/Length {len(drawing)}>>stream\n"
        f"{drawing}\nendstream",
    ]
    written_objects = [f"{number} 0 obj\n{each}\nendobj" for number, each in enumerate(objects, 1)]
    return "\n".join(
        ["%PDF-1.4", *written_objects, "trailer<</Root 1 0 R/Size 8>>", "%%EOF"]
    ).encode()


@pytest.mark.parametrize(
    ("properties", "written"),
    [
        ("/Subtype/Stamp/F 4", "APPROVED by Nimbus"),
        ("/Subtype/Watermark/F 4", "Draft of May"),
        ("/Subtype/Widget/FT/Btn/Ff 65536/T(b)/F 4", "Send order"),
        ("/Subtype/Widget/FT/Tx/T(t)/F 4", "Of no value"),
    ],
)
def test_writing_of_a_drawn_annotation_is_text(properties: str, written: str) -> None:
    pages = read_pages(annotated(properties, written), "a.pdf")

    assert pages[0].text == f"{WORDS}\n{written}"
    assert gaps_of(pages) == ()


def test_edges_of_a_button_are_no_writing() -> None:
    bars = " ".join(f"{10 * at} {low} 4 8 re f" for at in range(15) for low in (2, 20))

    pages = read_pages(
        annotated("/Subtype/Widget/FT/Btn/Ff 65536/T(b)/F 4", f"Go) Tj ET {bars} BT ("), "a.pdf"
    )

    assert pages[0].text == f"{WORDS}\nGo"
    assert gaps_of(pages) == ()


@pytest.mark.parametrize(
    ("properties", "more"),
    [
        ("/Subtype/Stamp/F 2", ""),
        ("/Subtype/Stamp/F 32", ""),
        ("/Subtype/Widget/FT/Tx/Ff 8192/T(p)/V(secret)/F 4", ""),
        ("/Subtype/Widget/FT/Tx/T(name)/V(Ann)/F 4", "\nname: Ann"),
    ],
    ids=["hidden", "not viewed", "password", "field"],
)
def test_invisible_or_repeated_drawing_adds_no_text(properties: str, more: str) -> None:
    pages = read_pages(annotated(properties, "Drawn words"), "a.pdf")

    assert pages[0].text == WORDS + more


_PLACE = "/Rect[100 200 300 230]/AP<</N 7 0 R>>"
_FIELD, _NOTE = "/Subtype/Widget/FT/Tx/T(name)/V(Ann)/F 4", "/Subtype/FreeText/Contents(Ann)/F 4"


@pytest.mark.parametrize("properties", [_FIELD, _NOTE])
@pytest.mark.parametrize("place", ["100 -90 300 -60", "700 200 900 230", "0 0 0 0"])
def test_field_or_note_that_is_out_of_sight_is_left_out_and_said(
    properties: str, place: str
) -> None:
    body = annotated(properties, "").replace(_PLACE.encode(), f"/Rect[{place}]".encode())

    pages = read_pages(body, "a.pdf")

    assert pages[0].text == WORDS
    assert gaps_of(pages) == ("text that nobody can see was left out: page 1",)


@pytest.mark.parametrize(("more", "is_seen"), [("", False), ("/MK<</BG[0 0 1]>>", True)])
def test_white_value_of_a_field_is_text_if_it_stands_on_a_colour(
    more: str, *, is_seen: bool
) -> None:
    pages = read_pages(annotated(f"{_FIELD}/DA(/F1 12 Tf 1 g){more}", ""), "a.pdf")

    assert pages[0].text == (f"{WORDS}\nname: Ann" if is_seen else WORDS)
    assert bool(gaps_of(pages)) is not is_seen


@pytest.mark.parametrize("kind", ["Square", "Line", "Ink", "FileAttachment", "Text"])
def test_comment_on_any_kind_of_mark_is_a_gap(kind: str) -> None:
    pages = read_pages(annotated(f"/Subtype/{kind}/Contents(agreed at 5)/F 4", ""), "a.pdf")

    assert gaps_of(pages) == ("1 comment was not read: page 1",)


def _letters(canvas: Canvas) -> None:
    """Twelve lines of shapes that are like letters."""
    for line in range(12):
        for at in range(40):
            _letter(canvas, 60 + 8 * at, 500 - 15 * line, 4 + at % 3, 5 + 3 * (at % 2))


def _letter(canvas: Canvas, x: float, y: float, width: float, height: float) -> None:
    path = canvas.beginPath()
    path.moveTo(x, y)
    path.lineTo(x, y + height)
    path.curveTo(x + 1, y + height + 1, x + width, y + height, x + width, y + height / 2)
    path.lineTo(x + width - 1, y)
    path.lineTo(x + width - 2, y)
    path.curveTo(x + 1, y + height / 2, x + 1, y + 1, x + 1, y)
    path.close()
    canvas.drawPath(path, stroke=0, fill=1)


def _bars(canvas: Canvas) -> None:
    for chart in range(5):
        for at in range(40):
            canvas.rect(60 + 9 * at, 500 - 60 * chart, 6, 3 + (at * 37) % 30, stroke=0, fill=1)


def _page(draw: Callable[[Canvas], None]) -> bytes:
    body = io.BytesIO()
    canvas = Canvas(body, pagesize=A4, invariant=True)
    for line in range(3):
        canvas.drawString(60, 750 - 14 * line, WORDS)
    draw(canvas)
    canvas.save()
    return body.getvalue()


def test_letters_drawn_as_shapes_beside_text_are_a_gap() -> None:
    (gap,) = gaps_of(read_pages(_page(_letters), "a.pdf"))

    assert gap == "the page has writing in an image, or drawn as shapes, that was not read"


def test_drawing_beside_text_causes_no_gap() -> None:
    assert gaps_of(read_pages(_page(_bars), "a.pdf")) == ()


def test_letters_that_stand_alone_in_fonts_outside_the_file_are_a_gap() -> None:
    font = (
        "<</Type/Font/Subtype/Type0/BaseFont/SimSun/Encoding/GBK-EUC-H/DescendantFonts[<</Type/Font"
        "/Subtype/CIDFontType2/BaseFont/SimSun/DW 1000/CIDSystemInfo<</Registry(Adobe)"
        "/Ordering(GB1)/Supplement 2>>/FontDescriptor<</Type/FontDescriptor/FontName/SimSun"
        "/Flags 32/FontBBox[0 -145 1000 859]>>>>]>>"
    )
    letters = " ".join(f"1 0 0 1 {20 * at} 90 Tm <b9d8> Tj" for at in range(20))
    plain = annotated("/Subtype/Stamp/F 2", "").decode()
    body = plain.replace("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>", font)
    body = body.replace(f"({WORDS}) Tj", f"<b9d8d3da> Tj {letters}")

    pages = read_pages(body.encode(), "a.pdf")

    assert pages[0].text == "关于"
    assert gaps_of(pages) == ("the page looks garbled",)
    assert gaps_of(read_pages(plain.encode(), "a.pdf")) == ()
