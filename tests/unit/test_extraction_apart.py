"""Extraction in a child process: what it ends by itself, and what ends it."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from simulator.tests import files
from stackroom.errors import Illegible, Unreadable
from stackroom.text.extraction import Heading, Page
from stackroom.text.extraction.apart import read_pages_apart

pytestmark = pytest.mark.processes
# Nesting costs the parser quadratic time, and this much is still read.
_SLOW = (b"<ul><li>" * 9_000 + b"</li></ul>" * 9_000) * 20


def test_pages_and_headings_come_back_whole_from_the_child() -> None:
    pages = read_pages_apart(files.pdf("Größe", "", "48 €"), "über maß.pdf", seconds=60)
    sections = read_pages_apart("above\n# Größe\n".encode(), "notes.md", seconds=60)

    assert pages == (Page(1, "Größe"), Page(2, ""), Page(3, "48 €"))
    assert sections == (Page(None, "above\n# Größe\n", (Heading(6, "Größe"),)),)


def test_a_pdf_of_images_alone_is_a_defect_unless_scans_are_read() -> None:
    scan = files.scanned_pdf("Seen")

    pages = read_pages_apart(scan, "scan.pdf", seconds=60, scans=True)

    assert pages == (Page(1, ""),)
    with pytest.raises(Illegible, match="this deployment reads no images"):
        read_pages_apart(scan, "scan.pdf", seconds=60)


@pytest.mark.parametrize(
    ("body", "filename", "seconds"),
    [
        (_SLOW, "slow.html", 1),
        (b"<br>" * 12_000_000, "greedy.html", 60),
    ],
    ids=["time", "memory"],
)
def test_a_reader_that_takes_too_much_is_given_up(
    body: bytes, filename: str, seconds: float
) -> None:
    assert read_pages_apart(body, filename, seconds=seconds) is None


def test_a_reader_that_crashes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")

    assert read_pages_apart(b"text", "notes.txt", seconds=60) is None


def test_the_child_has_no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    telling = tmp_path / "python"
    telling.write_text('#!/bin/sh\necho "{\\"unreadable\\": \\"has $AWS_SECRET_ACCESS_KEY\\"}"\n')
    telling.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(telling))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")

    with pytest.raises(Unreadable) as told:
        read_pages_apart(b"text", "notes.txt", seconds=60)

    assert told.value.reason == "has "


def test_child_process_ends_when_its_parent_is_gone() -> None:
    orphan = [sys.executable, "-m", "stackroom.text.extraction.apart", "slow.html", "0"]

    ended = subprocess.run(orphan, input=_SLOW, timeout=120, check=False)

    assert ended.returncode == -signal.SIGKILL
