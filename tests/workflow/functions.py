"""The project's own Lambda handlers, run in this process, with a test's hand on the wire."""

import json
import threading
import traceback
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import functions.ingest.handler as ingest
import functions.inspect.handler as inspect
import functions.status_poller.handler as status_poller
import functions.upload_handler.handler as upload_handler
from stackroom.aws import session
from stackroom.text.extraction import Page, read_pages
from tests.support.lambda_context import Context

Payload = dict[str, Any]

_HANDLERS: dict[str, Callable[[Any, Any], Payload]] = {
    "upload_handler": upload_handler.handler,
    "ingest": ingest.handler,
    "status_poller": status_poller.handler,
    "inspect": inspect.handler,
}
_READING = 660_000  # milliseconds that a file's reader may take


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A reply of Lambda's: a payload, a payload with an exception, or a refusal."""

    payload: object = None
    function_error: bool = False
    refusal: str | None = None  # the error code of Invoke itself


@dataclass(frozen=True, kw_only=True)
class Interruption:
    error: str
    late: bool  # the work was done, only its answer got lost


@dataclass
class Functions:
    """
    Functions by name; tasks are told apart by their `action`.

    `calls` are the events in order. One task runs at a time, as a test reads them.
    """

    calls: list[Payload] = field(default_factory=list)
    interruptions: dict[str, deque[Interruption]] = field(
        default_factory=lambda: defaultdict(deque)
    )
    answers: dict[str, deque[str]] = field(default_factory=lambda: defaultdict(deque))
    before: dict[str, deque[Callable[[], None]]] = field(default_factory=lambda: defaultdict(deque))
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def interrupt(self, action: str, error: str, *, times: int = 1, late: bool = False) -> None:
        self.interruptions[action].extend([Interruption(error=error, late=late)] * times)

    def actions(self) -> list[str]:
        return [str(call["action"]) for call in self.calls if "action" in call]

    def calls_of(self, action: str) -> list[Payload]:
        return [call for call in self.calls if call.get("action") == action]

    def invoke(self, name: str, event: Payload) -> Reply:
        with self._lock:
            self.calls.append(event)
            action = str(event.get("action", name))
            if self.before[action]:
                self.before[action].popleft()()
            interruptions = self.interruptions[action]
            interruption = interruptions.popleft() if interruptions else None
            if interruption and not interruption.late:
                return _failed(interruption.error)
            reply = self._run(name, event)
            if interruption:
                return _failed(interruption.error)
            return self._bent(action, reply)

    def _run(self, name: str, event: Payload) -> Reply:
        try:
            context = Context(milliseconds_left=_READING) if name == "inspect" else Context()
            answer = _HANDLERS[name](event, context)
        except Exception as error:
            return _told(type(error).__name__, str(error), traceback.format_exc())
        return Reply(payload=json.loads(json.dumps(answer)))

    def _bent(self, action: str, reply: Reply) -> Reply:
        if not self.answers[action] or not isinstance(reply.payload, dict):
            return reply
        progress = {**reply.payload["progress"], "outcome": self.answers[action].popleft()}
        return Reply(payload={**reply.payload, "progress": progress})


def forget() -> None:
    """Clear what the handlers keep between invocations, as in a new sandbox."""
    for module in (upload_handler, inspect, ingest, status_poller):
        for kept in vars(module).values():
            if hasattr(kept, "cache_clear") and kept.__module__ == module.__name__:
                kept.cache_clear()


def read_files_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process: a child for each file takes a while, and functions/test_inspect has them."""
    monkeypatch.setattr(inspect, "read_pages_apart", _read_pages)


def _read_pages(
    body: bytes, filename: str, *, seconds: float, scans: bool
) -> tuple[Page, ...] | None:
    return tuple(read_pages(body, filename, scans=scans))


def forget_clients() -> None:
    session.client.cache_clear()
    session._session.cache_clear()


def _failed(error: str) -> Reply:
    if error.startswith("Lambda."):
        return Reply(refusal=error.removeprefix("Lambda."))
    return _told(error, "as the test will have it")


def _told(error: str, message: str, trace: str = "") -> Reply:
    payload = {"errorType": error, "errorMessage": message, "stackTrace": trace.splitlines()}
    return Reply(payload=payload, function_error=True)
