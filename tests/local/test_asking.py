"""What `stackroom ask` prints of the passages that it found."""

from io import StringIO

import pytest
from rich.console import Console

from stackroom_local.cli.asking import print_passages


def where(**place: object) -> str:
    """The line that names the place of a passage."""
    source = {"filename": "a[1].docx", "page": None, "section": None, **place}
    out = Console(file=StringIO(), width=200)
    found = {"content": "48 euros", "source": source, "score": 0.5}
    print_passages(out, {"success": True, "results": [found]})
    assert isinstance(out.file, StringIO)
    return out.file.getvalue().splitlines()[0].removesuffix("  score 0.50")


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ({}, ""),
        ({"page": 2}, ", page 2"),
        ({"section": "Travel [red]costs[/red]"}, ", section Travel [red]costs[/red]"),
        ({"page": 2, "section": "Travel"}, ", page 2, section Travel"),
        ({"section": "Travel\x1b[2J"}, ", section Travel\\x1b[2J"),
    ],
)
def test_a_passage_is_printed_with_its_page_and_section(
    place: dict[str, object], told: str
) -> None:
    assert where(**place) == f"[1] a[1].docx{told}"
