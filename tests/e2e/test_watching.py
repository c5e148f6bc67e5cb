"""Watching a running local mode: what changed is read and shown, and nothing else."""

import os
import pty
import re
import select
import signal
import struct
import termios
from collections.abc import Iterator
from contextlib import suppress
from fcntl import ioctl
from threading import Timer
from typing import Any

import pytest
from rich.cells import cell_len

from stackroom.model import Document, DocumentStatus
from stackroom_local.following import Following
from stackroom_local.state import Instance
from tests.e2e.people import PATIENCE, Person, eventually
from tests.local.running import STACKROOM, stackroom

# Files of no known type fail at once and need no ingestion.
FAILED, INDEXED = DocumentStatus.FAILED, DocumentStatus.INDEXED


@pytest.fixture
def wendy(instance: Instance) -> Person:
    return Person(instance, "wendy")


@pytest.fixture
def calls(instance: Instance) -> Iterator[list[str]]:
    """The operations of DynamoDB and its streams that this process asks for, in order."""
    made: list[str] = []

    def note(model: Any, **_: Any) -> None:
        made.append(model.name)

    services = [instance.client(each) for each in ("dynamodb", "dynamodbstreams")]
    for each in services:
        each.meta.events.register("before-call", note)
    yield made
    for each in services:
        each.meta.events.unregister("before-call", note)


def documents(following: Following) -> dict[str, Document]:
    return {each.s3_key: each for listing in following.look() for each in listing.documents}


def test_after_the_first_look_only_what_changed_is_read(wendy: Person, calls: list[str]) -> None:
    following = Following(wendy.instance, wendy.name)
    wendy.settle([wendy.put("papers/first.exe", "x")])
    documents(following)

    calls.clear()
    documents(following)
    idle = set(calls)
    wendy.settle([wendy.put("papers/second.exe", "x")])
    calls.clear()
    seen = documents(following)

    assert idle == {"GetRecords"}
    assert set(calls) <= {"GetRecords", "BatchGetItem"}
    assert seen["wendy/papers/second.exe"].status is FAILED


def test_status_ends_once_what_was_put_a_moment_ago_has_settled(wendy: Person) -> None:
    wendy.put("papers/late.txt", "A page that came late.")

    watched = stackroom(
        "status", "--until-settled", "-u", "wendy", state_dir=wendy.instance.state_dir
    )

    assert (watched.returncode, watched.stderr) == (0, "")
    assert wendy.records()["wendy/papers/late.txt"].status is INDEXED


def test_a_terminal_shows_what_failed_and_the_totals_of_the_window_it_has(wendy: Person) -> None:
    rows, columns = 24, 80
    wendy.settle([wendy.put("papers/failed.exe", "x")])

    shown = in_a_terminal(wendy.instance, "status", "--watch", "-u", "wendy", size=(rows, columns))

    assert len(shown) <= rows
    assert all(cell_len(line) <= columns for line in shown)
    assert any(line.startswith("failed") and "papers/failed.exe" in line for line in shown)


def in_a_terminal(instance: Instance, *command: str, size: tuple[int, int]) -> list[str]:
    """The lines of the first window that ends with totals; Ctrl-C then ends the command."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever runs the tests may ignore it
        os.execv(STACKROOM, [str(STACKROOM), *command, "--state-dir", str(instance.state_dir)])
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    try:
        shown = eventually(lambda: _window(terminal), "a window with totals")
    finally:
        os.kill(pid, signal.SIGINT)
        deaf = Timer(PATIENCE, os.kill, (pid, signal.SIGKILL))
        deaf.start()
        _read_to_the_end(terminal)  # or what it writes last would find no room, and it would wait
        _, status = os.waitpid(pid, 0)
        deaf.cancel()
        os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 130, "as of any command that Ctrl-C ends"
    return shown


def _window(terminal: int) -> list[str]:
    """What is written until the totals are; empty if the terminal is silent before."""
    written = b""
    while not re.search(rb"\d+ documents?: [^\n]*", written):
        if not select.select([terminal], [], [], 1)[0]:
            return []
        written += os.read(terminal, 65_536)
    plain = re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", written.decode())
    return [line.strip("\r") for line in plain.splitlines()]


def _read_to_the_end(terminal: int) -> None:
    """Linux answers EIO once nobody has the other side open."""
    with suppress(OSError):
        while os.read(terminal, 65_536):
            pass
