"""Cells and boxes of an XLSX that a condition, or the colour of their letters, hides."""

import pytest

from simulator.tests import files
from stackroom.text.gaps import gaps_of
from tests.unit.workbooks import MAIN, book, members_of, read, rows, text

_DIFFERENCES = (
    f'<styleSheet xmlns="{MAIN}"><fonts><font/></fonts><fills><fill><patternFill/></fill></fills>'
    '<cellXfs><xf fontId="0" fillId="0"/></cellXfs><dxfs>'
    '<dxf><font><color rgb="FFFFFFFF"/></font></dxf>'
    '<dxf><numFmt numFmtId="170" formatCode=";;;"/></dxf>'
    '<dxf><fill><patternFill><bgColor rgb="FF000000"/></patternFill></fill></dxf>'
    '<dxf><font><color rgb="FFFFFFFF"/></font><fill><patternFill><bgColor rgb="FF000000"/>'
    "</patternFill></fill></dxf></dxfs></styleSheet>"
)


@pytest.mark.parametrize(
    ("style", "rule", "shown", "is_gap"),
    [
        (0, 'type="expression"><formula>TRUE</formula>', "", True),
        (1, 'type="expression"><formula>1=1</formula>', "", True),
        (2, 'type="expression"><formula>LEN(TRIM(A2))&gt;0</formula>', "", True),
        (3, 'type="expression"><formula>TRUE</formula>', "Ann 7 Bo 12 Bo #N/A", False),
        (0, 'type="expression"><formula>$B2&gt;9</formula>', "Ann 7 Bo #N/A", True),
        (0, 'type="expression"><formula>A2=A1</formula>', "Ann 7 Bo 12 #N/A", True),
        (0, 'type="expression"><formula>ISERROR(A2)</formula>', "Ann 7 Bo 12 Bo", False),
        (0, 'type="expression"><formula>NOT(ISTEXT(A2))</formula>', "Ann Bo Bo", True),
        (0, 'type="expression"><formula>ISODD(ROW())</formula>', "", True),  # not understood
        (0, 'type="cellIs" operator="greaterThan"><formula>9</formula>', "7 #N/A", True),
        (0, 'type="cellIs" operator="between"><formula>5</formula><formula>9</formula>',
         "Ann Bo 12 Bo #N/A", True),
        (0, 'type="cellIs" operator="equal"><formula>"ann"</formula>', "7 Bo 12 Bo #N/A", True),
        (0, 'type="containsText" text="B"><formula>x()</formula>', "Ann 7 12 #N/A", True),
        (0, 'type="notContainsBlanks"><formula>x()</formula>', "", True),
        (0, 'type="containsErrors"><formula>x()</formula>', "Ann 7 Bo 12 Bo", False),
    ],
)  # fmt: skip
def test_cells_that_a_conditional_format_hides_are_left_out(
    style: int, rule: str, shown: str, *, is_gap: bool
) -> None:
    sheet = rows(
        text("names") + text("amounts"),
        text("Ann") + "<c><v>7</v></c>",
        text("Bo") + "<c><v>12</v></c>",
        text("Bo") + '<c t="e"><v>#N/A</v></c>',
    )
    sheet += f'<conditionalFormatting sqref="A2:B9"><cfRule dxfId="{style}" {rule}</cfRule>'
    body = book({"Plan": f"{sheet}</conditionalFormatting>"})

    page = read(files.archive({**members_of(body), "xl/styles.xml": _DIFFERENCES}))

    found = [each for each in page.text.split() if each not in {"Plan", "names", "amounts", "|"}]
    assert [each for each in found if set(each) - set("|-")] == shown.split()
    assert bool(gaps_of([page])) == is_gap


_LETTERS = '<a:rPr><a:solidFill><a:srgbClr val="FFFFFF"/></a:solidFill></a:rPr>'


@pytest.mark.parametrize(
    ("fill", "letters", "is_seen"),
    [
        ('<a:solidFill><a:schemeClr val="lt1"/></a:solidFill>', _LETTERS, False),
        ("<a:noFill/>", _LETTERS, False),
        ('<a:solidFill><a:srgbClr val="000080"/></a:solidFill>', _LETTERS, True),
        ('<a:solidFill><a:schemeClr val="accent1"/></a:solidFill>', _LETTERS, True),
        ("", _LETTERS, True),
        ("<a:noFill/>", '<a:rPr sz="100"/>', False),
        ("<a:noFill/>", "<a:rPr><a:noFill/></a:rPr>", False),
        ("<a:noFill/>", '<a:rPr sz="900"/>', True),
    ],
)
@pytest.mark.parametrize("is_above_picture", [False, True])
def test_letters_of_a_box_that_nobody_sees_are_left_out(
    fill: str, letters: str, *, is_seen: bool, is_above_picture: bool
) -> None:
    picture = "<d:pic/>" if is_above_picture else ""
    drawing = (
        f'<d:wsDr xmlns:d="d" xmlns:a="a">{picture}<d:sp><d:cNvPr id="1"/><d:spPr>{fill}</d:spPr>'
        f"<a:p><a:r>{letters}<a:t>ignore all</a:t></a:r><a:r><a:t>Valid</a:t></a:r></a:p></d:sp>"
        "</d:wsDr>"
    )

    page = read(book({"A": rows(text("x"))}, parts={"drawing": drawing}))

    is_seen = is_seen or (is_above_picture and (fill, letters) == ("<a:noFill/>", _LETTERS))
    assert ("ignore all" in page.text, "Valid" in page.text) == (is_seen, True)
    gap = ("2 words that nobody can see were left out",)
    assert gaps_of([page]) == (() if is_seen else gap)


@pytest.mark.parametrize(("control", "is_seen"), [("<x:compatExt spid='s1'/>", True), ("", False)])
def test_label_of_a_form_control_is_seen_unlike_a_hidden_shape(
    control: str, *, is_seen: bool
) -> None:
    drawing = (
        '<d:wsDr xmlns:d="d" xmlns:a="a" xmlns:x="x"><d:sp><d:cNvPr id="1" hidden="1"><a:extLst>'
        f"<a:ext>{control}</a:ext></a:extLst></d:cNvPr><a:p><a:r><a:t>Paid</a:t></a:r></a:p></d:sp>"
        "</d:wsDr>"
    )

    page = read(book({"A": rows(text("x"))}, parts={"drawing": drawing}))

    gaps = () if is_seen else ("1 word that nobody can see was left out",)
    assert ("Paid" in page.text, gaps_of([page])) == (is_seen, gaps)
