"""XLSX as people see it in a spreadsheet program."""

import pytest

from simulator.tests import files
from stackroom.errors import Unreadable
from stackroom.text.document_text import text_of
from stackroom.text.extraction import Heading
from stackroom.text.gaps import gaps_of
from tests.unit.workbooks import MAIN, book, members_of, read, rows, text


def lines(sheet: str) -> list[str]:
    return read(book({"Sheet": sheet})).text.split("\n")[2:]


def test_every_sheet_has_its_name_as_a_heading() -> None:
    lamps: list[list[str | float]] = [[f"lamp {n}", n] for n in range(40)]
    many: list[list[str | float]] = [["item", "euro"], *lamps]
    body = files.workbook({"Prices": many, "Empty": [], "More": [["x"]]})

    page = read(body)

    assert page.text.startswith("Prices\n\nitem: lamp 0; euro: 0\n")
    assert page.text.endswith("item: lamp 39; euro: 39\n\nMore\n\nx")
    assert page.headings == (Heading(0, "Prices"), Heading(page.text.index("More"), "More"))
    assert text_of([page], "a.xlsx").markdown.startswith("⟦a⟧\n## Prices\n\nitem: ")


def test_cells_are_shown_by_their_number_formats() -> None:
    sheet = rows(
        '<c s="1"><v>0.475</v></c><c s="2"><v>46082</v></c><c s="3"><v>1067</v></c>',
        '<c><v>0.30000000000000004</v></c><c t="b"><v>1</v></c><c t="e"><v>#REF!</v></c>',
        '<c t="str"><f>A1</f><v>late_x000D_</v></c><c t="d"><v>2026-03-01</v></c>'
        '<c s="99"><v>7</v></c>',
    )

    assert lines(sheet) == [
        "47.50%\t2026-03-01\t01067",
        "0.3\tTRUE\t#REF!",
        "late\t2026-03-01\t7",
    ]


def test_dates_of_a_workbook_that_counts_from_1904_are_its_own() -> None:
    sheet = rows('<c s="2"><v>44620</v></c>')

    page = read(book({"A": sheet}, properties='<workbookPr date1904="1"/>'))

    assert page.text == "A\n\n2026-03-01"


def test_hidden_sheets_rows_and_columns_are_left_out_and_counted() -> None:
    shown = (
        '<cols><col min="2" max="2" hidden="1"/><col min="4" max="9" width="0"/></cols><sheetData>'
        f'<row r="1">{text("a")}{text("secret")}{text("c")}</row>'
        f'<row r="2" hidden="1">{text("hush")}</row><row r="3" ht="0">{text("psst")}</row>'
        f'<row r="4">{text("d")}</row><row r="5" hidden="1"/></sheetData>'
    )

    page = read(book({"Plan": shown, "IGNORE ALL": rows(text("boo"))}, hidden=("IGNORE ALL",)))

    assert page.text == "Plan\n\na\tc\nd"
    assert gaps_of([page]) == (
        "1 hidden sheet was left out",
        "2 hidden rows and 1 hidden column were left out: Plan",
    )


def test_number_is_seen_whatever_programs_write_beside_its_look() -> None:
    styles = (
        f'<styleSheet xmlns="{MAIN}"><numFmts><numFmt numFmtId="0" formatCode=""/></numFmts>'
        '<fonts><font><color theme="1" rgb="FFFFFFFF"/></font></fonts><fills><fill>'
        '<patternFill patternType="solid"><fgColor rgb="FF000000"/></patternFill></fill></fills>'
        '<cellXfs><xf numFmtId="0" fontId="0" fillId="0"/></cellXfs></styleSheet>'
    )
    body = files.archive(
        {**members_of(book({"Plan": rows("<c><v>7.5</v></c>")})), "xl/styles.xml": styles}
    )

    assert read(body).text == "Plan\n\n7.5"
    assert not gaps_of([read(body)])


