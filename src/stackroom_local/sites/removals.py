"""
What deletes: the product's own use case here, what an operator's rights reach there.

On AWS nobody but the pipeline's roles may touch a sidecar, and nobody but the gateway may call a
tool's function, whatever an operator's credentials allow (infra/bucket_policy.py,
infra/tool_policies.py). So an operator deletes an object, and its event does the rest; a whole
catalog, with all versions of its files, the reconciler deletes for them.
"""

import time
from dataclasses import dataclass
from typing import Protocol

from stackroom.deletions.deletions import CatalogDeletion
from stackroom.errors import DocumentNotFound
from stackroom.model import Document, DocumentStatus, Receipt
from stackroom_local.product import Product
from stackroom_local.sites import reconciler
from stackroom_local.sites.aws import AwsSite
from stackroom_local.sites.problems import NotTakenUp

_POLL_SECONDS = 0.5
# An event comes "typically" within seconds and may take a minute or longer [S3 user guide:
# EventNotifications], and waits in its batch.
_EVENT_SECONDS = 180.0


class Removals(Protocol):
    """`stackroom.deletions.Deletions`, as far as a verb uses it."""

    def delete_document(self, user_id: str, catalog_id: str, document_id: str) -> Receipt: ...

    def delete_unplaced(self, key: str) -> None: ...

    def delete_catalog(self, user_id: str, catalog_id: str) -> CatalogDeletion: ...


def removals_of(product: Product) -> Removals:
    if isinstance(product.site, AwsSite):
        return ObjectRemovals(product)
    return product.use_cases.deletions


@dataclass(frozen=True)
class ObjectRemovals:
    product: Product

    def delete_document(self, user_id: str, catalog_id: str, document_id: str) -> Receipt:
        """
        Its receipt, once the upload handler has written it.

        Raises DocumentNotFound, or NotTakenUp if no event has come for long.
        """
        documents = self.product.stores.documents
        document = documents.get(catalog_id, document_id)
        if document is None:
            raise DocumentNotFound(document_id)
        if document.status is DocumentStatus.UPLOADING:
            raise NotTakenUp(document.s3_key, "it was announced, and nobody has uploaded it yet")
        before = {each.receipt_id for each in self._receipts(user_id, document)}
        before -= {document.receipt_id or ""}  # of a removal that is under way
        self.delete_unplaced(document.s3_key)
        until = time.monotonic() + _EVENT_SECONDS
        while time.monotonic() < until:
            for each in self._receipts(user_id, document):
                if each.receipt_id not in before:
                    return each
            time.sleep(_POLL_SECONDS)
        raise NotTakenUp(document.s3_key, "its object is gone, and its event has not come yet")

    def delete_unplaced(self, key: str) -> None:
        """Its event does the rest."""
        site = self.product.site
        site.client("s3").delete_object(Bucket=site.bucket, Key=key)

    def delete_catalog(self, user_id: str, catalog_id: str) -> CatalogDeletion:
        """Raises ToolRefused where the function can't be started, or fails."""
        site = self.product.site
        assert isinstance(site, AwsSite), "removals_of chose by it"
        return reconciler.delete_catalog(site, user_id, catalog_id)

    def _receipts(self, user_id: str, document: Document) -> list[Receipt]:
        of_user = self.product.stores.receipts.of_user(user_id)
        return [each for each in of_user if each.document_id == document.document_id]
