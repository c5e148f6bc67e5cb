"""Every verb that needs the local mode says so when there is none."""

from pathlib import Path

import pytest

from tests.local.running import stackroom


@pytest.mark.parametrize(
    "command",
    [
        ("down",),
        ("env",),
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
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    answer = stackroom(*command, state_dir=tmp_path)

    assert answer.returncode == 1
    assert answer.stdout == ""
    assert answer.stderr.startswith(f"stackroom: nothing is up in {tmp_path}; start it")


def test_doctor_needs_nothing_to_be_up(tmp_path: Path) -> None:
    answer = stackroom("doctor", state_dir=tmp_path)

    assert "nothing is up" in answer.stdout
    assert "ministack 1.5.33" in answer.stdout


def test_help_lists_every_verb(tmp_path: Path) -> None:
    answer = stackroom("--help", state_dir=tmp_path)

    listed = [line.split()[1] for line in answer.stdout.splitlines() if line.startswith("│ ")]
    verbs = {"up", "down", "env", "doctor", "drop", "status", "ask", "retrieve", "token", "whoami"}
    assert verbs | {"delete", "receipts", "retry", "reconcile"} <= set(listed)


def test_an_empty_path_is_refused_and_never_taken_for_the_present_folder(tmp_path: Path) -> None:
    answer = stackroom("drop", "", "--user", "ada", "--catalog", "home", state_dir=tmp_path)

    assert answer.returncode == 2
    assert "a path is empty" in answer.stderr
