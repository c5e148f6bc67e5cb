"""A passage's place in its document, its citation, and maps cached between searches."""

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bedrock_kb_simulator.chunk_strategies import Chunking
from simulator.tests import files
from stackroom.model.keys import TextName
from stackroom.search.excerpts import PlaceMapCache
from stackroom.text.context_lines import without_context
from stackroom.text.document_text import text_of
from stackroom.text.extraction import Page, read_pages
from stackroom.text.place_map import PlaceMap
from stackroom.text.running_lines import normalise
from tests.fakes.clock import FakeSeconds
from tests.fakes.place_maps import FakePlaceMaps

TRAVEL = "Travel costs are paid within ten days. Meals abroad are 48 euros a day, breakfast aside."
LEAVE = "After five years everyone may take a sabbatical of three months on half of the salary."
PAGER = "Whoever carries the pager answers within fifteen minutes, at night within half an hour."


def mapped(*texts: str) -> PlaceMap:
    pages = [Page(number, text) for number, text in enumerate(texts, 1)]
    return text_of(pages, "handbook.pdf").places


@pytest.mark.parametrize(
    ("passage", "pages"),
    [
        (LEAVE[30:], (2, 2, 2)),
        (f"{LEAVE[40:]} {PAGER}", (3, 2, 3)),
        (f"{TRAVEL}\n\n{LEAVE}\n\n{PAGER}", (3, 1, 3)),
        (f"{TRAVEL[60:]} {LEAVE} {PAGER[:60]}", (2, 1, 3)),
        (f"{TRAVEL[60:]} {LEAVE} Some line that is not there {PAGER[:50]}", (None,) * 3),
    ],
)
def test_passage_is_on_the_page_with_most_of_it_and_spans_first_to_last(
    passage: str, pages: tuple[int | None, ...]
) -> None:
    place = mapped(TRAVEL, LEAVE, PAGER).place_of(passage)

    assert (place.page, place.page_first, place.page_last) == pages


@pytest.mark.parametrize(
    "passage",
    [
        "After five years everyone may take a sab-\nbatical of three months",
        "AFTER FIVE YEARS \u2019everyone\u2019 may take a sabbatical of three months",
        "\uff21fter five years everyone may take a sabbatical of three months",
    ],
)
def test_passage_is_found_by_its_letters_and_digits_alone(passage: str) -> None:
    assert mapped(TRAVEL, LEAVE, PAGER).place_of(passage).page == 2


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
        (f"wherever they work.\n\n# Travel\n\n{TRAVEL}", None),
        ("Ask before you go.", None),
    ],
)
def test_a_passage_is_in_the_section_in_which_it_begins(passage: str, section: str | None) -> None:
    text = text_of(read_pages(HANDBOOK.encode(), "handbook.md"), "handbook.md")

    assert text.places.place_of(passage).section == section


# In the text that was made of a file.

CLAUSE = f"{TRAVEL} {LEAVE} {PAGER} "
FORM = text_of([Page(number, CLAUSE * 3) for number in range(1, 5)], "form.pdf")


def test_passage_repeated_on_each_page_is_placed_by_its_context_line() -> None:
    lines = FORM.markdown.split("⟦")[1:]

    places = [FORM.places.place_of(f"⟦{line}") for line in lines]

    assert [f"form · page {place.page}" for place in places] == [
        line.partition("⟧")[0] for line in lines
    ]


@pytest.mark.parametrize(
    ("line", "page"),
    [
        ("⟦form · page 3⟧", 3),
        ("3⟧", 3),
        ("⟧", None),
        ("", None),
    ],
)
def test_half_a_context_line_tells_the_page_as_far_as_it_goes(line: str, page: int | None) -> None:
    assert FORM.places.place_of(f"{line}\n{TRAVEL}").page == page


def test_passage_that_repeats_for_ever_takes_a_moment_and_has_no_place() -> None:
    places = text_of([Page(1, "a" * 500_000), Page(2, "a" * 99)], "a.pdf").places

    assert places.place_of("a" * 1_000 + "\n⟦a.pdf · page 3⟧").page is None


MEMO = text_of(
    [Page(n, " ".join(f"Memo {n}, line {k}: {LEAVE}" for k in range(20))) for n in range(1, 6)],
    "memo.pdf",
)


@given(st.integers(0, 9_000), st.integers(250, 1_500))
def test_passage_cut_anywhere_is_on_the_page_with_most_of_its_letters(
    begin: int, length: int
) -> None:
    passage = MEMO.markdown[begin : begin + length]

    place = MEMO.places.place_of(passage)

    assert place.span is not None
    bounds = [0, *accumulate(letters for _, letters in MEMO.places.pages)]
    first, last = place.span
    letters = [min(last, end) - max(first, start) for start, end in pairwise(bounds)]
    assert letters[(place.page or 0) - 1] == max(letters)
    assert last - first == len(normalise(without_context(passage)))


FIRST, SECOND = (TextName("alice", "cat", document, "0" * 16) for document in ("doc-1", "doc-2"))


def test_a_map_is_read_once_for_a_while_and_its_absence_is_not_kept() -> None:
    place_maps, clock = FakePlaceMaps(), FakeSeconds()
    place_maps.put("doc-1", ["text"])
    cache = PlaceMapCache(place_maps, seconds=60, now=clock)

    for name in (FIRST, SECOND, FIRST, SECOND):
        cache.get(name)
    reads = list(place_maps.reads)
    clock.seconds += 3
    place_maps.put("doc-1", ["other text"])
    place_maps.put("doc-2", ["text"])

    assert reads == ["doc-1", "doc-2", "doc-2"]
    assert cache.get(SECOND) is place_maps.maps["doc-2"]
    assert cache.get(FIRST) is not place_maps.maps["doc-1"]
    clock.seconds += 60
    assert cache.get(FIRST) is place_maps.maps["doc-1"]


def test_passages_cut_by_tokens_of_a_pdf_are_each_on_their_page() -> None:
    clause = CLAUSE.replace(". ", ".\n")  # no line runs off the page
    texts = [f"{PAGER}\n{clause}\nArticle {number}.\n{clause}\n{LEAVE}" for number in range(1, 9)]
    text = text_of(read_pages(files.pdf(*texts), "lease.pdf"), "lease.pdf")
    articles = [text.markdown.index(f"Article {number}.") for number in range(1, 9)]
    begins = [text.markdown.rindex("⟦", 0, article) for article in articles]

    for first, last in Chunking(max_tokens=160).spans(text.markdown):
        passage = text.markdown[first:last]

        place = text.places.place_of(passage)
        end = first + len(re.sub(r"⟦[^⟧]*⟧?\s*$", "", passage))  # a line alone has no page's text
        inside = bisect_right(begins, first + len("⟦lease⟧")), bisect_left(begins, end)
        assert (place.page_first, place.page_last) == inside
        assert "⟦" in passage
