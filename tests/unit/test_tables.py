"""Tables whose passages name their columns."""

import pytest

from stackroom.text.extraction.tables import table_lines

VENDORS = [["vendor", "days", "region"], *([f"Vendor {n}", str(n), "South"] for n in range(1, 41))]
VENDOR_1 = "vendor: Vendor 1; days: 1; region: South"
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

    assert lines[:3] == ["Prices", "valid from May", VENDOR_1]


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


AMOUNTS = [[f"Plant {n}", *(str((n * 37 + at * 11) % 977) for at in range(4))] for n in range(40)]


@pytest.mark.parametrize(
    ("above", "below", "last"),
    [
        (["Plant", "Weight", "Price", "Cost", "Margin"], ["", "kg", "€", "€", "%"], "Margin %"),
        (["Plant", "2024", "", "2025", ""], ["", "Q1", "Q2", "Q1", "Q2"], "2025 Q2"),
        (["", "2024", "2024", "2025", "2025"], ["Plant", "H1", "H2", "H1", "H2"], "2025 H2"),
        (["", "Budget", "", "Actual", ""], ["Plant", *["2024", "2025"] * 2], "Actual 2025"),
        (["Plant", "", "Sold", "", ""], ["", "Q1", "Q2", "Q3", "Q4"], "Sold Q4"),
    ],
    ids=["units", "quarters", "again", "years", "empty"],
)
@pytest.mark.parametrize("headers", [None, 1, 2])
def test_two_rows_of_names_are_one_header(
    above: list[str], below: list[str], last: str, headers: int | None
) -> None:
    lines = table_lines([above, below, *AMOUNTS], headers=headers).split("\n")

    assert len(lines) == 40
    assert lines[3].endswith(f"; {last}: {AMOUNTS[3][-1]}")


def test_names_that_come_again_below_others_are_of_two_kinds() -> None:
    names = [["", "Sender", "", "Receiver", ""], ["No", "name", "town", "name", "town"]]
    rows = [[f"N{n}", f"Ann {n}", f"Kiel {n % 9}", f"Bob {n}", f"Lima {n}"] for n in range(40)]

    lines = table_lines([*names, *rows]).split("\n")

    assert lines[7] == (
        "No: N7; Sender name: Ann 7; Sender town: Kiel 7; Receiver name: Bob 7;"
        " Receiver town: Lima 7"
    )


def test_header_stands_once_where_its_rows_come_again() -> None:
    header, *rows = VENDORS

    lines = table_lines([header, *rows[:20], header, *rows[20:]]).split("\n")

    assert len(lines) == 40
    assert table_lines([header] * 3).count("vendor") == 3


def test_notes_of_several_cells_stand_above_the_table() -> None:
    notes = [["Report:", "Vendors"], ["Created", "2026-01-03"]]

    lines = table_lines([*notes, *VENDORS]).split("\n")

    assert lines[:3] == ["Report:\tVendors", "Created\t2026-01-03", VENDOR_1]


@pytest.mark.parametrize(
    "header",
    [
        ["2021", "2022", "2023"],
        ["2026-01-01", "2026-01-02", "2026-01-03"],
        ["Plant", *map(str, range(24))],
        ["No", "Name", "Town"],
        ["Name", "", "Town", "Post"],
    ],
    ids=["years", "days", "hours", "number", "blank"],
)
def test_numbers_and_blanks_may_be_among_the_names(header: list[str]) -> None:
    text = table_lines(
        [header, *([f"{n + at}5{'m' * at}" for at in range(len(header))] for n in range(40))]
    )

    assert f"{header[0]}: 35; " in text
    assert f"{header[-1]}: {len(header) + 2}5" in text


@pytest.mark.parametrize(
    "rows",
    [
        [["1", "2", "3", "4"], ["5", "6", "7", "8"]],
        [["soap", "1", "2", "3", "4"], ["salt", "2", "2", "1", "7"]],
        [["2026-01-01", "Kiel", "4"], ["2026-01-02", "Lima", "5"]],
        [["Ann", "", ""], ["Bob", "late", "ill"]],
    ],
)
def test_rows_of_values_name_no_columns(rows: list[list[str]]) -> None:
    assert table_lines(rows * 30).startswith("\t".join(filter(None, rows[0])))


def test_first_row_below_a_header_is_no_header_itself() -> None:
    header = ["Event", "Day", "Guests"]
    rows = [[f"Talk {n}", f"2026-03-{n + 1:02}", str(2024 + n % 3)] for n in range(30)]

    lines = table_lines([header, *rows]).split("\n")

    assert lines[0] == "Event: Talk 0; Day: 2026-03-01; Guests: 2024"
    assert len(lines) == 30


@pytest.mark.parametrize(
    "first",
    [
        ["Paper", "1"],
        ["Start", "2026-03-01"],
        ["Owner", "Anna"],
        ["Owner", ""],
        ["Owner", "Owner"],
        ["Owner", "x" * 101],
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
    assert table_lines([["Name", "Town"], ["", ""]], headers=1) == "Name\tTown"


def test_whoever_knows_the_header_decides() -> None:
    assert table_lines([["1", "2"], *PAIRS], headers=1).endswith("1: Place 39; 2: Town 39")
    assert table_lines(VENDORS, headers=0).startswith("vendor\tdays\tregion\nVendor 1\t1")
    assert table_lines([["", ""], *PAIRS], headers=1).startswith("Place 0\tTown 0\n")


@pytest.mark.parametrize("rows", [[], [[]], [["", " "]]])
def test_a_table_with_nothing_in_it_is_no_text(rows: list[list[str]]) -> None:
    assert table_lines(rows) == ""
