from typing import Literal

import pytest

from docs.constructs import CLASSES, PAGE, arguments, table, with_arguments


def test_the_page_tells_of_arguments_as_they_are() -> None:
    text = PAGE.read_text("utf-8")

    assert with_arguments(text) == text, "run: make docs"


@pytest.mark.parametrize("described", CLASSES)
def test_every_argument_is_told_of(described: type) -> None:
    assert table(described).count("\n") > 1


def test_a_row_has_type_default_and_the_whole_paragraph() -> None:
    class Lamp:
        """
        Gives light.

        watts: how bright it is, 1 to
            100.
        colour: of its light. Default: none.
        lit: whether it is on.

        Raises Dark.
        """

        def __init__(
            self, *, watts: int, colour: Literal["red", "green"] | None = None, lit: bool = False
        ) -> None: ...

    assert table(Lamp).splitlines()[2:] == [
        "| `watts` | int | required | how bright it is, 1 to 100. |",
        "| `colour` | `red`, `green` |  | of its light. Default: none. |",
        "| `lit` | bool | `False` | whether it is on. |",
    ]


def test_an_argument_without_a_word_is_found() -> None:
    class Box:
        """Holds things."""

        def __init__(self, *, size: int) -> None: ...

    with pytest.raises(LookupError, match="Box doesn't tell of size"):
        table(Box)


def test_a_page_without_a_place_for_them_gets_one_at_its_end() -> None:
    page = with_arguments("# A page\n\nWords.\n")

    assert page.startswith("# A page\n\nWords.\n\n## Arguments\n")
    assert arguments() in page
    assert with_arguments(page) == page
