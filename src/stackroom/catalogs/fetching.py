"""A link to a document's file, for its owner."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from stackroom.access.tenancy import in_use
from stackroom.catalogs.transfers import Transfers
from stackroom.documents.formats import content_type_of, extension_of
from stackroom.documents.model import Document
from stackroom.documents.repositories import Catalogs, Documents
from stackroom.errors import DocumentNotFound

LINK_SECONDS = 900  # contract
_SHOWN = {"pdf"}  # by browsers themselves, at a page; no type that could run a script


@dataclass(frozen=True, kw_only=True)
class DownloadLink:
    document: Document
    url: str


@dataclass(frozen=True, kw_only=True)
class Fetching:
    catalogs: Catalogs
    documents: Documents
    transfers: Transfers

    def link(
        self, user_id: str, catalog_id: str, document_id: str, *, to_show: bool = False
    ) -> DownloadLink:
        """
        To save the file, or for a browser to show it, if it is of a type that may be shown.

        Raises CatalogNotFound, CatalogDeleting or DocumentNotFound.
        """
        in_use(self.catalogs, user_id, catalog_id)
        document = self.documents.get(catalog_id, document_id)
        if document is None or not document.is_counted:
            raise DocumentNotFound(document_id)
        name = PurePosixPath(document.filename).name
        is_shown = to_show and extension_of(name) in _SHOWN
        url = self.transfers.link(
            document.s3_key,
            filename=name,
            seconds=LINK_SECONDS,
            shown_as=content_type_of(name) if is_shown else None,
        )
        return DownloadLink(document=document, url=url)
