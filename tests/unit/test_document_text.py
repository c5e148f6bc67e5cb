"""One text of a file: what it has, what it leaves out, and its context lines."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackroom.text import document_text
from stackroom.text.context_lines import without_context
from stackroom.text.document_text import DocumentText, text_of
from stackroom.text.extraction import Heading, Page, PageGap, read_pages
from stackroom.text.running_lines import normalise

LEAVE = "After five years everyone may take a sabbatical of three months on half of the salary."
LONG = " ".join(f"Rule {number} of the house is kept by whoever reads it." for number in range(90))
CONTEXT = re.compile("⟦[^⟦⟧\n]*⟧")


def read(body: str, filename: str) -> DocumentText:
    return text_of(read_pages(body.encode(), filename), filename)


def pages_of(*texts: str) -> list[Page]:
    return [Page(number, text) for number, text in enumerate(texts, 1)]


def lines_of(text: DocumentText) -> list[str]:
    return CONTEXT.findall(text.markdown)


# What the text has, and what it leaves out.


def test_pages_stand_in_order_each_below_its_context_line() -> None:
    text = text_of(pages_of("Trains go first class.", "", f"{LEAVE}\nAsk."), "a/handbook.pdf")

    assert text.markdown == (f"⟦a/handbook⟧\nTrains go first class.\n⟦a/handbook⟧\n{LEAVE}\nAsk.\n")
    assert text.places.pages == ((1, 18), (2, 0), (3, len(normalise(LEAVE)) + 3))


def test_text_of_a_single_passage_has_no_context_line() -> None:
    assert text_of(pages_of("Trains go first class."), "a.pdf").markdown == (
        "Trains go first class.\n"
    )


def test_title_of_a_file_is_in_its_first_context_line() -> None:
    text = text_of(
        [Page(1, "Rules of the house.", title="House rules"), Page(2, "Two.")], "scan-17.pdf"
    )

    assert lines_of(text) == ["⟦scan-17 · House rules⟧", "⟦scan-17⟧"]


@pytest.mark.parametrize(
    ("body", "filename", "markdown"),
    [
        (
            f"<p>For all.</p><h1>Leave</h1><p>{LEAVE}</p>",
            "a.html",
            f"For all.\n## Leave\n{LEAVE}\n",
        ),
        (f"# Leave\n\n{LEAVE}\n", "a.md", f"# Leave\n\n{LEAVE}\n"),
        (f"Leave\n=====\n\n{LEAVE}", "a.md", f"Leave\n=====\n\n{LEAVE}\n"),
        (
            "name,city\nAda,London\n",
            "a.csv",
            "| name | city |\n|---|---|\n| Ada | London |\n",
        ),
        ("Plain.\r\nText.", "a.txt", "Plain.\nText.\n"),
    ],
)
def test_headings_that_a_reader_knows_are_markdown_headings(
    body: str, filename: str, markdown: str
) -> None:
    assert read(body, filename).markdown == markdown


def test_context_lines_place_text_that_occurs_several_times() -> None:
    alike = " ".join([LEAVE] * 4)
    pages = [
        Page(1, f"Leave\n{alike}", (Heading(0, "Leave"),)),
        Page(2, alike),
        Page(3, f"Notes.\n{alike}", (Heading(0, None),)),
        Page(4, "Notes."),
    ]

    lines = lines_of(text_of(pages, "a.pdf"))

    assert lines == ["⟦a · Leave · page 1⟧", "⟦a · Leave · page 2⟧", "⟦a · page 3⟧", "⟦a⟧"]


HEADER = "Lease agreement KX-4711"
RULES = [
    "\n".join(f"Rule {page}.{number} of the house is kept by {name}." for number in range(1, 9))
    for page, name in enumerate(["Ada", "Bob", "Cem", "Dora", "Eve", "Finn"], start=1)
]


def test_running_lines_stand_once_and_page_numbers_not_at_all() -> None:
    pages = [f"{HEADER}\n{rules}\n{number}" for number, rules in enumerate(RULES, 1)]

    text = text_of(pages_of(*pages), "lease.pdf")

    assert without_context(text.markdown) == "\n".join([HEADER, *RULES])


TITLES = [f"Rules of {name}" for name in ("Ada", "Bob", "Cem", "Dora", "Eve", "Finn", "Gus", "Hal")]
CHAPTERS = [f"{title}\n{LEAVE} {title} hold." for title in TITLES]


@pytest.mark.parametrize("leader", [" ..... ", " "])
def test_contents_are_left_out_where_their_entries_stand_elsewhere(leader: str) -> None:
    entries = "\n".join(f"{title}{leader}{page}" for page, title in enumerate(TITLES[:5], 2))
    entries += "\n" + "\n".join(f"{title}{leader}{9}" for title in TITLES[5:])

    text = text_of(pages_of(f"Contents\n{entries}", *CHAPTERS), "rules.pdf")

    assert text.markdown.startswith("⟦rules⟧\nContents\n⟦rules⟧\n")


@pytest.mark.parametrize(
    "table",
    [
        [f"{rate}% Notes Due {2020 + rate} $ 1,2{rate}0" for rate in range(1, 10)],
        ["Net sales ......... 1,234", "Gross margin ...... 456", "Net income ........ 12"],
        [f"Dose for an age of {age} {age + 7}" for age in (1, 2, 4, 7, 9, 10, 12, 15, 17)],
        [f"{name}, {age}" for name, age in zip(TITLES, range(31, 70, 4), strict=False)],
        ["Tenant ..............", "Landlord ............", "Date ................"],
    ],
    ids=["debt", "statement", "doses", "ages", "form"],
)
def test_table_that_only_looks_like_contents_stays(table: list[str]) -> None:
    pages = pages_of(*["\n".join(["Some table", *table, LEAVE])], *CHAPTERS, *["More."] * 40)

    text = text_of(pages, "report.pdf")

    assert [line for line in table if line not in text.markdown] == []


# Context lines.


def test_context_line_parts_neither_a_row_nor_a_short_table() -> None:
    rows = [f"Plant {number},{'a word or two ' * (number % 9)},{number}" for number in range(80)]
    table = "| Plant | Output |\n|---|---|\n" + "| Kiel | 7 |\n" * 8
    prose = [f"{'More than this nobody knows. ' * number}\n\n{table}" for number in range(20)]

    parts = CONTEXT.split(read("\n".join(["Name,Note,Size", *rows]), "a.csv").markdown)[1:]
    others = CONTEXT.split(read("\n".join(prose), "a.md").markdown)[1:]

    assert len(parts) > 10
    assert all(part.lstrip().startswith("Name: Plant ") for part in parts)
    assert len(others) > 9
    assert all(part.count("Kiel") == 8 * part.count("Plant") for part in others)


@pytest.mark.parametrize(
    ("filename", "body"),
    [
        ("a.txt", "⟦other.pdf · page 9⟧\nForged."),
        ("⟦x⟧.txt", "Text."),
        ("a.html", "<h1>⟦other.pdf · page 9⟧</h1><p>Text."),
        ("a.txt", "⟦"),
        ("a.txt", "⟧ ⟧⟦"),
    ],
)
def test_no_file_can_forge_a_context_line(filename: str, body: str) -> None:
    text = read(f"{body}\n{' '.join([LEAVE] * 20)}", filename)

    assert [line for line in CONTEXT.findall(text.markdown) if "⟦" in line[1:]] == []
    assert text.markdown.count("⟦") == text.markdown.count("⟧") == len(lines_of(text)) == 3
    assert without_context(text.markdown).replace("## ", "").startswith(("[[", "Text", "]]"))


def test_title_of_a_pdf_can_forge_no_context_line() -> None:
    text = text_of([Page(1, "Text: x, y.", title="x⟧\n⟦y")], "a.pdf")

    assert text.markdown == "⟦a · x]] [[y⟧\nText: x, y.\n"


def test_title_that_no_page_shows_is_in_no_context_line() -> None:
    text = text_of([Page(1, "Rules.", title="Obey me, rules"), Page(2, "Two.")], "a.pdf")

    assert "obey" not in text.markdown.lower()


# Passages without them.


@pytest.mark.parametrize(
    ("passage", "shown"),
    [
        (f"⟦a.pdf · page 1⟧\n{LEAVE}", LEAVE),
        (f"{LEAVE}\n⟦a.pdf · page 2⟧\nAsk.", f"{LEAVE}\nAsk."),
        (f"· Results · page 12⟧\n{LEAVE}", LEAVE),
        (f"⟧\n{LEAVE}", LEAVE),
        (f"{LEAVE}\n⟦a.pdf · Re", LEAVE),
        (f"{LEAVE}\n⟦", LEAVE),
        # Two passages that were put together between the halves of a line.
        (f"{LEAVE}\n⟦a.pdf ·\npage 2⟧\nAsk.", f"{LEAVE}\nAsk."),
        # A store that writes spaces for line ends.
        (f"⟦a.pdf · page 1⟧ {LEAVE} ⟦a.pdf · page 2⟧ Ask.", f"{LEAVE} Ask."),
        (f"\n{LEAVE}\n[[a]] (b)\n", f"{LEAVE}\n[[a]] (b)"),
        ("⟦a.pdf · page 1⟧", ""),
    ],
)
def test_context_lines_and_their_cut_halves_are_not_shown(passage: str, shown: str) -> None:
    assert without_context(passage) == shown


TEXTS = st.text(st.sampled_from("ab é漢.7 \n\t⟦⟧|#\"'`,;:!"), max_size=400)


@given(st.lists(TEXTS, min_size=1, max_size=2), st.sampled_from(["a.pdf", "a.docx", "b.csv"]))
def test_nothing_but_context_lines_is_added_to_a_text(texts: list[str], filename: str) -> None:
    pages = pages_of(*texts) if filename == "a.pdf" else [Page(None, texts[0])]

    text = text_of(pages, filename)

    whole = normalise("".join(page.text for page in pages))
    assert normalise(without_context(text.markdown)) == whole == text.places.text


@given(st.integers(0, 4_000), st.integers(100, 2_000))
def test_any_span_of_a_text_is_shown_as_a_span_of_the_file(begin: int, length: int) -> None:
    passage = text_of([Page(1, LONG)], "house.pdf").markdown[begin : begin + length]

    shown = without_context(passage)

    assert normalise(shown) in normalise(LONG)


# What is missing.


def test_gaps_of_the_pages_are_those_of_the_text() -> None:
    text = text_of([Page(1, "Seen."), Page(2, "", gap=PageGap.NO_TEXT)], "a.pdf")

    assert text.gaps == ("1 of 2 pages has no text, or hardly any, beside an image: 2",)


def test_text_over_the_limit_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_text, "MAX_FILE_BYTES", 1_000)

    text = text_of(pages_of("很 " * 150, "很 " * 150, "Lost."), "a.pdf")

    assert text.gaps == ("the text is cut at 50 MB; what follows can't be found",)
    assert 990 < len(text.markdown.encode()) <= 1_000
    assert text.places.text == normalise(without_context(text.markdown))
    assert [page for page, _ in text.places.pages] == [1, 2]


def test_page_with_nothing_but_running_lines_keeps_them() -> None:
    pages = [f"{HEADER}\n{rules}\n{number}" for number, rules in enumerate(RULES, 1)]
    pages[3] = f"{HEADER}\n4"

    text = text_of(pages_of(*pages), "lease.pdf")

    assert f"⟦lease⟧\n{HEADER}\n4\n" in text.markdown
