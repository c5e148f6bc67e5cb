"""Lines of a page in the order in which people read them."""

from collections.abc import Sequence

import pytest

from stackroom.text.text_lines import TextLine, text_in_order


def line(text: str, *, left: float, top: float, width: float) -> TextLine:
    return TextLine(text=text, confidence=99, left=left, top=top, width=width, height=0.02)


def column(*texts: str, left: float, width: float = 0.4, top: float = 0.2) -> Sequence[TextLine]:
    return [
        line(text, left=left, top=top + number * 0.03, width=width)
        for number, text in enumerate(texts)
    ]


def test_lines_go_down_whatever_their_order() -> None:
    lines = column("first", "second", "third", left=0.1)

    assert text_in_order([lines[2], lines[0], lines[1]]) == "first\nsecond\nthird"


def test_cells_of_a_row_become_one_line_from_left_to_right() -> None:
    names = column("Rent", "Deposit", "Garage", "Heating", left=0.1, width=0.1)
    amounts = column("812", "2,436", "60", "95", left=0.7, width=0.08)

    assert text_in_order([*amounts, *names]) == "Rent 812\nDeposit 2,436\nGarage 60\nHeating 95"


def test_columns_of_prose_come_one_after_the_other_below_their_heading() -> None:
    heading = line("House rules of the building", left=0.2, top=0.1, width=0.6)
    left = column("a one", "a two", "a three", "a four", left=0.05)
    right = column("b one", "b two", "b three", "b four", left=0.55)

    text = text_in_order(
        [heading, *(each for row in zip(left, right, strict=True) for each in row)]
    )

    assert text.split("\n") == [heading.text, *(each.text for each in (*left, *right))]


def test_heading_between_columns_ends_those_above_it() -> None:
    above = [*column("a one", "a two", left=0.05), *column("b one", "b two", left=0.55)]
    heading = line("Part II", left=0.3, top=0.4, width=0.4)
    below = [
        *column("c one", "c two", left=0.05, top=0.5),
        *column("d one", "d two", left=0.55, top=0.5),
    ]

    assert text_in_order([*above, heading, *below]).split("\n") == [
        *("a one", "a two", "b one", "b two"),
        "Part II",
        *("c one", "c two", "d one", "d two"),
    ]


@pytest.mark.parametrize("lines", [(), column("alone", left=0.55)])
def test_few_lines_are_not_taken_for_columns(lines: Sequence[TextLine]) -> None:
    assert text_in_order(lines) == "".join(each.text for each in lines)
