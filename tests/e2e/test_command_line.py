"""A second shell while `make up` serves in the first: what verbs do, and how they fail."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from stackroom.model import Receipt
from stackroom_local.cli import app
from stackroom_local.clients import client
from stackroom_local.product import Product
from stackroom_local.state import Instance
from tests.e2e.people import Person
from tests.local.running import stackroom

ROOT = Path(__file__).parents[2]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def vera(instance: Instance) -> Person:
    """Whose one file failed at once, for its type, and another belongs to no catalog."""
    person = Person(instance, "vera")
    person.settle(person.put_all({"papers/a.exe": "x", "stray.txt": "x"}))
    return person


@pytest.fixture
def run(vera: Person, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The console script within this process: exit code, standard output and error."""
    monkeypatch.setenv("STACKROOM_STATE_DIR", str(vera.instance.state_dir))

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["stackroom", *arguments])
        with pytest.raises(SystemExit) as ended:
            app()
        return int(ended.value.code or 0), *capsys.readouterr()

    return run


FAILURES = {
    "ask with an empty question": (["ask", "", "-u", "vera"], "query: is empty"),
    "ask of a catalog that is not there": (
        ["ask", "why?", "-u", "vera", "-c", "nothere"],
        "'vera' has no catalog 'nothere', only 'papers'",
    ),
    "retrieve with an argument that the tool refuses": (
        ["retrieve", "why?", "-u", "vera", "--arguments", '{"top_k": 99}'],
        "top_k: ",
    ),
    "delete of what is not there": (["delete", "vera/papers/b.txt"], "there is no document"),
    "delete of nothing": (["delete"], "name what to delete"),
    "delete of a catalog's key": (["delete", "vera/papers"], "-u vera -c papers"),
    "drop of what is not there": (
        ["drop", "/nowhere", "-u", "vera", "-c", "p"],
        "no such file or folder: /nowhere",
    ),
    "receipts of none": (["receipts", "rcpt-0", "-u", "vera"], "no receipt 'rcpt-0'"),
    "receipts of nothing": (["receipts", ""], "there is no receipt ''"),
    "retry of what cannot do better": (
        ["retry", "-u", "vera", "vera/papers/a.exe"],
        "1 of 1 are not tried again",
    ),
    "retry of nothing": (["retry", "-u", "nobody"], "nothing is tried again"),
    "retry of what belongs to no catalog": (
        ["retry", "-u", "vera", "vera/stray.txt"],
        "belongs to no catalog",
    ),
    "status of nobody": (["status", "-u", "no/body"], "can't be a user id"),
    "token of nobody": (["token", "-u", "no/body"], "can't be a user id"),
    "token of no session": (["token", "-u", "vera", "--session", "a b"], "can't be a session"),
    "whoami of a token that is none": (["whoami", "--token", "x"], "token refused"),
}


@pytest.mark.parametrize(("command", "problem"), FAILURES.values(), ids=FAILURES)
def test_a_verb_that_failed_exits_with_1_and_says_why(
    run: Run, command: list[str], problem: str
) -> None:
    code, _, told = run(*command)

    assert (code, told.startswith("stackroom: ")) == (1, True)
    assert problem in told.splitlines()[-1]


@pytest.mark.parametrize(
    "command",
    [
        ("status",),
        ("status", "-u", "!none"),
        ("status", "--pool"),
        ("ask", "why?", "-u", "vera"),
        ("receipts",),
        ("token", "-u", "vera"),
        ("env", "--operator"),
    ],
    ids=" ".join,
)
def test_a_verb_that_did_what_it_was_asked_exits_with_0(run: Run, command: tuple[str, ...]) -> None:
    code, _, told = run(*command)

    assert (code, told) == (0, "")


def test_what_a_dead_letter_queue_holds_is_told_with_the_commands_that_mend_it(
    run: Run, instance: Instance
) -> None:
    sqs = client("sqs", instance.aws_endpoint)
    [queue] = [each for each in sqs.list_queues()["QueueUrls"] if each.endswith("-uploads-dead")]
    sqs.send_message(QueueUrl=queue, MessageBody="{}")

    code, printed, _ = run("doctor")
    [bad] = [line for line in printed.splitlines() if line.startswith("bad")]
    emptied = in_a_new_shell(bad.partition("then empty it: ")[2])
    after, _, _ = run("doctor")

    assert (code, emptied.returncode, after) == (1, 0, 0), emptied.stderr
    assert f"{queue.rpartition('/')[2]} holds 1 event that was given up" in bad
    assert f"stackroom reconcile --state-dir {instance.state_dir}" in bad


def in_a_new_shell(command: str) -> subprocess.CompletedProcess[str]:
    """With none of this process's variables, which say whose keys are used and where."""
    return subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments",
    ['{"top_k": 1e999}', '{"query": "\\ud800"}', "[]", "[" * 99999],
)
def test_arguments_that_json_cannot_carry_are_refused_before_they_are_sent(
    run: Run, arguments: str
) -> None:
    code, printed, told = run("retrieve", "why?", "-u", "vera", "--arguments", arguments)

    assert (code, printed, told.count("\n")) == (2, "", 1)
    assert told.startswith("stackroom: --arguments ")


def test_receipts_of_everybody_show_those_of_a_user_who_has_nothing_left(
    run: Run, vera: Person
) -> None:
    receipt = Receipt(
        receipt_id="rcpt-20260101T000000-gone",
        user_id="gone",
        catalog_id="cat-1",
        document_id="doc-1",
        filename="a.txt",
        asked_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    Product(vera.instance).stores.receipts.keep(receipt)

    everybodys = run("receipts")
    one = run("receipts", receipt.receipt_id)

    assert receipt.receipt_id in everybodys[1]
    assert (one[0], receipt.receipt_id in one[1]) == (0, True)


def test_a_state_directory_that_is_a_file_is_told_by_every_verb(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a directory")

    for verb in (["status"], ["env", "--operator"], ["down"], ["doctor"]):
        code, printed, told = run(*verb, "--state-dir", str(tmp_path / "notes.txt"))

        assert code == 1
        assert "notes.txt can't be the state directory: Not a directory" in printed + told


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
