"""
The program that ministack starts for a function: it has the real process forked, and ends with it.

`python -I -S launcher.py ARGUMENTS`, for `python ARGUMENTS`. A Python process with our libraries
takes 50 MB and half a second of a core; one forked from a process that has them (`fork_server.py`)
takes half the memory and a tenth of the time. If nothing forks, this process runs the function.

It takes 4 MB while it waits, because it imports next to nothing, and no module of ours.
"""

import contextlib
import marshal
import os
import signal
import socket
import sys

SOCKET = "functions.socket"  # in TMPDIR, which is the state directory's
BEGUN = b"+"  # from the forked process, which has what it needs; its exit code is to follow
_POLL_SECONDS = 0.5


def launch() -> None:
    """Have the process forked and end as it does. Returns only if nothing forks."""
    parent = os.getppid()
    with socket.socket(socket.AF_UNIX) as forked, contextlib.suppress(OSError):
        _connect(forked)
        _hand_over(forked)
        if _next_byte(forked, parent) == BEGUN:
            _end_like(_next_byte(forked, parent))


def _connect(forked: socket.socket) -> None:
    """Connect by the socket's bare name, because its path must be shorter than 108 characters."""
    directory = os.getcwd()
    os.chdir(os.environ["TMPDIR"])
    try:
        forked.connect(SOCKET)
    finally:
        os.chdir(directory)


def _hand_over(forked: socket.socket) -> None:
    """Send standard input, output and error, and everything else that makes a process this one."""
    content = marshal.dumps((sys.argv[1:], dict(os.environ), os.getcwd()))
    socket.send_fds(forked, [len(content).to_bytes(8, "big")], [0, 1, 2])
    forked.sendall(content)


def _next_byte(forked: socket.socket, parent: int) -> bytes:
    """Return the next byte, or none when the other side has ended. Ends with the parent."""
    forked.settimeout(_POLL_SECONDS)
    while os.getppid() == parent:
        try:
            return forked.recv(1)
        except TimeoutError:
            continue
        except ConnectionResetError:  # it ended before it had read everything
            return b""
    os._exit(0)


def _end_like(code: bytes) -> None:
    if not code:
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(code[0])


if __name__ == "__main__":
    launch()
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])  # noqa: S606 - our own, no shell
