"""Clients of boto3, for agents that call tools side by side."""

import threading
from typing import Any

from stackroom.aws import session

_lock = threading.Lock()


def client_of(service: str) -> Any:
    """`stackroom.aws.session.client`, for threads that ask for one at the same time."""
    # An agent calls tools side by side, and to make clients of one session is not thread-safe:
    # https://boto3.amazonaws.com/v1/documentation/api/latest/guide/session.html
    with _lock:
        return session.client(service)
