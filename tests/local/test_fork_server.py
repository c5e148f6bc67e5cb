"""Functions' processes are forked from one that has imported what they share, and end like any."""

import json
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from stackroom_local.function_processes import launcher

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[2]
SECONDS = 60.0
LAUNCH = (
    sys.executable,
    "-I",
    "-S",
    launcher.__file__,
    "-m",
    "stackroom_local.function_processes.runtime_client",
)
HANDLER = "tests.local.forked.handler"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Forking"]:
    with_long_path = tmp_path_factory.mktemp("a" * 100)  # longer than a socket's may be
    forking_process = Forking(with_long_path)
    yield forking_process
    forking_process.end()


class Forking:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._silent = socket.create_server(("127.0.0.1", 0))  # has no work for anybody
        self._api = f"127.0.0.1:{self._silent.getsockname()[1]}"
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "stackroom_local.function_processes.fork_server",
                str(os.getpid()),
            ],
            cwd=ROOT,
            env={**os.environ, "HOME": "/", "TMPDIR": str(directory)},
        )
        wait_until(self._listens)

    def launch(self, **environment: str) -> "subprocess.Popen[str]":
        """
        Start a process as ministack does, in its own directory and with a pipe for the output.
        """
        return subprocess.Popen(
            [*LAUNCH, HANDLER],
            cwd=self.directory,
            env={**self.environment(), **environment},
            stdout=subprocess.PIPE,
            text=True,
        )

    def environment(self) -> dict[str, str]:
        return {
            "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}",
            "TMPDIR": str(self.directory),
            "AWS_LAMBDA_RUNTIME_API": self._api,
        }

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self._silent.close()

    def _listens(self) -> bool:
        there = os.getcwd()
        os.chdir(self.directory)
        try:
            with suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
                probe.connect(launcher.SOCKET)
                return True
        finally:
            os.chdir(there)
        return False


def test_forked_process_has_its_launchers_environment_directory_and_output(
    shared: Forking,
) -> None:
    launcher = shared.launch(END_WITH="3", COLOUR="grün")

    told = told_by(launcher)

    assert told["parent"] == shared.process.pid
    assert told["directory"] == str(shared.directory)
    assert told["environment"]["COLOUR"] == "grün"
    assert "HOME" not in told["environment"], "nothing of the process that it was forked from"
    assert launcher.wait(SECONDS) == 3, "the launcher ends with its exit code"


def test_a_forked_process_ends_with_its_launcher(shared: Forking) -> None:
    launcher = shared.launch()
    forked = told_by(launcher)["pid"]

    launcher.kill()
    launcher.wait()

    wait_until(lambda: not is_alive(forked))


def test_launcher_runs_the_function_itself_without_a_process_to_fork(
    tmp_path: Path,
) -> None:
    killed = Forking(tmp_path)
    running = killed.launch()
    forked = told_by(running)["pid"]

    killed.process.kill()
    killed.process.wait()
    launcher = killed.launch(END_WITH="3")

    assert told_by(launcher)["pid"] == launcher.pid
    assert launcher.wait(SECONDS) == 3
    assert is_alive(forked), "what was forked before goes on"
    running.kill()
    running.wait()
    wait_until(lambda: not is_alive(forked))
    killed.end()


def test_only_its_user_may_have_processes_forked(shared: Forking) -> None:
    mode = (shared.directory / launcher.SOCKET).stat().st_mode

    assert stat.S_IMODE(mode) == 0o600


def test_a_killed_process_to_fork_from_is_replaced(tmp_path: Path) -> None:
    up = tmp_path / "up"
    up.touch()
    code = (
        "import pathlib; from stackroom_local.ministack.__main__ import fork_functions;"
        f"fork_functions(pathlib.Path({str(up)!r})); input()"
    )
    ministack = psutil.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
    )
    wait_until(lambda: bool(ministack.children()))
    [first] = ministack.children()

    first.kill()

    wait_until(lambda: any(each.pid != first.pid for each in ministack.children()))
    ministack.stdin.close()
    ministack.wait()


def told_by(launcher: "subprocess.Popen[str]") -> dict[str, Any]:
    assert launcher.stdout is not None
    with launcher.stdout as output:
        told: dict[str, Any] = json.loads(output.readline())
    return told


def is_alive(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def wait_until(came: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not came():
        assert time.monotonic() < deadline
        time.sleep(0.02)
