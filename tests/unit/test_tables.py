"""Tables whose passages name their columns."""

import pytest

from stackroom.text.extraction.tables import ABOVE, BESIDE, table_lines

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


def test_names_of_columns_that_no_row_has_stand_above_the_rows() -> None:
    rows = [[*names, "", ""] for names in VENDORS[1:]]
    listed = [["Participants", "Attendance"], *([f"Participant {n}"] for n in range(100))]

    assert table_lines([[*VENDORS[0], "fax", ""], *rows], headers=1).startswith(f"fax\n{VENDOR_1}")
    assert table_lines(listed, headers=1).startswith("Participants\tAttendance\nParticipant 0")


def test_each_line_of_a_wide_row_begins_with_what_the_row_is_about() -> None:
    names = ["plant", *(f"measure {n}" for n in range(60))]

    lines = table_lines([names, ["Kiel", *map(str, range(60))], ["Lima", "7"]]).split("\n")

    assert all(line.startswith("plant: ") and len(line) <= 300 for line in lines)
    assert sum(line.count("measure") for line in lines) == 61
    assert lines[-1] == "plant: Lima; measure 0: 7"


def test_captions_stand_above_the_table_and_in_no_row() -> None:
    lines = table_lines([["Prices", "", ""], ["valid from May", "", ""], *VENDORS]).split("\n")

    assert lines[:3] == ["Prices", "valid from May", VENDOR_1]


@pytest.mark.parametrize(
    "first",
    [
        ["", "2024", "2025"],
        ["", "North", "South"],
        ["Code", "Q1", "Jan 2025"],
        ["Code", "Amount", "Amount"],
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


def test_names_over_several_columns_end_where_a_row_has_values() -> None:
    header = ["Person", "Address", BESIDE]
    rows = [[f"Ann {n}", f"{n} High Street", f"Kiel {n}"] for n in range(30)]

    lines = table_lines([header, *rows], headers=1).split("\n")

    assert lines[0] == "Person: Ann 0; Address: 0 High Street; Address: Kiel 0"
    assert len(lines) == 30


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


def test_note_in_a_short_table_is_in_no_column() -> None:
    rows = [["Plant", "Price"], ["Kiel", "5"], ["Prices are without tax", BESIDE]]

    assert table_lines(rows, headers=1) == "Plant: Kiel; Price: 5\nPrices are without tax"


@pytest.mark.parametrize("headers", [None, 2])
def test_title_and_note_above_the_names_are_in_no_name(headers: int | None) -> None:
    for title in (["Prices", BESIDE, BESIDE], ["Note:", "without tax", BESIDE]):
        lines = table_lines([title, *VENDORS], headers=headers).split("\n")

        assert lines[1] == VENDOR_1


def test_cell_that_spans_rows_is_repeated_in_each_row() -> None:
    rows = [[f"Region {n}" if n % 4 == 0 else ABOVE, f"Plant {n}", str(n)] for n in range(20)]

    named = table_lines([["Region", "Plant", "Stock"], *rows]).split("\n")

    assert named[6] == "Region: Region 4; Plant: Plant 6; Stock: 6"
    words = [[*row[:2], "open" if at % 2 else "shut"] for at, row in enumerate(rows)]
    assert table_lines(words).startswith("Region 0\tPlant 0\tshut\nRegion 0\tPlant 1\topen\n")


@pytest.mark.parametrize(
    ("header", "line"),
    [
        (["Plant", "", "Price", ""], "Plant: Plant 0; a 0; Price: 7; 0 b"),
        (["", "Town", "", "Stock"], "Plant 0; Town: a 0; 7; Stock: 0 b"),
        (["Plant", "", "Price", "", "", "Note"], "Plant: Plant 0; a 0; Price: 7; 0 b; c; Note: d"),
    ],
)
@pytest.mark.parametrize("headers", [None, 1])
def test_unnamed_columns_stay_unnamed_beside_named_ones(
    header: list[str], line: str, headers: int | None
) -> None:
    rows = [[f"Plant {n}", f"a {n}", str(n + 7), f"{n} b", "c", "d"] for n in range(40)]

    text = table_lines([header, *(row[: len(header)] for row in rows)], headers=headers)

    assert text.split("\n")[0] == line


def test_row_with_blanks_is_in_no_name_where_the_next_has_all_names() -> None:
    lines = table_lines([["Report", "Vendors", ""], *VENDORS]).split("\n")

    assert lines[:2] == ["Report\tVendors", VENDOR_1]


def test_row_that_has_a_value_twice_as_others_do_names_nothing() -> None:
    rows = [[f"Kiel {n}", f"open {n}", f"Kiel {n}", f"shut {n}"] for n in range(40)]

    assert table_lines([["Plant", "", "Town", ""], *rows]).endswith(
        "\nKiel 39\topen 39\tKiel 39\tshut 39"
    )


PEOPLE = ["Ann", "Bob", "Cid", "Dora", "Eve", "Fred", "Gus", "Hal", "Ian", "Joe"]


def test_two_columns_of_words_have_no_names_unless_the_first_row_differs() -> None:
    regions = [[each, "North" if at % 2 else "South"] for at, each in enumerate(PEOPLE)] * 2
    meanings = [[each, f"What {each} means, at length"] for each in PEOPLE * 2]

    assert table_lines(regions).startswith("Ann\tSouth\nBob\tNorth\n")
    assert table_lines([["Name", "Region"], *regions]).startswith("Name: Ann; Region: South\n")
    assert table_lines([["Term", "Meaning"], *meanings]).startswith("Term: Ann; Meaning: What Ann")
    towns = [
        [f"Z{n}", f"{town} on the river" if n < 15 else town] for n, (_, town) in enumerate(PAIRS)
    ]
    assert table_lines([["Zoe", "Rome"], *towns]).startswith("Zoe\tRome\n")


def test_repeated_header_rows_are_read_once() -> None:
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
        ["Owner", "x" * 101],
        ["Total", "#REF!"],
    ],
)
def test_a_first_row_like_the_others_names_no_columns(first: list[str]) -> None:
    text = table_lines([first, *PAIRS])

    assert text.split("\n")[0] == "\t".join(filter(None, first))
    assert text.endswith("Place 39\tTown 39")


def test_header_without_rows_is_a_row_itself() -> None:
    assert table_lines([["Name", "Town"], ["", ""]], headers=1) == "Name\tTown"


def test_stated_header_is_used() -> None:
    assert table_lines([["1", "2"], *PAIRS], headers=1).endswith("1: Place 39; 2: Town 39")
    assert table_lines(VENDORS, headers=0).startswith("vendor\tdays\tregion\nVendor 1\t1")
    assert table_lines([["", ""], *PAIRS], headers=1).startswith("Place 0\tTown 0\n")


@pytest.mark.parametrize("rows", [[], [[]], [["", " "]]])
def test_empty_table_gives_no_text(rows: list[list[str]]) -> None:
    assert table_lines(rows) == ""


def test_table_without_header_keeps_empty_cells_between_others() -> None:
    rows = [["1", "", "3"], ["4", "5", ""], ["", "8", "9"]]

    assert table_lines(rows) == "1\t\t3\n4\t5\n\t8\t9"
