import time

import pytest

from stackroom.inspection.extraction import Page, read_pages
from stackroom.inspection.page_map import PageMap, normalise
from tests import files

TRAVEL = "Travel costs are paid within ten days. Meals abroad are 48 euros a day, breakfast aside."
LEAVE = "After five years everyone may take a sabbatical of three months on half of the salary."
PAGER = "Whoever carries the pager answers within fifteen minutes, at night within half an hour."


def mapped(*texts: str) -> PageMap:
    page_map = PageMap.of("etag", [Page(number, text) for number, text in enumerate(texts, 1)])
    assert page_map is not None
    return page_map


@pytest.mark.parametrize(
    ("passage", "page"),
    [
        (TRAVEL, 1),
        (LEAVE[30:], 2),
        (f"{TRAVEL}\n\n{LEAVE}", 1),
        (f"{LEAVE[40:]} {PAGER}", 2),
        ("Nothing of the kind is written anywhere in these few pages of ours.", None),
        ("...", None),
        ("", None),
    ],
    ids=["first", "second", "from first on", "from second on", "nowhere", "no words", "empty"],
)
def test_a_passage_is_on_the_page_on_which_it_begins(passage: str, page: int | None) -> None:
    assert mapped(TRAVEL, LEAVE, PAGER).page_of(passage) == page


@pytest.mark.parametrize(
    "passage",
    [
        "After five years everyone may take a sab-\nbatical of three months",
        "After five years everyone may take a sab\u00adbatical\u00a0of   three\tmonths",
        "AFTER FIVE YEARS \u2019everyone\u2019 may take a sabbatical of three months",
        "\uff21fter five years everyone may take a sabbatical of three months",
    ],
    ids=["hyphenated", "soft hyphen", "quotes and case", "full width"],
)
def test_two_extractions_of_the_same_text_find_each_other(passage: str) -> None:
    assert mapped(TRAVEL, LEAVE, PAGER).page_of(passage) == 2


def test_ligatures_and_accents_are_one_however_they_are_written() -> None:
    assert normalise("\ufb01ne o\ufb03ce cafe\u0301 stra\u00dfe") == normalise(
        "fine office caf\u00e9 STRASSE"
    )


def test_a_passage_that_differs_in_places_is_found_by_its_first_piece_that_fits() -> None:
    passage = f"Handbook, page one of three. {TRAVEL} Figure omitted. {LEAVE}"

    page = mapped(TRAVEL, LEAVE, PAGER).page_of(passage)

    assert page == 1


def test_a_passage_that_could_be_on_several_pages_is_on_none() -> None:
    page_map = mapped(f"Contents {TRAVEL}", TRAVEL, LEAVE)

    pages = (page_map.page_of(TRAVEL), page_map.page_of("Contents " + TRAVEL))

    assert pages == (None, 1)


def test_a_text_that_a_page_says_twice_is_on_that_page() -> None:
    assert mapped(LEAVE, TRAVEL * 2).page_of(TRAVEL) == 2


def test_blank_pages_count_and_hold_nothing() -> None:
    page_map = mapped("", TRAVEL, "", "", LEAVE, "")

    pages = (page_map.page_of(TRAVEL), page_map.page_of(LEAVE))

    assert pages == (2, 5)


def test_the_pages_of_a_real_pdf_are_found() -> None:
    pages = read_pages(files.pdf(TRAVEL, "", LEAVE), "handbook.pdf")

    page_map = PageMap.of("etag", pages)

    assert page_map is not None
    assert page_map.page_of(LEAVE) == 3


def test_a_format_without_pages_has_no_map() -> None:
    pages = read_pages(b"just text", "notes.txt")

    page_map = PageMap.of("etag", pages)

    assert page_map is None


def test_five_hundred_pages_are_searched_in_a_moment() -> None:
    page_map = mapped(
        *(f"Page {number}. " + f"Clause {number} of many. " * 150 for number in range(500))
    )
    page_map.page_of("warm")

    started = time.thread_time()  # not what others on the machine take meanwhile
    page_map.page_of("unlike anything " * 100)
    took = time.thread_time() - started

    assert took < 1.0, "0.1 s as a rule"
