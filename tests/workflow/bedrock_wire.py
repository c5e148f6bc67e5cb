"""
Answering real boto3 clients, below their parameter validation and above their transport.

So what the adapters send and catch is AWS's own.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from tests.workflow.bedrock_records import Answer, Refused


class Scripted:
    """Its methods of operations' names answer; `before` and `after` them comes what a test says."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.refusals: list[str] = []
        self.before: dict[str, deque[Exception | Callable[[], None]]] = defaultdict(deque)
        self.after: dict[str, deque[Exception]] = defaultdict(deque)

    @contextmanager
    def answering(self, *clients: Any) -> Iterator[None]:
        """Answer these clients of bedrock-agent and bedrock-agent-runtime."""
        handlers: dict[str, Any] = {
            "before-parameter-build": self._note,
            "before-call": self._answer,
        }
        places = [
            (client.meta.events, f"{event}.{client.meta.service_model.service_name}", handler)
            for client in clients
            for event, handler in handlers.items()
        ]
        for events, event, handler in places:
            events.register(event, handler)
        yield
        for events, event, handler in places:
            events.unregister(event, handler)

    def _note(self, params: Answer, context: Answer, **_: Any) -> None:
        context["asked"] = params

    def _answer(self, model: Any, context: Answer, **_: Any) -> tuple[Any, Answer]:
        operation = model.name
        self.calls.append(operation)
        try:
            if self.before[operation]:
                what = self.before[operation].popleft()
                if isinstance(what, Exception):
                    raise what
                what()
            answer: Answer = getattr(self, operation)(**context["asked"])
            if self.after[operation]:
                raise self.after[operation].popleft()
        except Refused as error:
            self.refusals.append(operation)
            parsed = {"Error": {"Code": error.code, "Message": error.message}}
            metadata = {"HTTPStatusCode": error.status}
            return SimpleNamespace(status_code=error.status), {
                **parsed,
                "ResponseMetadata": metadata,
            }
        return SimpleNamespace(status_code=200), answer
