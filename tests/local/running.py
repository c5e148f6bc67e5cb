"""A local mode as a user starts it: `stackroom up` in a process of its own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from stackroom_cli.sites.site import AwsSite
from stackroom_local.local_errors import NotUp
from stackroom_local.processes import Child, free_ports, spawn
from stackroom_local.state import Instance, StateDirectory

STACKROOM = Path(sys.executable).with_name("stackroom")
_START_SECONDS = 300  # a first start synthesises and compiles, beside other tests
# A deployment where nothing answers.
ON_AWS = AwsSite(
    name="prod",
    project="docs",
    region="eu-west-1",
    bucket="docs-kb-docs-123456789012-eu-west-1",
    catalog_table="docs-kb-catalog",
    control_table="docs-kb-control",
    mcp_url="https://gateway.example/mcp",
    issuer="https://issuer.example",
    client_id="client",
)


def an_instance(state_dir: Path, *, speed: float = 1) -> Instance:
    """One that nobody started; nothing answers where its endpoints are."""
    directory(state_dir)
    return Instance(
        pid=1,
        children={},
        speed=speed,
        aws_endpoint="http://127.0.0.1:9",
        simulator_endpoint="http://127.0.0.1:8",
        mcp_url="http://127.0.0.1:9/mcp",
        console_url="http://127.0.0.1:4569",
        bucket="docs",
        catalog_table="docs-kb-catalog",
        control_table="docs-kb-control",
        state_dir=state_dir,
    )


def directory(path: Path) -> StateDirectory:
    """Return a new state directory with its root's key."""
    made = StateDirectory(path)
    with made.held():
        return made


def start(state_dir: Path, *options: str) -> Child:
    command = [str(STACKROOM), "up", "--state-dir", str(state_dir), "--speed", "20", *options]
    return spawn("up", command, log=state_dir.with_suffix(".log"), environment={})


def instance_of(up: Child, state_dir: Path) -> Instance:
    """Once it serves; raises `ChildFailed` with what it printed if it ends instead."""
    state = StateDirectory(state_dir)
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        up.check()
        with suppress(NotUp):
            return state.instance()
        time.sleep(0.05)
    raise AssertionError(f"not up within {_START_SECONDS} s: {up.log.read_text()}")


# Options with which a search shows whatever is nearest, so that it proves what is there.
ANY_SCORE = ("--least-score", "0")


@contextmanager
def local_mode(state_dir: Path, *options: str) -> Iterator[Instance]:
    up = start(state_dir, "--port", str(free_ports(4)), *options)
    try:
        yield instance_of(up, state_dir)
    finally:
        up.ask_to_stop()
        up.end(120)


def stackroom(*arguments: str, state_dir: Path) -> subprocess.CompletedProcess[str]:
    """The CLI's answer: what it printed, and its exit code."""
    return subprocess.run(
        [STACKROOM, *arguments],
        env={**os.environ, "STACKROOM_STATE_DIR": str(state_dir)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@dataclass(frozen=True)
class CommandResult:
    returncode: int
    stdout: str
    stderr: str


def within(
    patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> CommandResult:
    """The console script within this process, which costs no second of imports for each verb."""
    from stackroom_cli import app  # noqa: PLC0415 - most who start a local mode need none

    patch.setattr(sys, "argv", ["stackroom", *arguments])
    with pytest.raises(SystemExit) as ended:
        app()
    return CommandResult(int(ended.value.code or 0), *capsys.readouterr())


def processes_of(state_dir: Path) -> list[str]:
    """Command lines and environments that name the directory: servers, and their functions."""
    found = []
    for process in psutil.process_iter():
        try:
            told = " ".join([*process.cmdline(), *process.environ().values()])
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
            continue
        if str(state_dir) in told and process.pid != os.getpid():
            found.append(told[:200])
    return found


def none_left(state_dir: Path, *, within: float) -> bool:
    deadline = time.monotonic() + within
    while processes_of(state_dir):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def kill_hard(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
