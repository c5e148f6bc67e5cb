"""Documents as they move, for programs: a line of JSON for each change."""

from collections.abc import Sequence

from stackroom.model import Document
from stackroom_local.cli.answers import Changed
from stackroom_local.cli.console import Output
from stackroom_local.cli.telling import document_told
from stackroom_local.records import CatalogListing


class EachAsJson:
    """A line of JSON for each document, and again for each change of one."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._shown: dict[str, tuple[CatalogListing, Document]] = {}

    def show(self, listings: Sequence[CatalogListing]) -> None:
        now = {one.s3_key: (each, one) for each in listings for one in each.documents}
        for key, (listing, document) in now.items():
            if key not in self._shown or _is_another(document, self._shown[key][1]):
                self._out.line(Changed(document=document_told(listing, document)))
        for key in self._shown.keys() - now.keys():
            self._out.line(Changed(document=document_told(*self._shown[key]), gone=True))
        self._shown = now

    def close(self) -> None:
        pass


def _is_another(document: Document, before: Document) -> bool:
    return (document.status, document.status_reason) != (before.status, before.status_reason)
