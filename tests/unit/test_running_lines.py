"""Running headers, footers and page numbers, told from the text of pages."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackroom.inspection.running_lines import running_lines

WORDS = ("travel", "leave", "pager", "salary", "train", "meal", "hotel", "night", "office", "week")


def body(page: int) -> list[str]:
    """Lines that no two pages have in common, and that end in no number of theirs."""
    return [
        " ".join(WORDS[(page * step + at) % 10] for at in range(step, step + 6)) + f" {page}x{step}"
        for step in range(1, 8)
    ]


def found(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    running = running_lines(pages)
    return [
        [lines[number] for number in sorted(numbers)]
        for lines, numbers in zip(pages, running, strict=True)
    ]


def roman(number: int) -> str:
    return ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"][number - 1]


@pytest.mark.parametrize(
    ("top", "bottom"),
    [
        ([], ["{n}"]),
        ([], ["{roman}"]),
        ([], ["3-{n}"]),
        (["Handbook of the house, release 4.2"], ["page {n} of 30"]),
        (["Handbook {n} / 233"], []),
        (["Handbook", "{n}"], []),
        (["{n} Travel and leave"], ["Printed in Bremen", "For internal use"]),
    ],
    ids=[
        "page number",
        "roman",
        "by chapter",
        "header, and footer that counts",
        "header that counts",
        "header of two lines",
        "footer of two lines",
    ],
)
def test_what_every_page_has_at_its_edges_is_told_from_its_text(
    top: list[str], bottom: list[str]
) -> None:
    def filled(lines: list[str], page: int) -> list[str]:
        return [line.format(n=page, roman=roman(page)) for line in lines]

    pages = [[*filled(top, n), *body(n), *filled(bottom, n)] for n in range(1, 9)]

    assert found(pages) == [[*filled(top, n), *filled(bottom, n)] for n in range(1, 9)]


def test_left_and_right_pages_have_headers_of_their_own() -> None:
    heads = [f"Handbook {n}" if n % 2 else f"{n} Travel" for n in range(3, 13)]

    pages = [[head, "", *body(n)] for n, head in enumerate(heads)]

    assert found(pages) == [[head] for head in heads]


def test_what_stands_below_a_header_is_text_though_it_begins_with_the_number_of_the_page() -> None:
    pages = [[f"Handbook {n}", *([f"{n} rules apply"] * (n == 5)), *body(n)] for n in range(1, 10)]

    assert found(pages) == [[f"Handbook {n}"] for n in range(1, 10)]


@pytest.mark.parametrize(
    "pages",
    [
        [],
        [body(1)],
        [["Handbook", *body(n)] for n in range(2)],
        [[f"Clause {n}"] for n in range(9)],
        [[*body(n), *([f"{n + 3} as he said"] * (n % 5 == 0))] for n in range(1, 21)],
        [[*body(n), f"{n * n} euros"] for n in range(1, 9)],
        [[*body(n), *(["See also"] if n % 5 == 0 else [])] for n in range(20)],
        [[*body(n), "}"] for n in range(9)],
        [[body(n)[0], "Examples" if n % 3 == 0 else "Use", *body(n)] for n in range(12)],
        [[f"{n} things were said, " + "and many others, " * 5, *body(n)] for n in range(9)],
    ],
    ids=[
        "no pages",
        "one page",
        "two pages",
        "pages of one line",
        "footnotes that count now and then as pages do",
        "a number that doesn't count pages",
        "a heading that comes back here and there",
        "no letters",
        "a heading below the first line",
        "a paragraph that counts",
    ],
)
def test_text_stays_text(pages: list[list[str]]) -> None:
    assert found(pages) == [[] for _ in pages]


LINES = st.lists(st.text(alphabet="ab 12ix\t-/", max_size=12), max_size=6)


@given(st.lists(LINES, max_size=12))
def test_whatever_the_pages_are_no_line_comes_from_elsewhere(pages: list[list[str]]) -> None:
    running = running_lines(pages)

    assert len(running) == len(pages)
    assert all(
        numbers <= set(range(len(lines))) for numbers, lines in zip(running, pages, strict=True)
    )
