"""boto3 clients for agents that call tools in parallel."""

import threading
from typing import Any

from stackroom.aws import session

_lock = threading.Lock()


def client_of(service: str) -> Any:
    """Return a client of `stackroom.aws.session.client`, from any thread."""
    # An agent calls tools side by side, and to make clients of one session is not thread-safe:
    # https://boto3.amazonaws.com/v1/documentation/api/latest/guide/session.html
    with _lock:
        return session.client(service)
