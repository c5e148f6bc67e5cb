"""The parser's child process, seen from its parent."""

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

from bedrock_kb_simulator.parser_process import read_frame, write_frame


class ParserChild:
    """A child process that parses files; `seconds` limit a file, or with `sees` each page."""

    def __init__(self, seconds: float, *, sees: bool = False) -> None:
        self._seconds = seconds
        self._sees = sees
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_closed = False

    def read(self, body: bytes, filename: str | None) -> list[Any] | None:
        """
        Return the texts of the pages, or without a name the result of `ocr.detect_lines`.

        None means that the file is unreadable, or takes too much time or memory.
        """
        with self._lock:
            return None if self._is_closed else self._request(body, filename)

    def close(self) -> None:
        """End the child, even while it works; waiting and later callers get None."""
        self._is_closed = True
        process = self._process
        if process is not None:
            process.kill()
        with self._lock:
            self._end()

    def _request(self, body: bytes, filename: str | None) -> list[Any] | None:
        process = self._running()
        try:
            with self._deadline(process):
                # mypy has Popen's streams as IO[bytes]; BinaryIO is the same with a name.
                write_frame(process.stdin, json.dumps({"filename": filename}).encode())  # type: ignore[arg-type]
                write_frame(process.stdin, body)  # type: ignore[arg-type]
            return self._pages(process)
        except BrokenPipeError:
            self._end()
            return None

    def _pages(self, process: subprocess.Popen[bytes]) -> list[Any] | None:
        pages: list[Any] = []
        while True:
            with self._deadline(process):
                frame = read_frame(process.stdout)  # type: ignore[arg-type]
            if frame is None:
                self._end()
                return None
            answer = json.loads(frame)
            if "error" in answer:
                return None
            if "pages" in answer:
                return [*pages, *answer["pages"]]
            pages.append(answer["page"])

    @contextlib.contextmanager
    def _deadline(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        timer = threading.Timer(self._seconds, process.kill)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            command = [sys.executable, "-m", "bedrock_kb_simulator.parser_process"]
            # Our own module in our own interpreter, with nothing from a request in the command.
            self._process = subprocess.Popen(  # noqa: S603
                command + ["--sees"] * self._sees, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):  # buffered for a child that is gone
                    pipe.close()
        process.wait()
