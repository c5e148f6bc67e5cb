"""Texts of tools: names chosen by others, throttling, and page tokens."""

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.tests.files import pdf, word
from stackroom.access.identity import ToolCall
from stackroom.catalogs.transfers import require_matching_content
from stackroom.errors import KnowledgeBaseThrottled, Throttled, ValidationError
from stackroom.tools.calls import Calls
from stackroom.tools.definition import id_of, token_of
from stackroom.tools.texts import cell, dollars, quotable, size

ID = "doc-0123456789abcdef01234567"


@given(st.text())
def test_a_name_stays_in_its_line_and_in_its_quotes(name: str) -> None:
    text = quotable(name)

    assert len(f"'{text}'".splitlines()) == 1
    assert "'" not in text
    assert not set(text) & set("\u202e\u2066\u200f\x00\x1b")
    text.encode()


@given(st.text())
def test_a_name_stays_in_its_cell(name: str) -> None:
    assert cell(name).replace("\\|", "").count("|") == 0


@pytest.mark.parametrize(
    ("value", "told"),
    [(0, "0.00"), (0.0000004, "0.00"), (0.00023, "0.00023"), (0.01, "0.01"), (1234.5, "1,234.50")],
)
def test_dollars_are_shown_with_cents_or_the_digits_they_need(value: float, told: str) -> None:
    assert dollars(value) == told


@pytest.mark.parametrize(
    ("value", "told"),
    [(1023, "1023 B"), (118_000, "115.2 KB"), (1024**2, "1.0 MB"), (2_100_000_000, "2002.7 MB")],
)
def test_size_below_a_megabyte_is_shown_in_kilobytes(value: int, told: str) -> None:
    assert size(value) == told


def test_a_token_is_taken_back() -> None:
    assert id_of(token_of(ID)) == ID


@given(st.text())
def test_text_that_decodes_to_an_id_is_exactly_its_token(text: str) -> None:
    try:
        id_ = id_of(text)
    except ValueError:
        return
    assert token_of(id_) == text


@pytest.mark.parametrize(
    ("filename", "content"),
    [
        ("a.pdf", pdf("text")),
        ("a.pdf", b"\n\n" + pdf("text")),
        ("A.DOCX", word("text")),
        ("a.txt", "Größe".encode("cp1252")),
        ("a.csv", "a;b".encode("utf-16")),
        ("a.html", b"<p>text"),
        ("a.txt", "отпуск".encode("cp1251")),
        ("a.csv", "休暇、一覧".encode("shift-jis")),
        ("a.md", "休暇".encode("iso2022-jp")),
        ("a.txt", b"\x1b[1mbold\x1b[0m\x0c"),
    ],
)
def test_file_content_that_matches_its_extension_is_accepted(filename: str, content: bytes) -> None:
    require_matching_content(filename, content)


@pytest.mark.parametrize(
    ("filename", "content"),
    [
        ("a.pdf", b"text"),
        ("a.pdf", word("text")),
        ("a.docx", pdf("text")),
        ("a.docx", b"PK\x03\x04 and no archive"),
        ("a.xlsx", word("text")),
        ("a.txt", pdf("text")),
        ("a.md", b"\x7fELF\x00"),
        ("a.csv", b"a\x00b"),
        ("a.txt", b"\x9e\x12\xe9\x05"),
        ("a.html", bytes(range(1, 256))),
    ],
)
def test_file_content_that_contradicts_its_extension_is_refused(
    filename: str, content: bytes
) -> None:
    with pytest.raises(ValidationError, match=filename.rpartition(".")[2]):
        require_matching_content(filename, content)


BUSY = "Error: Too much is being asked of the service at the moment."


def answer_to(error: Exception) -> Any:
    def asked() -> ToolCall:
        raise error

    nothing = cast("Any", None)  # nobody gets as far as a use case
    return Calls(services=nothing, log=lambda _: None).answer({}, asked)


@pytest.mark.parametrize(
    ("error", "when", "metadata"),
    [
        (Throttled("KB1", retry_after=4), "in 4 seconds.", {"retry_after_seconds": 4}),
        (
            KnowledgeBaseThrottled("Retrieve", retry_after=1),
            "in 1 second.",
            {"retry_after_seconds": 1},
        ),
        (Throttled("the model"), "in a few seconds.", {}),
    ],
)
def test_throttled_tool_text_says_when_to_call_again(
    error: Exception, when: str, metadata: dict[str, int]
) -> None:
    answer = answer_to(error)

    assert answer["content"] == [{"text": f"{BUSY} Try again {when}"}]
    assert answer["metadata"] == {
        "tool_type": "knowledge_base",
        "error_code": "THROTTLED",
        "error_details": "Nothing is wrong with the call.",
        **metadata,
    }
