"""Tables whose passages name their columns."""

import pytest

from stackroom.text.extraction.tables import ABOVE, BESIDE, table_lines

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


@pytest.mark.parametrize(
    "first",
    [
        ["", "2024", "2025"],
        ["", "North", "South"],
        ["Code", "Q1", "Jan 2025"],
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


WORDS = [[f"Plant {n}", *(f"{each} street {n}" for each in "abcd")] for n in range(40)]
TWO_LEVELS = [
    ["Plant", "Sender", BESIDE, "Receiver", BESIDE],
    [ABOVE, "name", "town", "alias", "land"],
]


@pytest.mark.parametrize("body", [AMOUNTS, WORDS], ids=["amounts", "words"])
@pytest.mark.parametrize(
    ("header", "last"),
    [
        ([["Plant", "Weight", BESIDE, "Price", BESIDE]], ["Weight", "Weight", "Price", "Price"]),
        ([["Plant", "Address", BESIDE, BESIDE, BESIDE]], ["Address"] * 4),
        (TWO_LEVELS, ["Sender name", "Sender town", "Receiver alias", "Receiver land"]),
        (
            [
                ["", "Sold", BESIDE, BESIDE, BESIDE],
                ["", "North", BESIDE, "South", BESIDE],
                ["Plant", "2025", "2026", "2025", "2026"],
            ],
            ["Sold North 2025", "Sold North 2026", "Sold South 2025", "Sold South 2026"],
        ),
    ],
    ids=["two over four", "one over four", "two levels", "three levels"],
)
def test_name_of_several_columns_is_in_that_of_each(
    header: list[list[str]], last: list[str], body: list[list[str]]
) -> None:
    marked = table_lines([*header, *body], headers=len(header)).split("\n")

    names = ["Plant", *last]
    row = "; ".join(f"{name}: {cell}" for name, cell in zip(names, body[3], strict=True))
    assert marked[3] == row
    if len(header) < 3 or body is AMOUNTS:
        assert table_lines([*header, *body]).split("\n") == marked


@pytest.mark.parametrize(
    ("row", "line"),
    [
        (["Prices are without tax", BESIDE, BESIDE], "Prices are without tax"),
        (["Note:", "without tax", BESIDE], "Note:\twithout tax"),
        (["Southern plants", "", ""], "Southern plants"),
        (["Total", BESIDE, "820"], "Total; region: 820"),
        (["Vendor 41", "closed", BESIDE], "vendor: Vendor 41; days, region: closed"),
        (["Vendor 41", "", "North"], "vendor: Vendor 41; region: North"),
    ],
    ids=["note", "colon", "title", "total", "wide", "gap"],
)
def test_cell_that_spans_columns_has_the_name_of_none_of_them_alone(
    row: list[str], line: str
) -> None:
    assert table_lines([*VENDORS, row]).split("\n")[-1] == line
    assert table_lines([*VENDORS[:11], row, *VENDORS[11:]]).split("\n")[10] == line
    assert table_lines([VENDORS[0], row, *VENDORS[1:]], headers=1).split("\n")[0] == line


def test_cell_that_spans_rows_is_repeated_in_each_row() -> None:
    rows = [[f"Region {n}" if n % 4 == 0 else ABOVE, f"Plant {n}", str(n)] for n in range(20)]

    named = table_lines([["Region", "Plant", "Stock"], *rows]).split("\n")

    assert named[6] == "Region: Region 4; Plant: Plant 6; Stock: 6"
    words = [[*row[:2], "open" if at % 2 else "shut"] for at, row in enumerate(rows)]
    assert table_lines(words).startswith("Region 0\tPlant 0\tshut\nRegion 0\tPlant 1\topen\n")


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


@pytest.mark.parametrize(
    "first",
    [
        ["Paper", "1"],
        ["Start", "2026-03-01"],
        ["Owner", "Anna"],
        ["Owner", ""],
    ],
)
def test_a_first_row_like_the_others_names_no_columns(first: list[str]) -> None:
    text = table_lines([first, *PAIRS])

    assert text.split("\n")[0] == "\t".join(filter(None, first))
    assert text.endswith("Place 39\tTown 39")


def test_stated_header_is_used() -> None:
    assert table_lines([["1", "2"], *PAIRS], headers=1).endswith("1: Place 39; 2: Town 39")
    assert table_lines(VENDORS, headers=0).startswith("vendor\tdays\tregion\nVendor 1\t1")
    assert table_lines([["", ""], *PAIRS], headers=1).startswith("Place 0\tTown 0\n")
