"""A server that a test has started goes with it, even where the test run is killed with -9."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# It sees by the end of its input that whoever started it is no more. A server may stand still
# (SIGSTOP) at that moment, and PostgreSQL gives memory back only if it is asked to stop.
_WATCH = """
import shutil, signal, sys, psutil
server, folder = psutil.Process(int(sys.argv[1])), sys.argv[2]
sys.stdin.buffer.read()
family = [server, *server.children(recursive=True)]
for each in family:
    each.send_signal(signal.SIGCONT)
server.send_signal(signal.SIGINT)
_, alive = psutil.wait_procs(family, timeout=10)
for each in alive:
    each.kill()
shutil.rmtree(folder, ignore_errors=True)
"""


@contextmanager
def never_left_behind(pid: int, folder: str | Path) -> Iterator[None]:
    """If this process ends within, the one of that id is stopped, and its `folder` removed."""
    command = [sys.executable, "-c", _WATCH, str(pid), str(folder)]
    # In a session of its own: who kills a whole group is not to kill this as well.
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as watch:
        try:
            yield
        finally:
            watch.kill()
