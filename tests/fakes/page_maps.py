"""Page maps in memory: a document's pages, found by exact text."""

from stackroom.errors import StackroomError


class FakePages:
    def __init__(self, pages: list[str]) -> None:
        self._pages = pages

    def page_of(self, passage: str) -> int | None:
        holding = (number for number, text in enumerate(self._pages, 1) if passage in text)
        return next(holding, None)


class FakePageMaps:
    """A `PageMaps` that counts its reads and can be told to fail."""

    def __init__(self, *, failure: StackroomError | None = None) -> None:
        self.maps: dict[str, FakePages] = {}
        self.reads: list[str] = []
        self.failure = failure

    def put(self, document_id: str, pages: list[str]) -> None:
        self.maps[document_id] = FakePages(pages)

    def get(self, document_id: str) -> FakePages | None:
        self.reads.append(document_id)
        if self.failure is not None:
            raise self.failure
        return self.maps.get(document_id)
