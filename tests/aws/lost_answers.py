"""Answers that get lost on the way: a call has its effect, and boto3 asks again."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ConnectionClosedError

from tests.aws.conftest import TWICE

_WRITES = ("PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems")


@contextmanager
def forgetful_client(
    patch: pytest.MonkeyPatch, **credentials: Any
) -> Iterator[tuple[Any, list[str]]]:
    """A client of DynamoDB that hears of each write the second time only, and what it missed."""
    client = boto3.client("dynamodb", config=TWICE, **credentials)
    lost: list[str] = []
    unheard = local()  # a client makes a call in one thread, and others beside it in others

    def begin(model: Any, **_: Any) -> None:
        unheard.name = model.name if model.name in _WRITES else None

    def lose(**_: Any) -> None:
        if name := unheard.name:
            unheard.name = None
            lost.append(name)
            raise ConnectionClosedError(endpoint_url="https://dynamodb")

    client.meta.events.register("before-call", begin)
    # Last, when the write has been done.
    client.meta.events.register_last("before-send", lose)
    # botocore waits before it asks again.
    patch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda _seconds: None))
    yield client, lost
