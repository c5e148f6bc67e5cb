import time

import pytest

from stackroom.inspection.extraction import Page, read_pages
from stackroom.inspection.normalised import normalise
from stackroom.inspection.place_map import PlaceMap
from stackroom.ports.retrieval import Place
from tests import files

TRAVEL = "Travel costs are paid within ten days. Meals abroad are 48 euros a day, breakfast aside."
LEAVE = "After five years everyone may take a sabbatical of three months on half of the salary."
PAGER = "Whoever carries the pager answers within fifteen minutes, at night within half an hour."


def mapped(*texts: str) -> PlaceMap:
    place_map = PlaceMap.of("etag", [Page(number, text) for number, text in enumerate(texts, 1)])
    assert place_map is not None
    return place_map


@pytest.mark.parametrize(
    ("passage", "page"),
    [
        (TRAVEL, 1),
        (LEAVE[30:], 2),
        (f"{TRAVEL}\n\n{LEAVE}", 1),
        (f"{LEAVE[40:]} {PAGER}", 3),
        (f"{LEAVE} {PAGER[:60]}", 2),
        ("Nothing of the kind is written anywhere in these few pages of ours.", None),
        ("...", None),
        ("", None),
    ],
    ids=[
        "first",
        "second",
        "from first on",
        "from second on",
        "into third",
        "nowhere",
        "no words",
        "empty",
    ],
)
def test_a_passage_is_on_the_page_that_has_most_of_it(passage: str, page: int | None) -> None:
    assert mapped(TRAVEL, LEAVE, PAGER).place_of(passage).page == page


@pytest.mark.parametrize(
    ("passage", "pages"),
    [
        (LEAVE, (2, 2, 2)),
        (f"{TRAVEL}\n\n{LEAVE}\n\n{PAGER}", (3, 1, 3)),
        (f"{TRAVEL[60:]} {LEAVE} {PAGER[:60]}", (2, 1, 3)),
        (f"{TRAVEL[60:]} {LEAVE} Some line that is not there {PAGER[:50]}", (2, 1, 3)),
    ],
    ids=["one", "three", "most on the second", "most on the second, with something else"],
)
def test_a_passage_reaches_from_page_to_page(passage: str, pages: tuple[int, ...]) -> None:
    place = mapped(TRAVEL, LEAVE, PAGER).place_of(passage)

    assert (place.page, place.page_first, place.page_last) == pages


def test_neighbours_touch_where_one_ends_and_the_other_begins() -> None:
    place_map = mapped(TRAVEL, LEAVE, PAGER)

    spans = [place_map.place_of(passage).span for passage in (TRAVEL, LEAVE + PAGER[:40])]

    end = len(normalise(TRAVEL))
    assert spans == [(0, end), (end, end + len(normalise(LEAVE + PAGER[:40])))]


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
    assert mapped(TRAVEL, LEAVE, PAGER).place_of(passage).page == 2


def test_ligatures_and_accents_are_one_however_they_are_written() -> None:
    assert normalise("\ufb01ne o\ufb03ce cafe\u0301 stra\u00dfe") == normalise(
        "fine office caf\u00e9 STRASSE"
    )


def test_a_passage_that_differs_in_places_is_found_by_its_first_piece_that_fits() -> None:
    passage = f"Handbook, page one of three. {TRAVEL} Figure omitted. {LEAVE}"

    page = mapped(TRAVEL, LEAVE, PAGER).place_of(passage).page

    assert page == 1


def test_a_passage_that_could_be_on_several_pages_is_on_none() -> None:
    place_map = mapped(f"Contents {TRAVEL}", TRAVEL, LEAVE)

    pages = (place_map.place_of(TRAVEL).page, place_map.place_of("Contents " + TRAVEL).page)

    assert pages == (None, 1)


def test_a_text_that_a_page_says_twice_is_on_that_page() -> None:
    assert mapped(LEAVE, TRAVEL * 2).place_of(TRAVEL).page == 2


def test_blank_pages_count_and_hold_nothing() -> None:
    place_map = mapped("", TRAVEL, "", "", LEAVE, "")

    pages = (place_map.place_of(TRAVEL).page, place_map.place_of(LEAVE).page)

    assert pages == (2, 5)


