"""How the preflight asks AWS, many things at once, and what it tells of what it found."""

import re
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from botocore.exceptions import ClientError

T = TypeVar("T")
Client = Callable[[str], Any]  # of boto3, by service

LACKED = "these credentials lack "
_THREADS = 16
_GONE = re.compile(r"404|.*(NotFound|NoSuch|NonExistent|DoesNotExist).*")
_DENIED = re.compile(r"403|.*(AccessDenied|NotAuthorized|AuthorizationError|Unauthorized).*")
_RIGHT = re.compile(r"to perform:? ([a-z0-9-]+:\w+)")


@dataclass(frozen=True)
class Result:
    mark: str  # "ok", "warn" or "bad"
    text: str
    lines: tuple[str, ...] = ()  # to type

    @property
    def is_bad(self) -> bool:
        return self.mark == "bad"


Check = Callable[[], Result]


def good(text: str) -> Result:
    return Result("ok", text)


def warning(text: str, *lines: str) -> Result:
    return Result("warn", text, lines)


def bad(text: str, *lines: str) -> Result:
    return Result("bad", text, lines)


def side_by_side(actions: Sequence[Callable[[], T]]) -> list[T]:
    """What each answers, in their order. Raises what the first of them raised."""
    with ThreadPoolExecutor(_THREADS) as threads:
        return [each.result() for each in [threads.submit(action) for action in actions]]


def is_gone(error: ClientError) -> bool:
    """Whether it says that there is no such thing."""
    told = error.response["Error"]
    # CloudFormation has one code for all that it doesn't like.
    missing = told["Code"] == "ValidationError" and "does not exist" in told["Message"]
    return missing or _GONE.fullmatch(told["Code"]) is not None


def why_not(error: ClientError) -> str:
    """Why nothing was told: for lack of a right, as AWS names it, or for what it refused."""
    told = error.response["Error"]
    if _DENIED.fullmatch(told["Code"]) is None:
        return f"{error.operation_name} is refused: {told['Code']} {told['Message']}".rstrip()
    named = _RIGHT.search(told["Message"])
    return f"{LACKED}{named[1] if named else error.operation_name}"


def together(reasons: Collection[str]) -> str:
    """Each once, and all rights that are lacked in one."""
    rights = {each.removeprefix(LACKED) for each in reasons if each.startswith(LACKED)}
    others = sorted({each for each in reasons if not each.startswith(LACKED)})
    return "; ".join([*others, *([LACKED + ", ".join(sorted(rights))] if rights else [])])
