"""Place maps in memory: a document's places, found by exact text."""

from stackroom.model.keys import TextName
from stackroom.model.passages import Place


class FakePlaces:
    def __init__(self, texts: dict[Place, str]) -> None:
        self._texts = texts

    def add(self, text: str, place: Place) -> None:
        self._texts[place] = text

    def place_of(self, passage: str) -> Place:
        holding = (place for place, text in self._texts.items() if passage in text)
        return next(holding, Place())


class FakePlaceMaps:
    """A `PlaceMaps` that notes its reads."""

    def __init__(self) -> None:
        self.maps: dict[str, FakePlaces] = {}
        self.reads: list[str] = []

    def put(self, document_id: str, pages: list[str]) -> None:
        self._put(document_id, {Place(page=number): text for number, text in enumerate(pages, 1)})

    def put_sections(self, document_id: str, sections: dict[str, str]) -> None:
        """Texts by their headings."""
        self._put(document_id, {Place(section=heading): text for heading, text in sections.items()})

    def put_place(self, document_id: str, text: str, place: Place) -> None:
        """One more text of a document, and where it stands."""
        places = self.maps.setdefault(document_id, FakePlaces({}))
        places.add(text, place)

    def _put(self, document_id: str, texts: dict[Place, str]) -> None:
        self.maps[document_id] = FakePlaces(texts)

    def get(self, name: TextName) -> FakePlaces | None:
        self.reads.append(name.document_id)
        return self.maps.get(name.document_id)
