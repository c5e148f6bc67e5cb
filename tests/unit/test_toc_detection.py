"""
Parts of a document that are no text: tables of contents, indexes, running headers and footers.
"""

import random
import time
from collections.abc import Sequence

import pytest

from stackroom.text.running_lines import running_lines
from stackroom.text.toc_detection import listed_lines, looks_like_navigation

DOTTED = """Table of Contents
1 Travel . . . . . . . . . . . . . . . . . . 4
1.1 Trains and buses, and what to do when none of them
goes at all. . . . . . . . . . . . . . . . . 5
1.2 Planes . . . . . . . . . . . . . . . . . 11
2 Leave . . . . . . . . . . . . . . . . . . iv
"""
TIGHT = "\n".join(f"{n}. Clause {n} of many {'.' * 40} {n * 3}" for n in range(1, 9))
NUMBERED = """Travel\t3
Trains\t3
Planes\t5
Leave\t9
Sabbaticals\t10
Parental leave\t12
On call\t20
Pagers\t24
Nights\t24"""
INDEX = """A
absence, 3, 12
accident, 40
advance, 12-14, 31
B
bank holiday, 9
bicycle, 5
breakfast (see also
meals), 6, 41
bus, 4
C
car, 5
company flat, 50
"""
LINKS = """# Handbook

- [Travel](#travel)
- [Trains](#trains)
  * [Planes](#planes)
- [Leave](#leave)
"""
PROSE = """Travel costs are paid within ten days. Meals abroad are 48
euros a day, breakfast aside. Whoever goes by train first class needs a reason from 3
hours on; see page 12. After five years everyone may take a sabbatical . . .
of three months, on half of the salary of the year 2019
"""
CITIES = ("Athens", "Berlin", "Cairo", "Delhi", "Lima", "Oslo", "Paris", "Quito", "Rome")
EUROS = (48, 52, 31, 44, 39, 75, 58, 36, 48)
PRICES = "\n".join(f"{city} {euros}" for city, euros in zip(CITIES, EUROS, strict=True))
CODES = "\n".join(f"Error of kind {chr(64 + n)} {n}" for n in range(1, 15))
ZEROS = "\n".join(f"{name} none 0" for name in "abcdefghij")
YEARS = "\n".join(f"Founded the office of {name} {1990 + n}" for n, name in enumerate("abcdefghij"))
MATRIX = "\n".join(f"row {n} {n * 2} {n * 3}" for n in range(1, 15))
RELEASES = "\n".join(f"{month} {day}th, 2024" for month in ("May", "June") for day in range(4, 9))
AMOUNTS = "\n".join(f"{city}; 2019: $7,144; 2018: $6,6{len(city)}9" for city in CITIES)
FILES = "\n".join(f"+--file{name}.c,v" for name in "abcdefghijklm")


@pytest.mark.parametrize(
    "text",
    [DOTTED, TIGHT, NUMBERED, INDEX, LINKS],
    ids=["dotted leaders", "tight leaders", "rising numbers", "index", "links"],
)
def test_table_of_contents_and_index_are_distinguished_from_text(text: str) -> None:
    assert looks_like_navigation(text)


@pytest.mark.parametrize(
    "text",
    ["", PROSE, PRICES, CODES, ZEROS, YEARS, MATRIX, FILES, RELEASES, AMOUNTS],
    ids=[
        *("nothing", "prose", "prices", "codes", "zeros", "years", "matrix", "files"),
        *("dates of releases", "amounts"),
    ],
)
def test_text_with_numbers_in_it_is_no_table_of_contents(text: str) -> None:
    assert not looks_like_navigation(text)


def test_adversarial_lines_are_classified_within_two_seconds() -> None:
    noise = random.Random(3)
    lines = ["".join(noise.choices("a 1.,…ix", k=199)) for _ in range(2_000)]

    started = time.thread_time()
    listed_lines([*lines, "." * 100_000, "1 " * 50_000, ", 1" * 50_000, "a" * 100_000])
    took = time.thread_time() - started

    assert took < 2.0, "0.1 s as a rule"


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
        (["Handbook", "{n}"], []),
    ],
)
def test_running_headers_and_footers_are_separated_from_text(
    top: list[str], bottom: list[str]
) -> None:
    def filled(lines: list[str], page: int) -> list[str]:
        return [line.format(n=page, roman=roman(page)) for line in lines]

    pages = [[*filled(top, n), *body(n), *filled(bottom, n)] for n in range(1, 9)]

    assert found(pages) == [[*filled(top, n), *filled(bottom, n)] for n in range(1, 9)]