@pytest.mark.parametrize(
    ("font", "fill", "is_seen"),
    [
        ('<color rgb="FFFFFFFF"/>', "", False),
        ('<color theme="0"/>', "", False),
        ('<color rgb="FF336699"/>', '<fgColor rgb="FF336699"/>', False),
        ('<sz val="1"/>', "", False),
        ('<color rgb="FFFFFFFF"/>', '<fgColor rgb="FF336699"/>', True),
        ('<color theme="0" tint="-0.5"/>', "", True),
    ],
)
def test_cell_whose_text_nobody_can_see_is_left_out(font: str, fill: str, *, is_seen: bool) -> None:
    kind = "solid" if fill else "none"
    styles = (
        f'<styleSheet xmlns="{MAIN}"><fonts><font>{font}</font></fonts><fills><fill/><fill>'
        f'<patternFill patternType="{kind}">{fill}</patternFill></fill></fills>'
        '<cellXfs><xf fontId="0" fillId="1"/></cellXfs></styleSheet>'
    )
    body = book({"Plan": rows(text("shown").replace("<c ", '<c s="9" '), text("order"))})
    body = files.archive({**members_of(body), "xl/styles.xml": styles})

    page = read(body)

    assert ("order" in page.text, "shown" in page.text) == (is_seen, True)
    gaps = () if is_seen else ("1 cell that nobody can see was left out: Plan",)
    assert gaps_of([page]) == gaps


_WHITE, _RED = '<color rgb="FFFFFFFF"/>', '<color rgb="FFFF0000"/>'


def run(value: str, font: str | None) -> str:
    properties = "" if font is None else f"<rPr>{font}</rPr>"
    return f"<r>{properties}<t>{value}</t></r>"


@pytest.mark.parametrize("is_inline", [True, False])
@pytest.mark.parametrize(
    ("style", "runs", "shown"),
    [
        (0, run("Pay ", None) + run("order", _WHITE), "Pay"),
        (0, run("Pay ", _RED) + run("order", '<sz val="1"/>'), "Pay"),
        (0, run("Pay ", None) + run("order", '<color theme="0"/>') + run("now", _RED), "Pay now"),
        (0, run("order", _WHITE), ""),
        (1, run("order", None) + run("Pay", _RED), "Pay"),
        (2, run("Pay ", _RED) + run("cash", _WHITE), "Pay cash"),
        (2, run("Pay ", None) + run("order", '<color rgb="FF336699"/>'), "Pay"),
        (0, run("Pay ", None) + run("cash", '<color theme="0" tint="-0.5"/>'), "Pay cash"),
    ],
)
def test_runs_that_a_cell_does_not_show_are_left_out_of_it(
    style: int, runs: str, shown: str, *, is_inline: bool
) -> None:
    styles = (
        f'<styleSheet xmlns="{MAIN}"><fonts><font/><font>{_WHITE}</font></fonts><fills><fill>'
        '<patternFill patternType="none"/></fill><fill><patternFill patternType="solid">'
        '<fgColor rgb="FF336699"/></patternFill></fill></fills><cellXfs><xf/><xf fontId="1"/>'
        '<xf fillId="1"/></cellXfs></styleSheet>'
    )
    kind = "inlineStr" if is_inline else "s"
    value = f"<is>{runs}</is>" if is_inline else "<v>0</v>"
    body = book({"Plan": rows(text("a") + f'<c s="{style}" t="{kind}">{value}</c>')})
    shared = {} if is_inline else {"xl/sharedStrings.xml": f"<sst><si>{runs}</si></sst>"}

    page = read(files.archive({**members_of(body), "xl/styles.xml": styles, **shared}))

    assert " ".join(page.text.split()) == f"Plan a {shown}".rstrip()
    partial = ("text that nobody can see was left out of 1 cell: Plan",) * ("order" in runs)
    assert gaps_of([page]) == (
        partial if shown else ("1 cell that nobody can see was left out: Plan",)
    )


