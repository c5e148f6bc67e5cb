"""What is cited of a passage, with and without a place map."""

import pytest

from stackroom.inspection.extraction import Page
from stackroom.inspection.place_map import PlaceMap
from stackroom.ports.retrieval import Passage, Places
from stackroom.retrieval.citations import cited

CONTENTS = "\n".join(f"{n} Rules of chapter {n} {'.' * 20} {n * 2}" for n in range(1, 12))
RULE = "After five years everyone may take a sabbatical of three months."


class Maps:
    def __init__(self, place_map: Places | None) -> None:
        self._place_map = place_map

    def get(self, document_id: str) -> Places | None:
        return self._place_map


def passage(text: str, filename: str = "handbook.pdf", page: int | None = None) -> Passage:
    attributes = {"document_id": "doc-1", "filename": filename}
    return Passage(text=text, score=0.5, page=page, attributes=attributes)


HANDBOOK = PlaceMap.of(
    "etag",
    [
        Page(1, f"Handbook\n{CONTENTS}\n1"),
        Page(2, "Trains go first class."),
        Page(3, f"{RULE} Ask."),
    ],
)


def test_a_source_says_on_which_pages_its_passage_is() -> None:
    text = f"class. {RULE}"

    (found,) = cited([passage(text, page=2)], Maps(HANDBOOK))

    pages = (found.source.page, found.source.page_first, found.source.page_last)
    assert pages == (3, 2, 3)


@pytest.mark.parametrize("place_map", [HANDBOOK, None], ids=["not in the map", "no map"])
def test_the_stores_own_page_is_cited_where_ours_is_not_known(place_map: PlaceMap | None) -> None:
    text = "Nothing of the kind is written anywhere in these few pages of ours."

    (found,) = cited([passage(text, page=7)], Maps(place_map))

    pages = (found.source.page, found.source.page_first, found.source.page_last)
    assert pages == (7, None, None)
    assert found.shown == text


@pytest.mark.parametrize(
    ("text", "filename", "is_navigation"),
    [
        (CONTENTS, "handbook.txt", True),
        (CONTENTS, "handbook.pdf", True),
        (RULE, "handbook.txt", False),
        (CONTENTS, "handbook.XLSX", False),
    ],
)
def test_without_a_map_a_table_of_contents_is_known_by_its_text(
    text: str, filename: str, is_navigation: bool
) -> None:
    (found,) = cited([passage(text, filename)], Maps(None))

    assert found.place.is_navigation is is_navigation
