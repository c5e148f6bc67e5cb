"""A server that takes connections and never answers: whoever looks is told so, soon."""

import json
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackroom_cli import health_checks, output, program
from stackroom_cli.commands import document_commands
from stackroom_cli.health_checks import SomeBad
from stackroom_cli.operator_documents import tell_reasons
from stackroom_cli.sites.file_drop import DroppableFile, NotDropped, drop
from stackroom_local.state import Instance, StateDirectory
from tests.local.running import an_instance

pytestmark = pytest.mark.processes


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[Instance]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        endpoints = {"aws_endpoint": url, "simulator_endpoint": url}
        yield an_instance(tmp_path / "state").model_copy(update=endpoints)


def test_unreachable_server_is_reported_once_for_all_files(
    hanging: Instance, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [DroppableFile(tmp_path / f"{number}.txt", f"{number}.txt") for number in range(100)]
    for each in files:
        each.path.write_text("A page.")
    told = output.create_output(as_json=False).people

    refused = list(drop(hanging.within(0.1), files, prefix="ada/home/", on_put=lambda _: None))
    reasons = [(each.key, each.reason) for each in refused if isinstance(each, NotDropped)]
    tell_reasons(told, "not dropped", reasons, style="red")

    said = capsys.readouterr().out
    assert said.count("no answer from http://127.0.0.1:") == 1
    assert "not dropped: 100 files" in said
    assert "and 90 more" in said


def test_doctor_names_each_server_that_hangs_and_comes_to_an_end(
    hanging: Instance, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(health_checks, "LOOK_SECONDS", 0.1)
    state = StateDirectory(hanging.state_dir)
    with state.held():
        state.record(hanging.model_copy(update={"pid": state.holder()}))

        with pytest.raises(SomeBad):
            health_checks.doctor(state.path, output=output.create_output(as_json=True))

    said = capsys.readouterr().out
    bad = [each["text"] for each in json.loads(said)["checks"] if not each["good"]]
    assert [each for each in bad if each.startswith("bucket docs does not answer")]
    assert [each for each in bad if each.startswith("Bedrock's stand-in at http")]


def test_status_says_that_a_server_hangs(
    hanging: Instance, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(document_commands, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(sys, "argv", ["stackroom", "status", "--state-dir", str(hanging.state_dir)])
    state = StateDirectory(hanging.state_dir)
    url, started = hanging.aws_endpoint, time.monotonic()
    with state.held():
        state.record(hanging.model_copy(update={"pid": state.holder()}))

        with pytest.raises(SystemExit) as ended:
            program.run()

    [told] = capsys.readouterr().err.splitlines()
    assert ended.value.code == 1
    assert told.startswith(f'stackroom: no answer (Read timeout on endpoint URL: "{url}')
    assert told.endswith("stackroom doctor to find the server that hangs")
    assert time.monotonic() - started < 60  # without it, minutes