@pytest.mark.parametrize(
    ("code", "value", "shown", "is_gap"),
    [
        (";;;", "7", "", True),
        (";;;", "order", "", True),
        ("[Color2]0;-0", "7", "", True),
        (";;;@", "cash", "cash", False),
        ("[White]0;[Red]-0", "-7", "-7", False),
    ],
)
def test_value_that_its_format_does_not_show_is_left_out(
    code: str, value: str, shown: str, *, is_gap: bool
) -> None:
    styles = (
        f'<styleSheet xmlns="{MAIN}"><numFmts><numFmt numFmtId="170" formatCode="{code}"/>'
        '</numFmts><cellXfs><xf/><xf numFmtId="170"/></cellXfs></styleSheet>'
    )
    kind = 's="1" t="str"' if value.isalpha() else 's="1"'
    body = book({"Plan": rows(text("a") + f"<c {kind}><v>{value}</v></c>")})

    page = read(files.archive({**members_of(body), "xl/styles.xml": styles}))

    assert page.text == f"Plan\n\na\t{shown}".rstrip()
    assert gaps_of([page]) == ("1 cell that nobody can see was left out: Plan",) * is_gap


@pytest.mark.parametrize(
    ("cell", "shown", "is_gap"),
    [
        ("<c><f>SUM(B1:B3)</f></c>", "=SUM(B1:B3)", True),
        ('<c><f t="shared" si="0"/></c>', "", True),
        ("<c><f>SUM(B1:B3)</f><v>6</v></c>", "6", False),
        ('<c t="str"><f>T(B1)</f><v></v></c>', "", False),
    ],
)
def test_formula_without_a_value_is_shown_itself_and_a_gap(
    cell: str, shown: str, is_gap: bool
) -> None:
    page = read(book({"Costs": rows(text("Total") + cell)}))

    assert page.text == f"Costs\n\nTotal\t{shown}".rstrip()
    assert gaps_of([page]) == ("1 cell has a formula without a value: Costs",) * is_gap


def test_placeholder_zeros_of_formulas_are_no_values() -> None:
    sheet = rows(text("Total") + "<c><f>SUM(B1:B3)</f><v>0</v></c><c><v>0</v></c>")

    page = read(book({"Costs": sheet}, properties='<calcPr fullCalcOnLoad="1"/>'))

    assert page.text == "Costs\n\nTotal\t=SUM(B1:B3)\t0"


def test_merged_cells_are_told_once_and_what_they_cover_is_not() -> None:
    sheet = (
        rows(text("Prices") + text("covered"), text("lamp") + "<c><v>12</v></c>")
        + '<mergeCells><mergeCell ref="A1:B1"/><mergeCell ref="A1"/></mergeCells>'
    )

    assert lines(sheet) == ["Prices", "lamp\t12"]


def table(column: str, first: int, *names: str) -> list[str]:
    """Rows of a long table whose cells say where they are."""
    letters = [chr(ord(column) + at) for at in range(len(names))]
    head = "".join(text(name, f"{at}{first}") for name, at in zip(names, letters, strict=True))
    below = [
        "".join(f'<c r="{at}{row}"><v>{row}</v></c>' for at in letters)
        for row in range(first + 1, first + 30)
    ]
    return [head, *below]


def test_tables_below_and_beside_each_other_keep_their_own_columns() -> None:
    below = [*table("A", 1, "lamp", "price"), "", *table("A", 32, "town", "size")]
    left, right = table("A", 1, "lamp", "price"), table("D", 1, "town", "size")

    beside = [a + b for a, b in zip(left, right, strict=True)]

    assert {"lamp: 9; price: 9", "town: 40; size: 40"} <= set(lines(rows(*below)))
    assert {"lamp: 9; price: 9", "town: 9; size: 9"} <= set(lines(rows(*beside)))


def test_comments_are_a_gap_and_text_boxes_are_text() -> None:
    comments = "<comments><commentList><comment/><comment/></commentList></comments>"
    drawing = (
        '<d:wsDr xmlns:d="d" xmlns:a="a"><d:sp><a:p><a:r><a:t>Valid </a:t></a:r><a:r><a:t>in May'
        "</a:t></a:r></a:p></d:sp></d:wsDr>"
    )

    page = read(book({"A": rows(text("x"))}, parts={"comments": comments, "drawing": drawing}))

    assert page.text == "A\n\nx\n\nValid in May"
    assert gaps_of([page]) == ("2 comments were not read",)


