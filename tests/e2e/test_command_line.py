"""What a user does in a second shell while `make up` serves in the first."""

import re
import subprocess
from pathlib import Path

import pytest

from stackroom_local.state import Instance
from tests.local.running import stackroom


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "2026").mkdir(parents=True)
    (folder / "lamps.txt").write_text("The lighthouse keeper oils the great lamp every Tuesday.")
    (folder / "2026" / "Q1 résumé (final)+v2.md").write_text(
        "# Budget\n\nThe harbour crane costs 410,000 crowns."
    )
    (folder / ".hidden").write_text("not for anybody")
    return folder


def test_dropped_files_become_searchable_for_their_owner_alone(
    instance: Instance, notes: Path
) -> None:
    state = instance.state_dir

    dropped = stackroom(
        "drop", str(notes), "--user", "ida", "--catalog", "harbour", "--wait", state_dir=state
    )
    hers = stackroom("ask", "who oils the lamp?", "--user", "ida", state_dir=state)
    others = stackroom("ask", "who oils the lamp?", "--user", "jon", state_dir=state)

    assert dropped.returncode == 0, dropped.stderr
    assert "dropped 2 of 2 files" in dropped.stdout
    assert re.search(r"^ *[\d.]+ s  2 indexed$", dropped.stdout, re.MULTILINE), dropped.stdout
    assert "\x1b" not in dropped.stdout
    assert "lamps.txt" in hers.stdout
    assert "every Tuesday" in hers.stdout
    assert "nothing found" in others.stdout


def test_the_aws_cli_puts_and_lists_with_the_printed_environment(
    instance: Instance, shell: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "tide.txt").write_text("High water at the old pier is at noon.")
    target = f"s3://{instance.bucket}/kim/sea/tide.txt"

    subprocess.run(
        ["aws", "s3", "cp", str(tmp_path / "tide.txt"), target],
        env=shell,
        check=True,
        capture_output=True,
    )
    listed = subprocess.run(
        ["aws", "s3", "ls", f"s3://{instance.bucket}/kim/sea/"],
        env=shell,
        check=True,
        capture_output=True,
        text=True,
    )

    assert "tide.txt" in listed.stdout


def test_a_printed_token_tells_who_it_is_for(instance: Instance) -> None:
    token = stackroom("token", "--user", "lea", state_dir=instance.state_dir).stdout.strip()

    told = stackroom("whoami", "--token", token, state_dir=instance.state_dir)

    assert told.stdout.startswith(f"lea: drop files under s3://{instance.bucket}/lea/")


def test_doctor_tells_how_many_questions_had_been_asked_before(instance: Instance) -> None:
    for _ in range(2):
        stackroom("retrieve", "asked twice", "--user", "nobody-yet", state_dir=instance.state_dir)

    checkup = stackroom("doctor", state_dir=instance.state_dir)

    assert re.search(r"[1-9]\d* of \d+ questions\s+had been asked before", checkup.stdout)


@pytest.mark.parametrize(
    ("user", "catalog", "named"),
    [
        ("a/b", "c", "can't be a user id"),
        ("ü", "c", "can't be a user id"),
        ("ida", "b/c", "'/'"),
        ("ida", "har_bour", "har_bour"),
    ],
)
def test_a_drop_to_where_nothing_can_lie_uploads_nothing_and_says_why(
    instance: Instance, notes: Path, user: str, catalog: str, named: str
) -> None:
    options = ("--user", user, "--catalog", catalog, "--wait")

    dropped = stackroom("drop", str(notes), *options, state_dir=instance.state_dir)

    assert dropped.returncode == 1
    assert named in dropped.stderr
    assert "Traceback" not in dropped.stderr
