"""The parser's child process, seen from its parent."""

import json
import subprocess
import sys
import threading
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any


class ParserChild:
    """A child process that parses files; `seconds` limit a file, or with `sees` each page."""

    def __init__(self, seconds: float, *, sees: bool = False) -> None:
        self._seconds = seconds
        self._sees = sees
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection
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
        connection = self._connected()
        try:
            connection.send_bytes(json.dumps({"filename": filename}).encode())
            connection.send_bytes(body)
            return self._pages(connection)
        except (EOFError, OSError):  # it crashed, or was killed
            self._end()
            return None

    def _pages(self, connection: Connection) -> list[Any] | None:
        pages: list[Any] = []
        while connection.poll(self._seconds):
            answer = json.loads(connection.recv_bytes())
            if "error" in answer:
                return None
            if "pages" in answer:
                return [*pages, *answer["pages"]]
            pages.append(answer["page"])
        self._end()
        return None

    def _connected(self) -> Connection:
        """Return the connection to the child, which is started unless it runs."""
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._connection, theirs = Pipe()
            module, descriptor = "bedrock_kb_simulator.parser_process", theirs.fileno()
            command = [sys.executable, "-m", module, str(descriptor), *["--sees"] * self._sees]
            # Our own module in our own interpreter, with nothing from a request in the command.
            self._process = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.DEVNULL, stdout=sys.__stderr__, pass_fds=[descriptor]
            )
            theirs.close()
        return self._connection

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            self._connection.close()
            process.wait()
