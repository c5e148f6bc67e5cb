"""Parallel checks of the preflight, their results, and the texts for AWS's errors."""

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from botocore.exceptions import ClientError

T = TypeVar("T")
Client = Callable[[str], Any]  # of boto3, by service

_THREADS = 16
_DENIED = re.compile(r"403|.*(AccessDenied|NotAuthorized|AuthorizationError|Unauthorized).*")
_RIGHT = re.compile(r"to perform:? ([a-z0-9-]+:\w+)")


@dataclass(frozen=True)
class Result:
    mark: str  # "ok", "warn" or "bad"
    text: str
    lines: tuple[str, ...] = ()  # commands to type

    @property
    def is_failure(self) -> bool:
        return self.mark == "bad"


Check = Callable[[], Result]


def passed(text: str) -> Result:
    return Result("ok", text)


def warning(text: str, *lines: str) -> Result:
    return Result("warn", text, lines)


def failed(text: str, *lines: str) -> Result:
    return Result("bad", text, lines)


def run_parallel(actions: Sequence[Callable[[], T]]) -> list[T]:
    """Run the actions in parallel and return their results in order; raise the first error."""
    with ThreadPoolExecutor(_THREADS) as threads:
        return [each.result() for each in [threads.submit(action) for action in actions]]


def reason_of(error: ClientError) -> str:
    """Return the reason for an error: the missing right, as AWS names it, or AWS's message."""
    details = error.response["Error"]
    if _DENIED.fullmatch(details["Code"]) is None:
        return f"{error.operation_name} failed: {details['Code']} {details['Message']}".rstrip()
    right = _RIGHT.search(details["Message"])
    return f"these credentials lack {right[1] if right else error.operation_name}"
