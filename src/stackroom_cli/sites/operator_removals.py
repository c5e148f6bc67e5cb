"""
Deletes for an operator: by the product's use case in the local mode, by an operator's rights on
AWS.

On AWS only the pipeline's roles may touch a sidecar, and only the gateway may call a tool's
function, whatever an operator's credentials allow (infra/bucket_policy.py, infra/tool_policies.py).
So an operator deletes an object, and its event does the rest; the reconciler's function deletes a
whole catalog, with all versions of its files.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError
from pydantic import BaseModel, TypeAdapter

from stackroom.aws.error_mapping import THROTTLES, code_of
from stackroom.catalogs.deletions import CatalogDeletion, Deletions
from stackroom.errors import DocumentNotFound
from stackroom.model.records import Document, DocumentStatus, Receipt
from stackroom.reconciler.discrepancies import Discrepancy, Kind, Outcome
from stackroom_cli.sites.site import FUNCTIONS, AwsSite
from stackroom_cli.sites.site_errors import NotTakenUp, ToolRefused
from stackroom_cli.sites.site_services import SiteServices

# The reconciler of a deployment, which does for operators what their own rights don't reach.


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
    Run the reconciler's function until it has compared everything, and yield what it finds.

    Only its role and the upload handler's may write sidecars, so the function repairs, not the
    caller. Raises ToolRefused if it fails or can't be started.
    """
    request: dict[str, Any] = {"action": "reconcile", "listed": True, "dry_run": dry_run}
    finished = False
    while not finished:
        answer = _Answer.model_validate_json(_invoked(site, request))
        for each in answer.listed:
            yield Discrepancy(**dict(each))
        if (more := sum(answer.found.values()) - len(answer.listed)) > 0:
            raise ToolRefused(
                f"{more} more discrepancies were found; the log of {_name(site)} lists all"
            )
        finished = answer.finished
        request["resume"] = answer.resume


def delete_catalog(site: AwsSite, user_id: str, catalog_id: str) -> CatalogDeletion:
    """Delete any user's catalog. Raises ToolRefused if the function fails or can't be started."""
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
        busy = (
            f"{_name(site)} could not be started, because too many functions run; try again later"
        )
        raise ToolRefused(busy) from error
    body: bytes = answer["Payload"].read()
    if answer.get("FunctionError"):
        raise ToolRefused(f"function {_name(site)} failed: {_message(body)}; see its log")
    return body


def _message(body: bytes) -> str:
    return str(json.loads(body).get("errorMessage", "no message"))


def _name(site: AwsSite) -> str:
    return f"{site.project}-reconciler"


_POLL_SECONDS = 0.5
# An event comes "typically" within seconds and may take a minute or longer [S3 user guide:
# EventNotifications], and waits in its batch.
_EVENT_SECONDS = 180.0


def removals_of(services: SiteServices) -> "Deletions | ObjectRemovals":
    if isinstance(services.site, AwsSite):
        return ObjectRemovals(services, services.site)
    return services.use_cases.deletions


@dataclass(frozen=True)
class ObjectRemovals:
    """The methods of `Deletions` that commands use, with an operator's rights."""

    services: SiteServices
    site: AwsSite

    def delete_document(self, user_id: str, catalog_id: str, document_id: str) -> Receipt:
        """
        Delete a document and return its receipt, once the upload handler has written it.

        Raises DocumentNotFound, or NotTakenUp if the object's event does not arrive in time.
        """
        documents = self.services.stores.documents
        document = documents.get(catalog_id, document_id)
        if document is None:
            raise DocumentNotFound(document_id)
        if document.status is DocumentStatus.UPLOADING:
            raise NotTakenUp(document.s3_key, "its upload was announced, but has not arrived yet")
        before = {each.receipt_id for each in self._receipts(user_id, document)}
        before -= {document.receipt_id or ""}  # of a removal that is under way
        self.delete_unplaced(document.s3_key)
        until = time.monotonic() + _EVENT_SECONDS
        while time.monotonic() < until:
            for each in self._receipts(user_id, document):
                if each.receipt_id not in before:
                    return each
            time.sleep(_POLL_SECONDS)
        raise NotTakenUp(
            document.s3_key, "its object is deleted, but the event has not arrived yet"
        )

    def delete_unplaced(self, key: str) -> None:
        """Delete an object; its event does the rest."""
        self.site.client("s3").delete_object(Bucket=self.site.bucket, Key=key)

    def delete_catalog(self, user_id: str, catalog_id: str) -> CatalogDeletion:
        """Delete a catalog. Raises ToolRefused if the function fails or can't be started."""
        return delete_catalog(self.site, user_id, catalog_id)

    def _receipts(self, user_id: str, document: Document) -> list[Receipt]:
        of_user = self.services.stores.receipts.of_user(user_id)
        return [each for each in of_user if each.document_id == document.document_id]