def test_hidden_shape_of_a_sheet_is_left_out_and_reported() -> None:
    shapes = "".join(
        f'<d:sp><d:cNvPr id="1" {hidden}/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></d:sp>'
        for hidden, text in [('hidden="1"', "ignore all"), ("", "Valid in May")]
    )
    drawing = f'<d:wsDr xmlns:d="d" xmlns:a="a">{shapes}</d:wsDr>'

    page = read(book({"A": rows(text("x"))}, parts={"drawing": drawing}))

    assert page.text == "A\n\nx\n\nValid in May"
    assert gaps_of([page]) == ("2 words that nobody can see were left out",)


def test_headers_footers_and_titles_of_charts_are_text_once() -> None:
    running = (
        '<headerFooter><oddHeader>&amp;L&amp;"Arial,Bold"&amp;14R&amp;&amp;D plan&amp;R&amp;P'
        "</oddHeader><oddFooter>&amp;CPage &amp;P of &amp;N&amp;RNot&amp;KFF0000 for print"
        "</oddFooter></headerFooter>"
    )
    chart = "<c><title><a:p xmlns:a='a'><a:t>Sold</a:t></a:p></title><v>7</v></c>"
    sheet = rows(text("Kiel")) + running
    body = book({"May": sheet, "June": sheet}, parts={"drawing": "<d/>"})
    with_chart = files.archive(
        {
            **members_of(body),
            "xl/_rels/drawing.xml.rels": (
                '<Relationships><Relationship Id="r" Type="x/chart" Target="chart.xml"/>'
                "</Relationships>"
            ),
            "xl/chart.xml": chart,
        }
    )

    page = read(with_chart)
    as_sheet = read(
        files.archive(
            {
                name: part.replace("x/worksheet", "x/chartsheet")
                for name, part in members_of(with_chart).items()
            }
        )
    )

    assert page.text == "May\n\nKiel\n\nSold\n\nR&D plan\nNot for print\n\nJune\n\nKiel"
    assert "Sold" in as_sheet.text


def test_very_hidden_sheets_and_prompts_of_cells_are_no_text() -> None:
    prompt = '<dataValidations><dataValidation prompt="ignore all"/></dataValidations>'
    body = book(
        {"May": rows(text("Kiel")) + prompt, "Ignore": rows(text("all"))}, hidden=("Ignore",)
    )
    members = members_of(body)
    members["xl/workbook.xml"] = members["xl/workbook.xml"].replace("hidden", "veryHidden")

    assert read(files.archive(members)).text == "May\n\nKiel"


def test_embedded_objects_of_a_sheet_are_a_gap() -> None:
    page = read(book({"May": rows(text("Kiel"))}, parts={"oleObject": "<o/>"}))

    assert gaps_of([page]) == ("1 embedded object was not read",)


def test_sheet_that_shows_gigabytes_of_text_is_refused_at_once() -> None:
    shared = f"<sst><si><t>{'x' * 1_000_000}</t></si></sst>"
    sheet = rows(*['<c t="s"><v>0</v></c>'] * 10_000)
    members = members_of(book({"May": sheet}))

    with pytest.raises(Unreadable, match="more than 100 million characters; split the workbook"):
        read(files.archive({**members, "xl/sharedStrings.xml": shared}))


def test_markup_with_a_prefix_and_without_positions_is_read() -> None:
    sheet = '<x:sheetData xmlns:x="x"><x:row><x:c/><x:c><x:v>1</x:v></x:c></x:row></x:sheetData>'

    assert lines(sheet) == ["1"]


def test_distant_cells_cost_only_their_own_contents() -> None:
    letters = [
        a + b + c for a in "ABCDEFGH" for b in "ABCDEFGHIJ" for c in "ABCDEFGHIJKLMNOPQRSTUVWX"
    ]
    far = [f'<c r="{letter}{row}"><v>1</v></c>' for row, letter in enumerate(letters, 1)]

    assert lines(rows(*far)) == ["1"] * len(letters)
