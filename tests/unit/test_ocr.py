"""OCR of the pages that need it: which are asked for, and what becomes of each."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from stackroom.errors import Illegible, ServiceRefused, StoreUnavailable
from stackroom.text.extraction import Page, PageGap
from stackroom.text.gaps import gaps_of
from stackroom.text.ocr import PageOcr
from stackroom.text.text_lines import TextLine

COVER = Page(1, "Lease Agreement")


def scan(number: int, text: str = "", gap: PageGap = PageGap.NO_TEXT) -> Page:
    return Page(number, text, gap=gap)


@dataclass
class Scanner:
    """A file's pages, what is to be seen on them, and a clock that each page's OCR moves on."""

    pages: Sequence[Page]
    seen: dict[int, str | Exception] = field(default_factory=dict)
    confidence: float = 99.0
    undrawable: frozenset[int] = frozenset()
    seconds_a_batch: float = 0.0
    now: float = 0.0
    asked: list[int] = field(default_factory=list)
    counted: list[tuple[int, int]] = field(default_factory=list)

    def pictures(self, _body: bytes, numbers: Sequence[int], *, seconds: float) -> list[bytes]:
        self.now += self.seconds_a_batch
        drawn = list[bytes]()
        for number in numbers:
            if number in self.undrawable:
                break
            drawn.append(str(number).encode())
        return drawn

    def lines(self, picture: bytes) -> Sequence[TextLine]:
        number = int(picture)
        self.asked.append(number)
        seen = self.seen.get(number, "")
        if isinstance(seen, Exception):
            raise seen
        return [
            TextLine(
                text=text, confidence=self.confidence, left=0.1, top=at / 50, width=0.8, height=0.01
            )
            for at, text in enumerate(filter(None, seen.split("\n")))
        ]

    def read(self) -> tuple[Page, ...]:
        ocr = PageOcr(
            extract=lambda _body, _filename: tuple(self.pages),
            pictures=self.pictures,
            recognition=self,
            seconds=180,
            count=lambda read, failed: self.counted.append((read, failed)),
            run_parallel=lambda actions: [action() for action in actions],
            elapsed=lambda: self.now,
        )
        pages = ocr(b"%PDF-", "lease.pdf")
        assert pages is not None
        return pages


def test_only_pages_with_gaps_that_ocr_can_fill_are_read() -> None:
    form = scan(4, "Name", PageGap.FORM)
    scanner = Scanner(
        [COVER, scan(2, "Page 2 of 4"), scan(3, "", PageGap.GARBLED), form],
        seen={2: "Annex B\nThe notice period is nine weeks.\nPage 2 of 4", 3: "The rent is due."},
    )

    pages = scanner.read()

    assert scanner.asked == [2, 3]
    assert pages == (
        COVER,
        Page(2, "Annex B\nThe notice period is nine weeks.\nPage 2 of 4"),
        Page(3, "The rent is due."),
        form,
    )
    assert scanner.counted == [(2, 0)]


def test_text_found_by_ocr_is_added_to_a_pages_own_text() -> None:
    table = scan(2, "The rates are these.\nAll prices in euros.", PageGap.UNREAD_PART)
    scanner = Scanner(
        [COVER, table], seen={2: "The rates arc these.\nNight shift 41.50\nAll prices in euros."}
    )

    pages = scanner.read()

    assert pages[1] == Page(2, "The rates are these.\nAll prices in euros.\nNight shift 41.50")


def test_file_whose_pages_have_text_costs_nothing() -> None:
    scanner = Scanner([COVER, Page(2, "")])

    assert scanner.read() == (COVER, Page(2, ""))
    assert (scanner.asked, scanner.counted) == ([], [])


def test_page_that_can_not_be_drawn_or_read_keeps_its_gap_alone() -> None:
    scanner = Scanner(
        [COVER, *map(scan, (2, 3, 4))], seen={2: "Annex A", 4: ""}, undrawable=frozenset({3})
    )

    pages = scanner.read()

    assert scanner.asked == [2, 4]
    assert [each.gap for each in pages] == [None, None, PageGap.NO_TEXT, PageGap.NO_TEXT]


@pytest.mark.parametrize(
    "error",
    [
        StoreUnavailable("DetectDocumentText", "ThrottlingException"),
        ServiceRefused("DetectDocumentText", "AccessDeniedException"),
    ],
)
def test_ocr_that_fails_throughout_is_not_asked_again_and_fails_no_file(error: Exception) -> None:
    scanner = Scanner([COVER, *map(scan, range(2, 12))], seen=dict.fromkeys(range(2, 12), error))

    pages = scanner.read()

    assert scanner.asked == [2, 3, 4, 5]
    assert gaps_of(pages) == ("10 of 11 pages have no readable text, since OCR failed: 2-11",)
    assert scanner.counted == [(0, 10)]


def test_ocr_ends_in_time_and_says_which_pages_are_left() -> None:
    numbers = range(1, 21)
    scanner = Scanner(
        [*map(scan, numbers)], seen=dict.fromkeys(numbers, "text"), seconds_a_batch=50
    )

    pages = scanner.read()

    assert len(scanner.asked) == 12, "a batch begins only where it may well end in time"
    assert [each.gap for each in pages[12:]] == [PageGap.OCR_LIMIT] * 8


def test_scan_on_which_nothing_can_be_read_is_a_defect() -> None:
    with pytest.raises(Illegible, match="OCR could read none"):
        Scanner([scan(1), scan(2)]).read()


def test_scan_whose_ocr_failed_is_no_defect() -> None:
    failed = StoreUnavailable("DetectDocumentText", "ThrottlingException")

    [page] = Scanner([scan(1)], seen={1: failed}).read()

    assert page == scan(1, gap=PageGap.OCR_FAILED)
