"""`stackroom passages`: a file's passages as they are indexed and cited, and what is left out."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from simulator.tests.files import encrypted_pdf, pdf
from stackroom.text.context_lines import without_context
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


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("book.pdf", encrypted_pdf(), "book.pdf: "),
        ("picture.png", b"\x89PNG", "picture.png: File type"),
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
