"""CSV and Markdown: tables whose rows name their columns."""

import csv
import io

import pytest

from stackroom.text.extraction import delimited, read_pages
from stackroom.text.gaps import gaps_of

PARTS = [[f"Part {n}", f"{n},5", f'a "small" one\nof {n}'] for n in range(60)]


def read(text: str, name: str = "a.csv") -> list[str]:
    (page,) = read_pages(text.encode(), name)
    assert gaps_of([page]) == ()
    return page.text.split("\n")


def written(delimiter: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows([["part", "weight in kg", "note"], *PARTS])
    return text.getvalue()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_each_row_of_a_csv_names_its_columns(delimiter: str) -> None:
    lines = read(written(delimiter))

    assert len(lines) == 60
    assert lines[7] == 'part: Part 7; weight in kg: 7,5; note: a "small" one of 7'


def test_sep_line_sets_the_delimiter_and_is_no_row() -> None:
    lines = read("sep=;\n" + "town;size\n" + "Kiel, Lima;1,2\n" * 40)

    assert lines == ["town: Kiel, Lima; size: 1,2"] * 40


def test_rows_with_too_few_or_too_many_cells_keep_them_all() -> None:
    lines = read("town,size,\nKiel\n,2,,extra,\n" + "Lima,3,\n" * 40)

    assert lines[:2] == ["Kiel", "size: 2; extra"]


@pytest.mark.parametrize("stray", ['"12 inch', '12" pipe', 'a "wide" one', '""fine"', '"'])
def test_stray_quote_swallows_no_row(stray: str) -> None:
    rows = [f"{stray if number == 7 else 'pipe'},{number},steel" for number in range(200)]

    lines = read("\n".join(["item,count,made of", *rows]))

    assert len(lines) == 200
    assert lines[7].startswith("item: ")
    assert lines[8] == "item: pipe; count: 8; made of: steel"


@pytest.mark.parametrize(
    "text",
    ["Kiel\nLima", "Dear all,\nthe lift, as you know, is out of order.\nYours\nA\nB", "a\tb"],
)
def test_text_that_is_no_table_stays_as_it_is_written(text: str) -> None:
    assert read(text) == text.split("\n")


def test_table_that_names_would_make_too_long_stays_as_it_is_and_is_a_gap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delimited, "MAX_FILE_BYTES", 50_000)
    text = f"{'x' * 50},{'y' * 50}\n" + "1,2\n" * 600

    (page,) = read_pages(text.encode(), "a.csv")

    assert page.text == text
    assert gaps_of([page]) == (
        "the table is too long for the names of its columns to stand in each row",
    )


ROWS = "".join(f"| Vendor {n} | {n} | a \\| b |\n" for n in range(40))


def test_long_table_of_markdown_names_its_columns_and_headings_stay_theirs() -> None:
    text = f"# Terms\n\n| vendor | days | note |\n|:--|--:|---|\n{ROWS}\n## End\nThat is all.\n"

    (page,) = read_pages(text.encode(), "a.md")

    assert "vendor: Vendor 39; days: 39; note: a | b\n\n## End\nThat" in page.text
    assert [(page.text[each.at :][:5], each.text) for each in page.headings] == [
        ("# Ter", "Terms"),
        ("## En", "End"),
    ]


def test_table_without_outer_bars_or_of_html_is_one_as_well() -> None:
    bare = "vendor | days\n--- | ---\n" + "".join(f"Vendor {n} | {n}\n" for n in range(40))
    cells = "".join(f"<tr><td>Vendor <b>{n}</b></td><td>{n}</td></tr>\n" for n in range(40))
    html = f"<table><tr><th>vendor</th><th>days</th></tr>\n{cells}</table>\n"

    for text in (bare, html):
        assert "vendor: Vendor 7; days: 7" in read(f"Text.\n\n{text}\nMore.", "a.md")


@pytest.mark.parametrize(
    "text",
    [
        f"```\n| a | b |\n|---|---|\n{ROWS}```\n~~~\n```\n| a | b |\n|---|---|\n| c | d |\n~~~\n",
        f"    | a | b |\n    |---|---|\n    {ROWS}",
        f"| a | b | c | d |\n|---|---|\n{ROWS}",
        "<table><tr><td rowspan=2>a</td></tr></table>",
        "a | b\n",
    ],
    ids=["fence", "code", "widths", "spans", "no table"],
)
def test_lines_with_bars_that_form_no_simple_table_are_kept_unchanged(text: str) -> None:
    assert read(text, "a.md") == text.split("\n")
