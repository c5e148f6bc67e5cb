"""Tables whose passages name their columns."""

import pytest

from stackroom.inspection.extraction.tables import table_lines

VENDORS = [["vendor", "days", "region"], *([f"Vendor {n}", str(n), "South"] for n in range(1, 41))]
PAIRS = [[f"Place {n}", f"Town {n}"] for n in range(40)]


def test_a_short_table_is_a_markdown_table_on_one_line_a_row() -> None:
    text = table_lines([["Level", "Hours\nper day", ""], ["a|b", "1", ""], ["", "", ""], ["c"]])

    assert text == "| Level | Hours per day |\n|---|---|\n| a\\|b | 1 |\n| c |  |"


def test_each_row_of_a_long_table_names_its_columns() -> None:
    lines = table_lines([*VENDORS, ["Vendor 41", "", "North", "late"]]).split("\n")

    assert len(lines) == 41
    assert lines[6] == "vendor: Vendor 7; days: 7; region: South"
    assert lines[-1] == "vendor: Vendor 41; region: North; late"


def test_each_line_of_a_wide_row_begins_with_what_the_row_is_about() -> None:
    names = ["plant", *(f"measure {n}" for n in range(60))]

    lines = table_lines([names, ["Kiel", *map(str, range(60))], ["Lima"]]).split("\n")

    assert all(line.startswith("plant: ") and len(line) <= 300 for line in lines)
    assert sum(line.count("measure") for line in lines) == 60
    assert lines[-1] == "plant: Lima"


def test_captions_stand_above_the_table_and_in_no_row() -> None:
    lines = table_lines([["Prices", "", ""], ["valid from May", "", ""], *VENDORS]).split("\n")

    assert lines[:3] == ["Prices", "valid from May", "vendor: Vendor 1; days: 1; region: South"]


@pytest.mark.parametrize(
    "first",
    [
        ["", "2024", "2025"],
        ["Region", "2024-01", "2024-02"],
        ["", "North", "South"],
        ["Code", "Q1", "Jan 2025"],
        ["Code", "Amount", "Amount"],
        ["Code", "1st quarter", "22nd week"],
        ["", "Price of a box of twelve that the customer saw in the catalogue", "Stock"],
    ],
)
def test_years_months_and_names_above_amounts_are_a_header(first: list[str]) -> None:
    text = table_lines([first, *([f"Plant {n}", f"{n}.5", f"1,{n:03}"] for n in range(40))])

    assert f"{first[1]}: 3.5; {first[2]}: 1,003" in text


@pytest.mark.parametrize(
    "first",
    [
        ["Paper", "1"],
        ["Start", "2026-03-01"],
        ["Owner", "Anna"],
        ["Owner", ""],
        ["Owner", "Owner"],
        ["Owner", "x" * 61],
        ["Mail", "anna@example.com"],
        ["Total", "#REF!"],
        ["Growth", "€ 5"],
    ],
)
def test_a_first_row_like_the_others_names_no_columns(first: list[str]) -> None:
    text = table_lines([first, *PAIRS])

    assert text.split("\n")[0] == "\t".join(filter(None, first))
    assert text.endswith("Place 39\tTown 39")


def test_header_without_rows_is_a_row_itself() -> None:
    assert table_lines([["Name", "Town"], ["", ""]], has_header=True) == "Name\tTown"


def test_whoever_knows_the_header_decides() -> None:
    assert table_lines([["1", "2"], *PAIRS], has_header=True).endswith("1: Place 39; 2: Town 39")
    assert table_lines(VENDORS, has_header=False).startswith("vendor\tdays\tregion\nVendor 1\t1")
    assert table_lines([["", ""], *PAIRS], has_header=True).startswith("Place 0\tTown 0\n")


@pytest.mark.parametrize("rows", [[], [[]], [["", " "]]])
def test_a_table_with_nothing_in_it_is_no_text(rows: list[list[str]]) -> None:
    assert table_lines(rows) == ""
