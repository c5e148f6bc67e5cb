"""`stackroom passages`: a file's passages as they are indexed and cited, and what is left out."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from simulator.tests.files import encrypted_pdf, pdf, scanned_pdf
from stackroom.text.context_lines import without_context
from stackroom.text.document_text import text_of
from stackroom.text.extraction import read_pages
from tests.local.running import CommandResult, within

pytestmark = pytest.mark.processes

Stackroom = Callable[..., CommandResult]
SHIFTS = [
    "\n".join(["The pump book", *(f"On page {page} is rule {page}{rule}." for rule in "abcd")])
    for page in range(1, 5)
]


@pytest.fixture
def stackroom(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Stackroom:
    return partial(within, monkeypatch, capsys)


def test_passages_command_lists_passages_with_places_and_omissions(
    stackroom: Stackroom, tmp_path: Path
) -> None:
    book = tmp_path / "book.pdf"
    book.write_bytes(pdf(*SHIFTS, ""))

    as_json = stackroom("passages", str(book), "--chunk-tokens", "60", "--overlap", "0", "--json")
    as_text = stackroom("passages", str(book), "--chunk-tokens", "60", "--overlap", "0")

    told = json.loads(as_json.stdout)
    passages = told["passages"]
    assert (told["filename"], told["parser"], told["pages"]) == ("book.pdf", "local", 5)
    assert [each["number"] for each in passages] == list(range(1, len(passages) + 1))
    assert all(0 < each["tokens"] <= 60 for each in passages)
    whole = without_context("\n".join(each["text"] for each in passages)).split("\n")
    rules = [line for shift in SHIFTS for line in shift.split("\n")[1:]]
    assert [line for line in whole if line] == ["The pump book", *rules]
    assert passages[0]["page"] == passages[0]["page_first"] == 1
    assert passages[-1]["page_last"] == 4
    context = [
        line for line in "\n".join(each["text"] for each in passages).split("\n") if "⟦" in line
    ]
    assert context == ["⟦book⟧"] * 4
    assert [each["page"] for each in told["left_out"]] == [5]
    assert "on AWS, Bedrock may cut it elsewhere" in as_text.stdout
    assert "    ⟦book⟧\n    The pump book\n" in as_text.stdout
    assert "page 5: no text" in as_text.stdout


def test_passages_command_prints_the_whole_text_and_nothing_else(
    stackroom: Stackroom, tmp_path: Path
) -> None:
    book, page = tmp_path / "book.pdf", tmp_path / "pumps.md"
    book.write_bytes(pdf(*SHIFTS))
    page.write_text("# Pumps \x1b[2J [bold]\n\nThe pump is greased every 200 hours.\n")

    of_book = stackroom("passages", str(book), "--text").stdout
    of_page = stackroom("passages", str(page), "--text").stdout
    both = stackroom("passages", str(page), "--text", "--json")

    assert of_book == text_of(read_pages(book.read_bytes(), "book.pdf"), "book.pdf").markdown
    assert of_page.startswith("# Pumps [2J [bold]\n")
    assert (both.returncode, both.stdout) == (2, "")
    assert "leave out --text or --json" in both.stderr


def test_passages_command_lists_what_of_a_file_cannot_be_found(
    stackroom: Stackroom, tmp_path: Path
) -> None:
    lease = tmp_path / "lease.pdf"
    lease.write_bytes(scanned_pdf("nine weeks", read=["Lease Agreement"]))

    told = json.loads(stackroom("passages", str(lease), "--json").stdout)
    as_text = stackroom("passages", str(lease))

    assert told["gaps"] == ["1 of 2 pages has no text, or hardly any, beside an image: 1"]
    assert f"gap: {told['gaps'][0]}" in as_text.stdout


def test_a_passage_of_a_file_with_headings_has_its_section(
    stackroom: Stackroom, tmp_path: Path
) -> None:
    page = tmp_path / "pumps.md"
    page.write_text("# Pumps\n\nThe pump is greased every 200 hours.\n")

    told = json.loads(stackroom("passages", str(page), "--json").stdout)

    [passage] = told["passages"]
    assert (passage["section"], passage["page"], told["pages"]) == ("Pumps", None, None)


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("book.pdf", encrypted_pdf(), "book.pdf: "),
        ("empty.txt", b"", "empty.txt: the file is empty"),
        ("picture.png", b"\x89PNG", "picture.png: File type"),
        ("none.txt", None, "No such file or directory"),
        ("", None, "is a folder; name a file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_unreadable_file_is_reported_in_one_line(
    stackroom: Stackroom, tmp_path: Path, name: str, body: bytes | None, reason: str
) -> None:
    if body is not None:
        (tmp_path / name).write_bytes(body)

    answer = stackroom("passages", str(tmp_path / name))

    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.startswith("stackroom: ")
    assert reason in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_a_user_is_of_a_document_in_a_catalog(stackroom: Stackroom, tmp_path: Path) -> None:
    answer = stackroom("passages", str(tmp_path / "a.md"), "--user", "alice")

    assert (answer.returncode, answer.stdout) == (2, "")
    assert "--user and --group require --catalog" in answer.stderr
