"""Every verb that needs the local mode says so when there is none."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from stackroom_local.cli import app


@dataclass(frozen=True)
class Said:
    returncode: int
    stdout: str
    stderr: str


Stackroom = Callable[..., Said]


@pytest.fixture
def stackroom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Stackroom:
    """The console script within this process, which costs no second of imports for each verb."""
    monkeypatch.setenv("STACKROOM_STATE_DIR", str(tmp_path))

    def run(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["stackroom", *arguments])
        with pytest.raises(SystemExit) as ended:
            app()
        return Said(int(ended.value.code or 0), *capsys.readouterr())

    return run


@pytest.mark.parametrize(
    "command",
    [
        ("down",),
        ("env", "--user", "ada"),
        ("env", "--operator"),
        ("status",),
        ("status", "--watch"),
        ("status", "--pool"),
        ("delete", "ada/home/a.txt"),
        ("delete", "--user", "ada", "--catalog", "home", "--yes"),
        ("receipts",),
        ("retry", "--user", "ada"),
        ("reconcile", "--dry-run"),
        ("drop", ".", "--user", "ada", "--catalog", "home"),
        ("ask", "why?", "--user", "ada"),
        ("retrieve", "why?", "--user", "ada"),
        ("token", "--user", "ada"),
        ("whoami", "--token", "x"),
    ],
    ids=" ".join,
)
def test_a_verb_says_that_nothing_is_up_and_how_to_start_it(
    tmp_path: Path, stackroom: Stackroom, command: tuple[str, ...]
) -> None:
    answer = stackroom(*command)

    assert answer.returncode == 1
    assert answer.stdout == ""
    assert answer.stderr.startswith(f"stackroom: nothing is up in {tmp_path}; start it")


@pytest.mark.processes
def test_doctor_needs_nothing_to_be_up(stackroom: Stackroom) -> None:
    answer = stackroom("doctor")

    assert "nothing is up" in answer.stdout
    assert "ministack 1.5.33" in answer.stdout


def test_help_lists_every_verb(stackroom: Stackroom) -> None:
    answer = stackroom("--help")

    listed = [line.split()[1] for line in answer.stdout.splitlines() if line.startswith("│ ")]
    verbs = {"up", "down", "env", "doctor", "drop", "status", "ask", "retrieve", "token", "whoami"}
    assert verbs | {"delete", "receipts", "retry", "reconcile"} <= set(listed)


@pytest.mark.parametrize("whose", [(), ("--operator", "--user", "ada")], ids=" ".join)
def test_whose_keys_are_meant_is_never_guessed(
    stackroom: Stackroom, whose: tuple[str, ...]
) -> None:
    answer = stackroom("env", *whose)

    assert (answer.returncode, answer.stdout) == (2, "")
    assert "--user alice" in answer.stderr
    assert "--operator" in answer.stderr


def test_an_empty_path_is_refused_and_never_taken_for_the_present_folder(
    stackroom: Stackroom,
) -> None:
    answer = stackroom("drop", "", "--user", "ada", "--catalog", "home")

    assert answer.returncode == 2
    assert "a path is empty" in answer.stderr
