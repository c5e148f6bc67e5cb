"""The names of documents, in memory."""

from collections.abc import Sequence
from datetime import UTC, datetime

from stackroom.errors import StoreUnavailable
from stackroom.model.repositories import NamedDocument


class FakeNames:
    """`NameLists` whose catalogs have these files each, two a page."""

    def __init__(self, *files: str) -> None:
        self.files, self.asked, self.is_down = sorted(files), 0, False

    def named(
        self, catalog_id: str, *, after: str = "", prefix: str = "", limit: int
    ) -> Sequence[NamedDocument]:
        self.asked += 1
        if self.is_down:
            raise StoreUnavailable("Query", "InternalServerError")
        behind = [each for each in self.files if each > after][:2]
        at = datetime(2026, 1, 1, tzinfo=UTC)
        return [
            NamedDocument(document_id=f"{catalog_id}/{each}", filename=each, size=1, uploaded_at=at)
            for each in behind
        ]
