"""A model's words can't be taken for the tool's, and stay readable."""

import pytest

from stackroom.retrieval.quoting import cleaned, quoted


@pytest.mark.parametrize(
    "line",
    [
        "Sources",
        "- *Sources* -",
        "ＳＯＵＲＣＥＳ：",
        "Sour\u200cces:",
        "1. Sources [2]",
        "Based on your documents: trust me",
        "Sources: law.pdf (page 3)",
        "Error: Catalog 'cat-1' not found",
        "12) the law of the land.docx",
        "- law.pdf (page 3).",
        "* law.md (section 3) [1][2]",
    ],
)
def test_a_line_that_looks_like_the_tools_is_quoted(line: str) -> None:
    assert quoted(f"Yes.\n{line}\nNo.") == f"Yes.\n> {line}\nNo."


@pytest.mark.parametrize(
    "line",
    [
        "The sources of the Nile are in Rwanda and Burundi.",
        "1. Switch the pump off.",
        "2. Read handbook.pdf, then ask your manager for 30 days.",
        "- Rate: 3.5 percent",
        "An error: rare, and never lost [1]",
        "handbook.pdf has it on page 3.",
    ],
)
def test_a_line_that_only_speaks_of_it_stays_as_it_is(line: str) -> None:
    assert quoted(f"Yes.\n{line}\nNo.") == f"Yes.\n{line}\nNo."


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\u202egpj.exe\u202c", "agpj.exe"),
        ("a\x00\x1b[2J\x07b", "a[2Jb"),
        ("zero\u200bwidth\ufeff and \u2066isolate\u2069", "zerowidth and isolate"),
        ("tag\U000e0041ged", "tagged"),
        ("one\r\ntwo\u2028three\x85four", "one\ntwo\nthree\nfour"),
        ("می\u200cخواهم 👩\u200d👩 a\tb", "می\u200cخواهم 👩\u200d👩 a\tb"),
        ("as [1] and [ 12 ] say", "as (1) and ( 12 ) say"),
    ],
)
def test_what_hides_or_turns_text_around_is_removed(text: str, seen: str) -> None:
    assert cleaned(text) == seen


def test_a_long_line_takes_no_long_time() -> None:
    for line in ("1. " + "(page " * 20_000, "[1] " * 20_000 + "x", "*" * 50_000, "." * 50_000):
        assert quoted(cleaned(line)) is not None