def test_the_pages_of_a_real_pdf_are_found() -> None:
    pages = read_pages(files.pdf(TRAVEL, "", LEAVE), "handbook.pdf")

    place_map = PlaceMap.of("etag", pages)

    assert place_map is not None
    assert place_map.place_of(LEAVE).page == 3


@pytest.mark.parametrize(
    ("body", "filename"),
    [
        (b"just text", "notes.txt"),
        (b"no headings", "notes.md"),
        (b"```\n" * 900_000, "fences.md"),
        (f"# Heading\n{'long ' * 800_000}".encode(), "long.md"),
    ],
    ids=["no format for it", "no headings", "not looked at", "too long"],
)
def test_what_has_neither_pages_nor_headings_that_are_told_has_no_map(
    body: bytes, filename: str
) -> None:
    pages = read_pages(body, filename)

    place_map = PlaceMap.of("etag", pages)

    assert place_map is None


HANDBOOK = f"""
For everybody in the house, whoever they are and wherever they work.

# Travel

{TRAVEL} Ask before you go.

# Leave

{LEAVE} Ask before you go.

# On call

{PAGER}

# Travel

Trains go first class when they take longer than three hours.
"""


@pytest.mark.parametrize(
    ("passage", "section"),
    [
        (TRAVEL, "Travel"),
        (f"# Leave\n\n{LEAVE}", "Leave"),
        (f"Travel {TRAVEL} Ask before you go. Leave {LEAVE}", "Travel"),
        (f"{LEAVE[30:]} Ask before you go.\n\n# On call\n\n{PAGER}", "Leave"),
        (f"wherever they work.\n\n# Travel\n\n{TRAVEL}", None),
        ("Ask before you go.", None),
        ("Travel", "Travel"),
        ("Nothing of the kind is written anywhere in these few lines of ours.", None),
        ("", None),
    ],
    ids=[
        "inside",
        "from its heading on",
        "over two",
        "from the middle on",
        "above the first",
        "in two",
        "in two of the same name",
        "nowhere",
        "empty",
    ],
)
def test_a_passage_is_in_the_section_in_which_it_begins(passage: str, section: str | None) -> None:
    place_map = PlaceMap.of("etag", read_pages(HANDBOOK.encode(), "handbook.md"))

    assert place_map is not None
    assert place_map.place_of(passage).section == section


@pytest.mark.parametrize(
    ("passage", "section"),
    [
        (f"{PAGER[:60]} [figure 1] {PAGER[60:]}", "On call"),
        (f"Figure omitted. {LEAVE} Ask before you go. 3. On call {PAGER}", None),
        (f"After Figure {LEAVE[11:]} Ask before you go. 3. On call {PAGER}", "Leave"),
        (f"For everybody 2. Travel {TRAVEL}", None),
    ],
    ids=["later", "begins in the one above, perhaps", "within the same", "above the first"],
)
def test_a_passage_that_differs_at_its_beginning_has_a_section_only_if_that_is_certain(
    passage: str, section: str | None
) -> None:
    place_map = PlaceMap.of("etag", read_pages(HANDBOOK.encode(), "handbook.md"))

    assert place_map is not None
    assert place_map.place_of(passage).section == section


def test_ten_thousand_sections_of_one_name_are_searched_in_a_moment() -> None:
    body = "".join(f"# Same\n{TRAVEL}\n" for _ in range(20_000)).encode()
    place_map = PlaceMap.of("etag", read_pages(body, "a.md"))
    assert place_map is not None
    place_map.place_of("warm")

    started = time.thread_time()
    place = place_map.place_of(f"{TRAVEL} unlike anything")
    took = time.thread_time() - started

    assert place == Place(), "the last ones have no heading that is told"
    assert took < 3.0, "0.2 s as a rule"


def test_five_hundred_pages_are_searched_in_a_moment() -> None:
    place_map = mapped(
        *(f"Page {number}. " + f"Clause {number} of many. " * 150 for number in range(500))
    )
    place_map.place_of("warm")

    started = time.thread_time()  # not what others on the machine take meanwhile
    place_map.place_of("unlike anything " * 100)
    took = time.thread_time() - started

    assert took < 1.0, "0.1 s as a rule"
