"""How a resource of one CloudFormation type is made, changed and deleted through AWS's API."""

import time
from collections.abc import Callable
from typing import Any, Protocol

from stackroom_local.deployment.intrinsics import Attributes
from stackroom_local.problems import NotStabilised

Request = dict[str, Any]  # the members of an API call

_POLL_SECONDS = 0.02
# A MANAGED knowledge base takes two minutes to go, at AWS's own pace.
_DEADLINE_SECONDS = 300.0
_PASSING = ("CREATING", "UPDATING")


class Maker(Protocol):
    """
    One type. A resource is told by its physical id, which is what `Ref` answers.

    Requests have the API's names, and errors are the API's, as boto3 raises them.
    """

    def create(self, request: Request) -> str:
        """The physical id of a new one; AWS refuses a name that is taken."""

    def known(self, request: Request) -> str | None:
        """The physical id of the one that the request would make a second time."""

    def attributes(self, physical_id: str) -> Attributes:
        """What `Ref` and `Fn::GetAtt` answer [CloudFormation reference of each type]."""

    def update(self, physical_id: str, request: Request) -> None:
        """In place; what can't be changed so is replaced, and never asked for here."""

    def delete(self, physical_id: str) -> None:
        """Returns when it is gone."""


def as_request(properties: Any) -> Any:
    """CloudFormation's `VectorBucketName` is the API's `vectorBucketName`, at every depth."""
    if isinstance(properties, list):
        return [as_request(item) for item in properties]
    if not isinstance(properties, dict):
        return properties
    return {
        name[0].lower() + name[1:]: as_request(value)
        for name, value in properties.items()
        if name != "Tags"  # shaped by the type: stackroom_local.deployment.tags
    }


def until_gone(what: str, get: Callable[[], dict[str, Any]], gone: type[Exception]) -> None:
    """
    Returns once `get` raises `gone`; raises `NotStabilised` if the deletion ends otherwise.

    `get` answers with the resource's description: its status, and the reasons of a failure.
    """
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while True:
        try:
            found = get()
        except gone:
            return
        if found["status"] != "DELETING" or time.monotonic() > deadline:
            reasons = found.get("failureReasons", [])
            raise NotStabilised(what, "deleted", found["status"], reasons)
        time.sleep(_POLL_SECONDS)


def until_active(what: str, get: Callable[[], dict[str, Any]], *, active: str = "ACTIVE") -> None:
    """Returns once it can be used, which that status says; raises `NotStabilised` if it can't."""
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while (found := get())["status"] != active:
        if found["status"] not in _PASSING or time.monotonic() > deadline:
            reasons = found.get("failureReasons", [])
            raise NotStabilised(what, "created", found["status"], reasons)
        time.sleep(_POLL_SECONDS)
