"""Tests of the measures of `make bench-readers`, on very small texts."""

from pathlib import Path

import pytest

from benchmarks.readers.cases import Case, Verdict, judged
from benchmarks.readers.folders import Reading
from benchmarks.readers.truths import in_order, shares

TRUTH = """# Leave

A **year** has 30 days of [leave](https://example.com/a_(b)).

<!-- image -->

## Notice

| Grade | Weeks | Weeks |
| - | - | - |
| Junior | four | four |
| Senior | twelve | none |
"""


@pytest.mark.parametrize(
    ("found", "count"), [("abcd", 4), ("dcba", 1), ("xaxbxd", 3), ("bcda", 3), ("", 0)]
)
def test_words_count_in_the_order_of_the_truth(found: str, count: int) -> None:
    assert in_order("abcd", found) == count


def test_other_markup_and_merged_cells_are_no_losses() -> None:
    text = (
        "## Leave\nA year has 30 days of leave.\n"
        "## Notice\nGrade\tWeeks\nJunior: four\nSenior\ttwelve\tnone"
    )

    measured = shares(text, TRUTH, is_sheet=False)

    assert (measured.words, measured.headings, measured.cells) == (1, 1, 1)


def test_missing_heading_and_row_reduce_their_shares() -> None:
    text = "# Leave\nA year has 30 days of leave. Notice\nGrade | Weeks\nJunior | four"

    measured = shares(text, TRUTH, is_sheet=False)

    assert measured.words == 13 / 16
    assert measured.headings == 0.5
    assert measured.cells == 6 / 9
    assert measured.missing == ["senior", "twelve", "none"]


def test_words_of_a_sheet_count_in_any_order() -> None:
    assert shares("b a", "a b", is_sheet=True).words == 1
    assert shares("b a", "a b", is_sheet=False).words == 0.5


@pytest.mark.parametrize(
    ("reading", "is_control", "verdict"),
    [
        (Reading(markdown="⟦a⟧\nnine weeks"), False, Verdict.FOUND),
        (Reading(markdown="⟦a⟧\nnine weeks"), True, Verdict.FOUND),
        (Reading(markdown="nine weeks", gaps=("one",)), True, Verdict.WRONG),
        (Reading(markdown="a", gaps=("one",)), False, Verdict.TOLD),
        (Reading(refused="the file is empty"), False, Verdict.TOLD),
        (Reading(refused="the file is empty"), True, Verdict.WRONG),
        (Reading(markdown="a"), False, Verdict.WRONG),
        (Reading(markdown="nine weeks, secret", gaps=("one",)), False, Verdict.WRONG),
        (Reading(crash="it died"), False, Verdict.WRONG),
    ],
)
def test_case_passes_if_its_text_is_found_or_a_gap_explains_it(
    reading: Reading, is_control: bool, verdict: Verdict
) -> None:
    case = Case(
        file=Path("a.txt"),
        must_find=["nine weeks"],
        must_not_find=["secret"],
        is_control=is_control,
    )

    assert judged(case, reading)[0] is verdict


def test_crash_page_with_ink_time_and_memory_are_defects() -> None:
    reading = Reading(crash="it died", unseen=(2, 3), seconds=21, megabytes=700)

    assert [each.partition(":")[0] for each in reading.defects()] == [
        "CRASH",
        "UNSEEN",
        "SLOW",
        "LARGE",
    ]
