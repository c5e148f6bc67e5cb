"""What is shown of the passages that were found: nothing twice, and no piece of a whole."""

import pytest

from stackroom.ports.retrieval import Passage, Place
from stackroom.retrieval.excerpts import Excerpt, excerpts_of
from tests.fakes.place_maps import FakePlaceMaps

SENTENCES = [f"Sentence number {n} of the manual says something of its own. " for n in range(9)]


class Shelf:
    """Passages of documents whose places are known, or not."""

    def __init__(self) -> None:
        self.place_maps = FakePlaceMaps()
        self.passages: list[Passage] = []

    def find(self, text: str, *, of: str = "manual.pdf", place: Place | None = None) -> None:
        attributes = {"document_id": of, "filename": of}
        score = 1 - len(self.passages) / 100
        self.passages.append(
            Passage(text=text, score=score, uri=f"s3://d/{of}", attributes=attributes)
        )
        if place is not None:
            self.place_maps.put_place(of, text, place)

    def excerpts(self, limit: int = 5) -> tuple[Excerpt, ...]:
        return excerpts_of(self.passages, self.place_maps, limit=limit)

    def texts(self, limit: int = 5) -> list[str]:
        return [excerpt.text for excerpt in self.excerpts(limit)]


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def text(first: int, last: int) -> str:
    return "".join(SENTENCES[first:last])


def at(begin: int, end: int) -> Place:
    return Place(page=1, span=(begin, end))


def test_passages_that_overlap_become_one_wherever_they_were_found(shelf: Shelf) -> None:
    shelf.find(text(3, 6))
    shelf.find("Nothing to do with it.")
    shelf.find(text(1, 4))
    shelf.find(text(5, 7))

    assert shelf.texts() == [text(1, 7), "Nothing to do with it."]
    assert [each.passage.score for each in shelf.excerpts()] == [1.0, 0.99]


def test_a_child_of_a_parent_that_is_shown_is_not_shown_again(shelf: Shelf) -> None:
    shelf.find(text(0, 8))
    shelf.find(text(3, 5))

    assert shelf.texts() == [text(0, 8)]


def test_three_passages_are_the_most_that_become_one(shelf: Shelf) -> None:
    for first in range(1, 6):
        shelf.find(text(first, first + 2))

    assert shelf.texts() == [text(1, 5), text(4, 7)]


def test_a_short_overlap_counts_where_the_places_say_so(shelf: Shelf) -> None:
    shelf.find("One thing. See it.", place=at(0, 13))
    shelf.find("See it. Another.", place=at(8, 20))

    assert shelf.texts() == ["One thing. See it. Another."]


def test_passages_that_touch_become_one_if_their_places_say_so(shelf: Shelf) -> None:
    shelf.find("The second half.", place=at(20, 33))
    shelf.find("The first half, which ends", place=at(0, 20))

    assert shelf.texts() == ["The first half, which ends\nThe second half."]


@pytest.mark.parametrize("begin", [21, 19, 500])
def test_passages_that_neither_touch_nor_overlap_stay_two(shelf: Shelf, begin: int) -> None:
    shelf.find("The first half, which ends", place=at(0, 20))
    shelf.find("The second half.", place=at(begin, begin + 13))

    assert len(shelf.texts()) == 2


def test_what_begins_below_another_heading_is_an_excerpt_of_its_own(shelf: Shelf) -> None:
    shelf.find(text(1, 4), of="manual.md", place=Place(section="Crew"))
    shelf.find(text(3, 6), of="manual.md", place=Place(section="Cargo"))
    shelf.find(text(5, 8), of="manual.md", place=Place(section="Cargo"))
    shelf.place_maps.put_place("manual.md", text(3, 8), Place(section="Cargo"))

    excerpts = shelf.excerpts()

    assert [(each.source.section, each.text) for each in excerpts] == [
        ("Crew", text(1, 4)),
        ("Cargo", text(3, 8)),
    ]


def test_what_two_documents_say_in_the_same_words_is_shown_once_with_both(shelf: Shelf) -> None:
    shelf.find(text(1, 4))
    shelf.find(text(1, 4).replace(" ", "\n"), of="copy.pdf")
    shelf.find(text(1, 4), of="copy.pdf")

    (excerpt,) = shelf.excerpts()

    assert excerpt.source.filename == "manual.pdf"
    assert [source.filename for source in excerpt.other_sources] == ["copy.pdf"]


def test_a_table_of_contents_comes_last_and_is_not_lost(shelf: Shelf) -> None:
    shelf.find("Greasing ........ 12", place=Place(page=2, is_navigation=True))
    shelf.find("Grease it every day.", place=Place(page=12))

    assert shelf.texts() == ["Grease it every day.", "Greasing ........ 12"]
    assert shelf.texts(limit=1) == ["Grease it every day."]
