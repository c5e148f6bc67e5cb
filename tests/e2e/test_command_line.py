"""A second shell while `make up` serves in the first: what verbs do, and how they fail."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path

import pytest

from stackroom_local.state import Instance
from tests.e2e.people import Person
from tests.local.running import within

ROOT = Path(__file__).parents[2]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def vera(instance: Instance) -> Person:
    """A user whose one file failed at once because of its type."""
    person = Person(instance, "vera")
    person.settle([person.put("papers/a.exe", "x")])
    return person


@pytest.fixture
def run(vera: Person, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The console script within this process: exit code, standard output and error."""
    monkeypatch.setenv("STACKROOM_STATE_DIR", str(vera.instance.state_dir))

    return lambda *arguments: astuple(within(monkeypatch, capsys, *arguments))


FAILURES = {
    "ask with an empty question": (["ask", "", "-u", "vera"], "query: is empty"),
    "ask of a catalog that is not there": (
        ["ask", "why?", "-u", "vera", "-c", "nothere"],
        "'vera' has no catalog 'nothere'; there are: 'papers'",
    ),
    "delete of nothing": (["delete"], "name documents by their keys"),
    "retry of nothing": (["retry", "-u", "nobody"], "nothing was retried"),
    "reread of nothing": (["reread", "-u", "vera"], "every text is up to date"),
}


@pytest.mark.parametrize(("command", "problem"), FAILURES.values(), ids=FAILURES)
def test_failed_command_exits_with_1_and_the_reason(
    run: Run, command: list[str], problem: str
) -> None:
    code, _, told = run(*command)

    assert (code, told.startswith("stackroom: ")) == (1, True)
    assert problem in told.splitlines()[-1]


def test_doctor_reports_dead_letter_queue_with_commands_that_empty_it(
    run: Run, instance: Instance
) -> None:
    sqs = instance.client("sqs")
    [queue] = [each for each in sqs.list_queues()["QueueUrls"] if each.endswith("-uploads-dead")]
    sqs.send_message(QueueUrl=queue, MessageBody="{}")

    code, printed, _ = run("doctor")
    [bad] = [line for line in printed.splitlines() if line.startswith("bad")]
    emptied = in_a_new_shell(bad.partition("then empty the queue: ")[2])
    after, _, _ = run("doctor")

    assert (code, emptied.returncode, after) == (1, 0, 0), emptied.stderr
    assert f"{queue.rpartition('/')[2]} has 1 event that failed several times" in bad
    assert f"stackroom reconcile --state-dir {instance.state_dir}" in bad


def in_a_new_shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run the command without this process's variables for keys and endpoints."""
    return subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
