"""The reconciler of a deployment, which does for operators what their own rights don't reach."""

import json
from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError
from pydantic import BaseModel, TypeAdapter

from stackroom.aws.error_mapping import THROTTLES, code_of
from stackroom.deletions.deletions import CatalogDeletion
from stackroom.reconciler.discrepancies import Discrepancy, Kind, Outcome
from stackroom_local.sites.aws import FUNCTIONS, AwsSite
from stackroom_local.sites.problems import ToolRefused


class _Listed(BaseModel):
    kind: Kind
    what: str
    remedy: str
    outcome: Outcome


class _Answer(BaseModel):
    finished: bool
    found: dict[Kind, int]
    listed: list[_Listed]
    resume: dict[str, str | None] = {}


_DELETION = TypeAdapter(CatalogDeletion)


def of_function(site: AwsSite, *, dry_run: bool) -> Iterator[Discrepancy]:
    """
    What the function finds, an invocation after the other until all is compared.

    Nobody but its role and the upload handler's may write sidecars; so it mends, and not whoever
    asks. Raises ToolRefused if it fails or can't be started.
    """
    request: dict[str, Any] = {"action": "reconcile", "listed": True, "dry_run": dry_run}
    finished = False
    while not finished:
        answer = _Answer.model_validate_json(_invoked(site, request))
        for each in answer.listed:
            yield Discrepancy(
                kind=each.kind, what=each.what, remedy=each.remedy, outcome=each.outcome
            )
        if (more := sum(answer.found.values()) - len(answer.listed)) > 0:
            raise ToolRefused(f"{more} more were found; the log of {_name(site)} has them all")
        finished = answer.finished
        request["resume"] = answer.resume


def delete_catalog(site: AwsSite, user_id: str, catalog_id: str) -> CatalogDeletion:
    """Of any user. Raises ToolRefused, as above."""
    request = {"action": "delete_catalog", "user_id": user_id, "catalog_id": catalog_id}
    return _DELETION.validate_json(_invoked(site, request))


def _invoked(site: AwsSite, request: dict[str, Any]) -> bytes:
    try:
        answer = site.client(FUNCTIONS).invoke(
            FunctionName=_name(site), Payload=json.dumps(request).encode()
        )
    except ClientError as error:
        if code_of(error) not in THROTTLES:
            raise
        busy = f"{_name(site)} could not be started, as many functions run; try again soon"
        raise ToolRefused(busy) from error
    body: bytes = answer["Payload"].read()
    if answer.get("FunctionError"):
        raise ToolRefused(f"function {_name(site)} failed; its log says why: {_message(body)}")
    return body


def _message(body: bytes) -> str:
    return str(json.loads(body).get("errorMessage", "no message"))


def _name(site: AwsSite) -> str:
    return f"{site.project}-reconciler"
