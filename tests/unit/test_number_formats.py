"""Numbers as Excel shows them in English."""

import pytest

from stackroom.text.extraction.number_formats import BUILT_IN, number_format

ACCOUNTING = '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)'
PHONE = "[<=9999999]###\\-####;\\(###\\)\\ ###\\-####"
MARCH = 46082  # 1 March 2026


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        # Shares and amounts.
        (0.475, "0.00%", "47.50%"),
        (1234567, "#,##0", "1,234,567"),
        (1e15, "#,##0", "1,000,000,000,000,000"),
        (1250, '#,##0.00\\ "EUR"', "1,250.00 EUR"),
        (1250, "#,##0.00\\ [$€-407]", "1,250.00 €"),
        (-1250, '"$"#,##0.00_);[Red]\\("$"#,##0.00\\)', "($1,250.00)"),
        (1250, ACCOUNTING, "$1,250.00"),
        (-1250, ACCOUNTING, "$(1,250.00)"),
        (0, ACCOUNTING, "$-"),
        (1234567, '0.0,,"M"', "1.2M"),
        # Half goes up, of the decimal number that people see; nothing is -0.
        (2.5, "0", "3"),
        (1.005, "0.00", "1.01"),
        (-0.4, "0", "0"),
        # Codes.
        (1067, "00000", "01067"),
        (123456789, "000\\-00\\-0000", "123-45-6789"),
        (5551234, PHONE, "555-1234"),
        (5551234567, PHONE, "(555) 123-4567"),
        (5, '0" kg"', "5 kg"),
        (12.3, "0.0##", "12.3"),
        (0.5, ".00", ".50"),
        # Scientific, fractions.
        (12345, "0.00E+00", "1.23E+04"),
        (9.999, "0.00E+00", "1.00E+01"),
        (12345678, "##0.0E+0", "12.3E+6"),
        (1.25, "# ?/?", "1 1/4"),
        (-0.5, "?/8", "-4/8"),
        (0.99, "# ?/?", "1"),
        (1.5, '# ?/2" in"', "1 1/2 in"),
        # Sections, conditions, texts.
        (0, '0;-0;"none";@', "none"),
        (-3, "0;(0)", "(3)"),
        (5, ";;;", ""),
        ("abc", ";;;", ""),
        ("abc", '0;-0;0;"see "@', "see abc"),
        ("abc", "0.00", "abc"),
        (12, '[>=10]"high";[<10]"low"', "high"),
        (3, '[>=10]"high";"low"', "low"),
        (3, "@", "3"),
        # Without a format.
        (0.1 + 0.2, "General", "0.3"),
        (1 / 3, "General", "0.333333333"),
        (4006381333931, "General", "4006381333931"),
        (0.00001234, "General", "1.234E-05"),
        (1e21, "General", "1E+21"),
        # Dates and times.
        (MARCH, "yyyy\\-mm\\-dd", "2026-03-01"),
        (MARCH, "d-mmm-yy", "1-Mar-26"),
        (MARCH, "[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy", "Sunday, March 01, 2026"),
        (MARCH + 14.5 / 24, "dd.mm.yyyy hh:mm:ss", "01.03.2026 14:30:00"),
        (14.5 / 24, "h:mm AM/PM", "2:30 PM"),
        (0.5, "h AM/PM", "12 PM"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (1 / 86_400, "mm:ss.0", "00:01.0"),
        (60, "yyyy-mm-dd", "1900-02-29"),  # of Lotus 1-2-3
        (61, "yyyy-mm-dd", "1900-03-01"),
        (-1, "yyyy-mm-dd", "-1"),
        (2_958_467, "yyyy-mm-dd", "2958467"),
    ],
)
def test_value_is_shown_as_its_format_says(value: float | str, code: str, shown: str) -> None:
    assert number_format(code)(value, False) == shown


def test_date_counted_from_1904_is_four_years_later() -> None:
    assert number_format("yyyy-mm-dd")(MARCH - 1_462, True) == "2026-03-01"


def test_formats_known_by_number_show_dates_that_are_unambiguous() -> None:
    shown = {number: number_format(code)(MARCH + 0.5, False) for number, code in BUILT_IN.items()}

    assert (shown[14], shown[22], shown[31]) == ("2026-03-01", "2026-03-01 12:00", "2026-03-01")
    assert (shown[10], shown[4], shown[18]) == ("4608250.00%", "46,082.50", "12:00 PM")


@pytest.mark.parametrize(
    "code", ["", "0/", "E+", "#)<P/", "[", '"', "\\", "0" * 2_000, "[h", "y" * 99]
)
@pytest.mark.parametrize("value", [0, -1.5, 1e300, 1e-300, MARCH, "x"])
def test_no_format_breaks_its_reader(code: str, value: float | str) -> None:
    assert isinstance(number_format(code)(value, False), str)
