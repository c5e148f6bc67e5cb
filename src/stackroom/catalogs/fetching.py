"""A link to a document's file, for its owner."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from stackroom.errors import DocumentNotFound
from stackroom.model import Document
from stackroom.ownership import in_use
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.ports.transfers import Transfers

LINK_SECONDS = 900  # contract


@dataclass(frozen=True, kw_only=True)
class DownloadLink:
    document: Document
    url: str


@dataclass(frozen=True, kw_only=True)
class Fetching:
    catalogs: Catalogs
    documents: Documents
    transfers: Transfers

    def link(self, user_id: str, catalog_id: str, document_id: str) -> DownloadLink:
        """Raises CatalogNotFound, CatalogDeleting or DocumentNotFound."""
        in_use(self.catalogs, user_id, catalog_id)
        document = self.documents.get(catalog_id, document_id)
        if document is None or not document.is_counted:
            raise DocumentNotFound(document_id)
        name = PurePosixPath(document.filename).name
        url = self.transfers.link(document.s3_key, filename=name, seconds=LINK_SECONDS)
        return DownloadLink(document=document, url=url)
