"""Files to text, in a child process, in bounded time."""

import contextlib
import json
import subprocess
import sys
import threading
from typing import Any, Protocol

from stackroom_local.simulator.errors import Unindexable
from stackroom_local.simulator.parser_process import read_frame, write_frame
from stackroom_local.simulator.rules import FILE_UNREADABLE

_SECONDS = 120.0


class Parser(Protocol):
    def text(self, body: bytes, filename: str) -> str:
        """All pages in one text. Raises Unindexable, as vague as Bedrock is."""
        ...

    def close(self) -> None: ...


class ChildParser:
    """One child, started when needed and again after a file that killed it; one file at a time."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def text(self, body: bytes, filename: str) -> str:
        with self._lock:
            answer = self._asked(body, filename)
        if answer is None or "error" in answer:
            raise Unindexable(FILE_UNREADABLE.message)
        return "\n".join(answer["pages"])

    def close(self) -> None:
        with self._lock:
            self._end()

    def _asked(self, body: bytes, filename: str) -> Any | None:
        process = self._running()
        assert process.stdin is not None, "started with pipes"
        assert process.stdout is not None, "started with pipes"
        deadline = threading.Timer(self._seconds, process.kill)
        deadline.start()
        try:
            # mypy has Popen's streams as IO[bytes]; BinaryIO is the same with a name.
            write_frame(process.stdin, json.dumps({"filename": filename}).encode())  # type: ignore[arg-type]
            write_frame(process.stdin, body)  # type: ignore[arg-type]
            answer = read_frame(process.stdout)  # type: ignore[arg-type]
        except BrokenPipeError:
            answer = None
        finally:
            deadline.cancel()
        if answer is None:
            self._end()
            return None
        return json.loads(answer)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            command = [sys.executable, "-m", "stackroom_local.simulator.parser_process"]
            # Our own module in our own interpreter; nothing of a request is in the command.
            self._process = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                _close_quietly(pipe)
        process.wait()


def _close_quietly(pipe: Any) -> None:
    with contextlib.suppress(BrokenPipeError):  # what was buffered for a child that is gone
        pipe.close()
