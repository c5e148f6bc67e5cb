"""Every verb fails when what it was asked failed, and says why on standard error."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stackroom_local.cli import app
from stackroom_local.clients import client
from stackroom_local.state import Instance
from tests.e2e.people import Person

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
        ("status", "-u", "nobody"),
        ("status", "-u", "!none"),
        ("status", "--pool"),
        ("ask", "why?", "-u", "vera"),
        ("receipts",),
        ("token", "-u", "vera"),
        ("env",),
    ],
    ids=" ".join,
)
def test_a_verb_that_did_what_it_was_asked_exits_with_0(run: Run, command: tuple[str, ...]) -> None:
    code, _, told = run(*command)

    assert (code, told) == (0, "")


def test_an_unknown_option_exits_with_2(run: Run) -> None:
    assert run("status", "--nonsense")[0] == 2


def test_a_tools_error_is_printed_as_json_too(run: Run) -> None:
    code, printed, _ = run("retrieve", " ", "-u", "vera")

    assert code == 1
    assert '"success": false' in printed


def test_what_a_dead_letter_queue_holds_is_told_with_the_commands_that_mend_it(
    run: Run, instance: Instance
) -> None:
    sqs = client("sqs", instance.aws_endpoint)
    [queue] = [each for each in sqs.list_queues()["QueueUrls"] if each.endswith("-uploads-dead")]
    sqs.send_message(QueueUrl=queue, MessageBody="{}")

    code, printed, _ = run("doctor")
    sqs.purge_queue(QueueUrl=queue)
    after, _, _ = run("doctor")

    [bad] = [line for line in printed.splitlines() if line.startswith("bad")]
    assert (code, after) == (1, 0)
    assert "-uploads-dead holds 1 event that was given up" in bad
    assert f"stackroom reconcile --state-dir {instance.state_dir}" in bad
    assert f"purge-queue --endpoint-url {instance.aws_endpoint} --queue-url {queue}" in bad


def test_an_orphan_that_is_left_to_a_person_makes_the_reconciler_exit_with_1(
    run: Run, instance: Instance
) -> None:
    bedrock = client("bedrock-agent", instance.simulator_endpoint)
    [base] = bedrock.list_knowledge_bases()["knowledgeBaseSummaries"]
    made = bedrock.create_data_source(
        knowledgeBaseId=base["knowledgeBaseId"],
        name="ds-0123456789abcdef01234567",
        dataSourceConfiguration={
            "type": "S3",
            "s3Configuration": {"bucketArn": f"arn:aws:s3:::{instance.bucket}"},
        },
    )["dataSource"]

    code, printed, told = run("reconcile")
    bedrock.delete_data_source(
        knowledgeBaseId=base["knowledgeBaseId"], dataSourceId=made["dataSourceId"]
    )

    assert code == 1
    assert "left alone" in printed
    command = "aws bedrock-agent delete-data-source --knowledge-base-id"
    there = f"{base['knowledgeBaseId']} --data-source-id {made['dataSourceId']}"
    assert f"{command} {there}" in " ".join(printed.split())
    assert f"env --operator --state-dir {instance.state_dir}" in printed
    assert "could not be mended; see above" in told


def test_a_state_directory_that_is_a_file_is_told_by_every_verb(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a directory")

    for verb in ("status", "env", "down", "doctor"):
        code, printed, told = run(verb, "--state-dir", str(tmp_path / "notes.txt"))

        assert code == 1
        assert "notes.txt can't be the state directory: Not a directory" in printed + told
