"""
Child processes that can't outlive us: ministack, the simulator, the gateway stand-in.

Each child leads a session of its own, so that Ctrl-C reaches only the supervisor, which then stops
them in the right order, and so that a child's own children (Lambda environments) can be ended with
its process group. If the supervisor itself is killed, Linux sends every child SIGTERM
(PR_SET_PDEATHSIG), which ministack answers by saving its state.
"""

import contextlib
import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stackroom_local.local_errors import ChildFailed, LocalModeError, PortTaken

HOST = "127.0.0.1"
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_STOP_SECONDS = 20.0  # ministack writes its state first; 50 documents take well under a second
_TAIL_LINES = 25


@dataclass(frozen=True)
class Child:
    """
    A running child process; `spawn` starts one. Only the thread that spawned it may end before it.
    """

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    def check(self) -> None:
        """Raise `ChildFailed` with the end of its log if it has ended."""
        code = self.process.poll()
        if code is not None:
            raise ChildFailed(self.name, f"ended with code {code}", self.log, tail(self.log))

    def wait_until_healthy(self, url: str, seconds: float) -> None:
        """Wait until `url` answers 200. Raises `ChildFailed` if the child ends or never does."""
        deadline = time.monotonic() + seconds
        while not _answers(url):
            self.check()
            if time.monotonic() > deadline:
                what = f"did not answer at {url} within {seconds:g} s"
                raise ChildFailed(self.name, what, self.log, tail(self.log))
            time.sleep(0.02)

    def ask_to_stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()

    def end(self, seconds: float = _STOP_SECONDS) -> None:
        """Wait for the requested end, and then kill what is left of its process group."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()


def spawn(name: str, command: Sequence[str], *, log: Path, environment: Mapping[str, str]) -> Child:
    """
    Start `command` with its output in `log`, which is emptied first.

    Call it from the main thread: PR_SET_PDEATHSIG fires when the spawning thread ends, not when the
    process does (prctl(2)).
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - our own command lines, no shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            start_new_session=True,
            preexec_fn=_die_with_parent(),  # noqa: PLW1509 - there are no threads yet
        )
    return Child(name=name, process=process, log=log)


def _die_with_parent() -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)  # loaded before the fork: nothing may allocate after it
    supervisor = os.getpid()

    def ask_kernel() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != supervisor:  # it died between the fork and the line above
            os._exit(1)

    return ask_kernel


def require_free(port: int, needed_by: str, *, patience: float = 0.0) -> None:
    """Raise `PortTaken` if something still listens on the port after `patience` seconds."""
    deadline = time.monotonic() + patience
    while not _is_free(port):
        if time.monotonic() >= deadline:
            raise PortTaken(port, needed_by)
        time.sleep(0.1)


def free_ports(count: int) -> int:
    """
    Return the first of `count` consecutive free ports.

    It is below 32768, where Linux begins to assign ports to outgoing connections.
    """
    for _ in range(200):
        first = random.randrange(20_000, 32_000)  # noqa: S311 - no secret
        if all(_is_free(port) for port in range(first, first + count)):
            return first
    raise LocalModeError(f"there are no {count} free ports in a row")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def tail(log: Path, lines: int = _TAIL_LINES) -> str:
    try:
        text = log.read_text(errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as response:  # noqa: S310 - our own http URL
            return bool(response.status == 200)
    except OSError:
        return False
