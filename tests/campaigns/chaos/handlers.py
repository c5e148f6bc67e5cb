"""
The functions as deployed: their own handlers, in simulated time, without logs and metrics.

Powertools keeps one invocation's state in a process, which here has several at a time. Threads
become loops: whoever dies in the middle leaves some of the work done and some undone either way.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from types import ModuleType, SimpleNamespace
from typing import Any

import moto.s3.models
import pytest

import functions.event_publisher.handler as event_publisher
import functions.ingest.handler as ingest
import functions.inspect.handler as reader
import functions.reconciler.handler as reconciler
import functions.status_poller.handler as status_poller
import functions.upload_handler.handler as upload_handler
import stackroom.aws.dynamodb.catalog_records
import stackroom.aws.s3.document_bucket
import stackroom.clock
import stackroom.concurrency
import stackroom.reconciler.bedrock_requests
from simulated_time.functions import Invocation, Pace
from stackroom.aws import session
from stackroom.text.extraction import Page, read_pages
from tests.campaigns.chaos.wire import Wire

HANDLERS: dict[str, ModuleType] = {
    "upload_handler": upload_handler,
    "inspect": reader,
    "ingest": ingest,
    "status_poller": status_poller,
    "reconciler": reconciler,
    "event_publisher": event_publisher,
}
_MODULES = tuple(HANDLERS.values())
Event = dict[str, Any]


@dataclass(frozen=True)
class _Context:
    pace: Pace

    def get_remaining_time_in_millis(self) -> int:
        invocation = self.pace.hub.current().context
        assert isinstance(invocation, Invocation), "asked inside a function only"
        return int((invocation.deadline - self.pace.hub.time) * 1000)


class _InTurn:
    """A stand-in for `ThreadPoolExecutor` that runs tasks one after another."""

    def __init__(self, _workers: int) -> None:
        pass

    def __enter__(self) -> "_InTurn":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        return iter([work(each) for each in items])

    def submit(self, work: Callable[..., Any], *given: Any) -> "Future[Any]":
        done: Future[Any] = Future()
        done.set_result(work(*given))
        return done


def _read_pages(body: bytes, filename: str, *, seconds: float, scans: bool) -> tuple[Page, ...]:
    """In this process, for a child of it would die with nobody."""
    return read_pages(body, filename, scans=scans)


class _Silence:
    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *_, **__: None


@contextmanager
def simulated(
    wire: Wire, *, now: Callable[[], datetime], pace: Pace, environment: dict[str, str]
) -> Iterator[None]:
    """Within, the handlers' time is the hub's and their clients are the wire's."""

    def read(zone: tzinfo | None = None) -> datetime:
        return now().astimezone(zone or UTC)

    written = datetime.min.replace(tzinfo=UTC)

    def write() -> datetime:
        """Return a later time for each version: of two of one time, moto lists the older first."""
        nonlocal written
        written = max(now(), written + timedelta(milliseconds=1))
        return written.replace(tzinfo=None)

    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.setattr(stackroom.clock, "datetime", SimpleNamespace(now=read))
        patch.setattr(moto.s3.models, "utcnow", write)
        patch.setattr(
            session, "_session", lambda: SimpleNamespace(client=lambda name, **_: wire.client(name))
        )
        asleep = SimpleNamespace(sleep=pace.spend)
        patch.setattr(stackroom.concurrency, "time", asleep)
        awake = SimpleNamespace(sleep=pace.spend, monotonic=lambda: now().timestamp())
        patch.setattr(stackroom.reconciler.bedrock_requests, "time", awake)
        patch.setattr("botocore.endpoint.time", asleep)  # between attempts
        patch.setattr(reader, "read_pages_apart", _read_pages)
        for module in (
            stackroom.aws.s3.document_bucket,
            stackroom.aws.dynamodb.catalog_records,
            stackroom.concurrency,
        ):
            patch.setattr(module, "ThreadPoolExecutor", _InTurn)
        levels = {name: module.logger.log_level for name, module in HANDLERS.items()}
        for module in _MODULES:
            _quieten(module, patch)
        _forget()
        try:
            yield
        finally:
            for name, level in levels.items():
                HANDLERS[name].logger.setLevel(level)
    _forget()


def handle(name: str, event: Event, pace: Pace) -> Any:
    return inspect.unwrap(HANDLERS[name].handler)(event, _Context(pace))


def _quieten(module: ModuleType, patch: pytest.MonkeyPatch) -> None:
    module.logger.setLevel("CRITICAL")
    patch.setattr(module, "metrics", _Silence())
    for name in ("report", "count"):
        if hasattr(module, name):
            patch.setattr(module, name, lambda *_, **__: None)
    if hasattr(module, "single_metric"):
        patch.setattr(module, "single_metric", lambda **_: nullcontext(_Silence()))


def _forget() -> None:
    """Clear what handlers keep between invocations, as in a new environment."""
    session.client.cache_clear()
    for module in _MODULES:
        for kept in vars(module).values():
            if hasattr(kept, "cache_clear"):
                kept.cache_clear()
