"""Pictures of pages, drawn in a child process."""

import io

import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from simulator.tests import files
from stackroom.text.extraction.page_pictures import pictures_of

pytestmark = pytest.mark.processes
_POSTER = (2_384.0, 3_370.0)  # A0


def drawn(*sizes: tuple[float, float]) -> bytes:
    """A PDF with a black square on each page, which has this size in points."""
    body = io.BytesIO()
    canvas = Canvas(body, invariant=True)
    for size in sizes:
        canvas.setPageSize(size)
        canvas.rect(10, 10, 50, 50, fill=True)
        canvas.showPage()
    canvas.save()
    return body.getvalue()


def test_pages_are_drawn_in_grey_with_200_dots_per_inch() -> None:
    [second, first] = pictures_of(drawn((360, 720), (720, 360)), [2, 1], seconds=60)

    images = [Image.open(io.BytesIO(each)) for each in (first, second)]
    assert [(each.format, each.mode, each.size) for each in images] == [
        ("PNG", "L", (1_000, 2_000)),
        ("PNG", "L", (2_000, 1_000)),
    ]
    # The square is at the bottom, 10 to 60 points from it.
    assert images[0].getpixel((100, 1_900)) == 0
    assert images[0].getpixel((100, 1_700)) == 255


@pytest.mark.parametrize("size", [_POSTER, (14_400.0, 36.0)])
def test_large_pages_stay_within_what_textract_takes(size: tuple[float, float]) -> None:
    [picture] = pictures_of(drawn(size), [1], seconds=60)

    width, height = Image.open(io.BytesIO(picture)).size
    assert max(width, height) <= 10_000
    assert width * height <= 5_010_000
    assert len(picture) < 5 * 1024**2


def test_pages_before_one_that_can_not_be_drawn_come_back() -> None:
    body = files.scanned_pdf("one", "two")

    assert len(pictures_of(body, [1, 99, 2], seconds=60)) == 1
    assert pictures_of(b"%PDF- of nothing", [1], seconds=60) == []
    assert pictures_of(body, [1], seconds=0.01) == []
