"""Several stores of the same documents, asked the same questions, in one table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

from benchmarks.answers.asking import one_by_one
from benchmarks.answers.citing import citations
from benchmarks.answers.given import CANDIDATES, Given, Way, of_passage
from benchmarks.answers.judging import Pages
from benchmarks.answers.layout import Row, share
from benchmarks.answers.library import USER
from benchmarks.answers.questions import Question
from benchmarks.answers.ranking import ranks
from benchmarks.answers.ways import SHOWN
from benchmarks.serving import NotMeasured
from benchmarks.vector_stores.filled import Filled
from stackroom.documents.filters import Has
from stackroom.documents.passages import Passage, PlaceMapReader
from stackroom_evaluation.judging import Shown

_USER = Has("user_id", USER)


def compared(
    stores: Sequence[Filled],
    asked: Sequence[Question],
    *,
    pages: Mapping[str, Pages],
    place_maps: PlaceMapReader,
) -> Iterator[tuple[str, list[Row]]]:
    """Title and rows, the first row being the heads."""
    given, seconds = one_by_one({each.name: _way(each, place_maps) for each in stores}, asked)
    yield (
        "The right passage among the first, and its page",
        [
            [
                "store",
                "at 1",
                "at 3",
                "at 5",
                "MRR",
                "it has most",
                "right ones reach it",
                "p50, ms",
            ],
            *(
                [
                    each.name,
                    *_found(given[each.name], asked),
                    *_cited(given[each.name], asked, pages),
                    f"{1_000 * median(seconds[each.name]):.1f}",
                ]
                for each in stores
            ),
        ],
    )
    yield (
        "The same among the first three as the first store",
        [
            ["store", "questions", "how it searches"],
            *(
                [each.name, _agreement(given[stores[0].name], given[each.name]), each.why]
                for each in stores
            ),
        ],
    )


def _way(store: Filled, place_maps: PlaceMapReader) -> Way:
    def ask(question: str) -> Given:
        retrieved = store.knowledge_base.retrieve(question, _USER, CANDIDATES)
        if retrieved.notice is not None:  # a figure of one store must not be made of another's
            raise NotMeasured(f"{store.name}: {retrieved.notice}")
        return Given(
            found=tuple(_placed(each, place_maps) for each in retrieved.passages[:SHOWN]),
            search=retrieved.search,
        )

    return ask


def _placed(passage: Passage, place_maps: PlaceMapReader) -> Shown:
    """With the page that the product cites of its own documents, by their place maps."""
    found = of_passage(passage)
    places = place_maps.get(str(passage.attributes.get("document_id")))
    if places is None:
        return found
    at = places.place_of(passage.text)
    return replace(found, page=at.page, page_first=at.page_first, page_last=at.page_last)


def _found(given: Mapping[str, Given], asked: Sequence[Question]) -> list[str]:
    measures = ranks(given, asked).measures
    return [f"{value:.3f}" if name == "MRR" else f"{value:.1%}" for name, value in measures.items()]


def _cited(
    given: Mapping[str, Given], asked: Sequence[Question], pages: Mapping[str, Pages]
) -> list[str]:
    told = citations(given, asked, pages)
    return [share(told.most, told.passages), share(told.reached, told.right)]


def _agreement(one: Mapping[str, Given], other: Mapping[str, Given]) -> str:
    """Of how many questions the first three are the same texts, in whatever order."""
    same = sum(_first(one[each]) == _first(other[each]) for each in one)
    return share(same, len(one))


def _first(given: Given) -> set[str]:
    return {each.text for each in given.found[:3]}
