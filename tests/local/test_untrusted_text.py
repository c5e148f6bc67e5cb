"""Text of others is shown without control over the terminal."""

import json
from io import StringIO

import pytest
from rich.table import Table
from rich.text import Text

from stackroom_cli.output import TerminalConsole
from stackroom_cli.untrusted_text import in_json, lines, one_line

# Overrides, isolates and marks of direction, then others that hide, join or end a line.
OF_FORMAT = (
    "".join(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F)))
    + "\u061c\u200b\u2028\u2029\ufeff\U000e0041"
)
OF_CONTROL = "\x07\x08\x1b\x7f\x85\x9b"


def test_a_character_that_a_terminal_obeys_is_shown_as_its_code() -> None:
    for character in (*OF_FORMAT, *OF_CONTROL, "\udcff"):
        escaped = character.encode("unicode_escape").decode()

        assert one_line(f"a{character}b") == f"a{escaped}b"
        assert lines(f"a{character}b") == f"a{escaped}b"


def test_line_breaks_are_escaped_in_names_and_kept_in_passages() -> None:
    assert one_line("a\nb\tc") == "a\\nb\\tc"
    assert lines("a\nb\tc") == "a\nb\tc"


@pytest.mark.parametrize("text", ["Q1 résumé (final)+v2.md", "長い名前", "اسم", "a\u00a0b", "🗂"])
def test_letters_of_any_script_are_shown_as_they_are(text: str) -> None:
    assert one_line(text) == lines(text) == in_json(text) == text


def test_a_json_text_stays_the_same_json() -> None:
    text = OF_FORMAT + OF_CONTROL

    printed = in_json(json.dumps({"a": text}, ensure_ascii=False, indent=2))

    assert not set(text) & set(printed)
    assert json.loads(printed) == {"a": text}


def test_hostile_text_in_output_never_styles_the_terminal() -> None:
    hostile = f"in{OF_FORMAT}\x1b\x9bvoice"
    out = TerminalConsole(file=StringIO(), force_terminal=True, color_system="standard", width=400)
    table = Table()
    table.add_column("file")
    table.add_row(Text(hostile))

    out.print(table)
    out.print(f"[bold]{hostile}[/bold]")

    assert isinstance(out.file, StringIO), "given above"
    printed = out.file.getvalue()
    styled = printed.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert not set(OF_FORMAT + "\x1b\x9b") & set(styled)
    assert "\x1b[1min" in printed
