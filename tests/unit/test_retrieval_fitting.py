"""Selection of passages: nothing twice, within a budget, in which order."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackroom.model.passages import Passage, Place
from stackroom.search.budget import Budget, Priority
from stackroom.search.excerpts import Excerpt, cited, estimated_tokens, excerpts_of
from stackroom.search.results import WithinBudget, fit
from tests.fakes.place_maps import FakePlaceMaps

SENTENCES = [f"Sentence number {n} of the manual says something of its own. " for n in range(9)]


class FoundPassages:
    """Passages of documents whose places are known, or not."""

    def __init__(self) -> None:
        self.place_maps = FakePlaceMaps()
        self.passages: list[Passage] = []

    def find(self, text: str, *, of: str = "manual.pdf", place: Place | None = None) -> None:
        attributes = {"document_id": of, "filename": of}
        score = 1 - len(self.passages) / 100
        self.passages.append(
            Passage(
                text=text, score=score, uri=f"s3://d/{of}", attributes=attributes, text_id="0" * 16
            )
        )
        if place is not None:
            self.place_maps.put_place(of, text, place)

    def excerpts(self, limit: int = 5) -> tuple[Excerpt, ...]:
        return excerpts_of(self.passages, self.place_maps, limit=limit)

    def texts(self, limit: int = 5) -> list[str]:
        return [excerpt.text for excerpt in self.excerpts(limit)]


@pytest.fixture
def results() -> FoundPassages:
    return FoundPassages()


def sentences(first: int, last: int) -> str:
    return "".join(SENTENCES[first:last])


def at(begin: int, end: int) -> Place:
    return Place(page=1, span=(begin, end))


def test_passages_that_overlap_become_one_wherever_they_were_found(results: FoundPassages) -> None:
    results.find(sentences(3, 6))
    results.find("Nothing to do with it.")
    results.find(sentences(1, 4))
    results.find(sentences(5, 7))

    assert results.texts() == [sentences(1, 7), "Nothing to do with it."]
    assert [each.passage.score for each in results.excerpts()] == [1.0, 0.99]


def test_a_child_of_a_parent_that_is_shown_is_not_shown_again(results: FoundPassages) -> None:
    results.find(sentences(0, 8))
    results.find(sentences(3, 5))

    assert results.texts() == [sentences(0, 8)]


def test_a_short_overlap_counts_where_the_places_say_so(results: FoundPassages) -> None:
    results.find("One thing. See it.", place=at(0, 13))
    results.find("See it. Another.", place=at(8, 20))

    assert results.texts() == ["One thing. See it. Another."]


@pytest.mark.parametrize(("begin", "is_one"), [(20, True), (21, False), (19, False), (500, False)])
def test_passages_that_touch_become_one_if_their_places_say_so(
    results: FoundPassages, begin: int, *, is_one: bool
) -> None:
    results.find("The second half.", place=at(begin, begin + 13))
    results.find("The first half, which ends", place=at(0, 20))

    both = "The first half, which ends\nThe second half."
    assert (results.texts() == [both]) is (len(results.texts()) == 1) is is_one


def test_passage_under_another_heading_is_an_excerpt_of_its_own(results: FoundPassages) -> None:
    results.find(sentences(1, 4), of="manual.md", place=Place(section="Crew"))
    results.find(sentences(3, 6), of="manual.md", place=Place(section="Cargo"))
    results.find(sentences(5, 8), of="manual.md", place=Place(section="Cargo"))
    results.place_maps.put_place("manual.md", sentences(3, 8), Place(section="Cargo"))

    excerpts = results.excerpts()

    assert [(each.source.section, each.text) for each in excerpts] == [
        ("Crew", sentences(1, 4)),
        ("Cargo", sentences(3, 8)),
    ]


def test_passage_shared_by_two_documents_is_shown_once_with_both_sources(
    results: FoundPassages,
) -> None:
    results.find(sentences(1, 4))
    results.find(sentences(1, 4).replace(" ", "\n"), of="copy.pdf")
    results.find(sentences(1, 4), of="copy.pdf")

    (excerpt,) = results.excerpts()

    assert excerpt.source.filename == "manual.pdf"
    assert [source.filename for source in excerpt.other_sources] == ["copy.pdf"]


def test_a_table_of_contents_comes_last_and_is_not_lost(results: FoundPassages) -> None:
    results.find("Greasing ........ 12", place=Place(page=2, is_navigation=True))
    results.find("Grease it every day.", place=Place(page=12))

    assert results.texts() == ["Grease it every day.", "Greasing ........ 12"]
    assert results.texts(limit=1) == ["Grease it every day."]


NOW = datetime(2026, 7, 1, tzinfo=UTC)
SENTENCE = "Leave is 30 days. "  # 18 characters


def excerpt(text: str, score: float = 0.5, **attributes: object) -> Excerpt:
    passage = Passage(text=text, score=score, uri="s3://d/a.txt", attributes=attributes)
    [place] = cited([passage], FakePlaceMaps())
    return Excerpt(passage=passage, text=text, tokens=estimated_tokens(text), cited=place)


def days_ago(days: float) -> str:
    return (NOW - timedelta(days=days)).isoformat()


def fitted(
    texts: Sequence[str], max_tokens: int, prioritize_by: Priority = Priority.SIMILARITY
) -> WithinBudget:
    found = [excerpt(text) for text in texts]
    return fit(found, budget(prioritize_by, max_tokens), FakePlaceMaps())


def budget(prioritize_by: Priority, max_tokens: int = 4000) -> Budget:
    return Budget(max_tokens=max_tokens, prioritize_by=prioritize_by, now=lambda: NOW)


def contents(selection: WithinBudget) -> list[str]:
    return [each.content for each in selection.results]


def order(found: Sequence[Excerpt], prioritize_by: Priority) -> str:
    """Return the letters that begin the excerpts, in their order."""
    return "".join(text[0] for text in contents(fit(found, budget(prioritize_by), FakePlaceMaps())))


# Of 301 tokens each: their names, scores and ages in days, in the order of the search, which isn't
# that of the scores. Five of them are 1,505 tokens, so that 95 are left: too few to cut.
EIGHT = [
    *(("A", 0.90, 730), ("B", 0.95, 365), ("C", 0.80, 73), ("D", 0.86, 292)),
    *(("E", 0.60, 0), ("F", 0.75, 146), ("I", 0.55, 36.5), ("J", 0.50, 0)),
]
NEWEST = "EJICF"  # E came first
# 0.7 score + 0.3 (1 - age / 365):
#     C 0.56 + 0.24 = 0.80     E 0.42 + 0.30 = 0.72       F 0.525 + 0.18 = 0.705
#     B 0.665 + 0 = 0.665      D 0.602 + 0.06 = 0.662     I 0.385 + 0.27 = 0.655
#     J 0.35 + 0.30 = 0.65     A 0.63 + 0 = 0.63
WEIGHED = "CEFBD"


@pytest.mark.parametrize(
    ("prioritize_by", "kept"),
    [(Priority.SIMILARITY, "ABCDE"), (Priority.RECENCY, NEWEST), (Priority.BALANCED, WEIGHED)],
)
def test_passages_that_fill_the_budget_follow_the_chosen_priority(
    prioritize_by: Priority, kept: str
) -> None:
    found = [
        excerpt(name + "." * 1203, score, uploaded_at=days_ago(age)) for name, score, age in EIGHT
    ]

    selection = fit(found, budget(prioritize_by, 1600), FakePlaceMaps())

    assert "".join(text[0] for text in contents(selection)) == kept
    assert (selection.tokens, selection.omitted) == (1505, 3)
    assert not any(each.is_cut for each in selection.results)


# Of 397 characters for 100 tokens: whole sentences of half of them or more, else words, else some
# of a word.


@pytest.mark.parametrize(
    ("text", "max_tokens", "kept"),
    [
        (SENTENCE * 100, 100, SENTENCE * 22),
        (SENTENCE * 100, 4, "Leave is 30"),
        ("x" * 900, 1, "x"),
    ],
)
def test_first_passage_is_shown_however_little_room_there_is(
    text: str, max_tokens: int, kept: str
) -> None:
    selection = fitted([text, "Short."], max_tokens)

    [content] = contents(selection)
    assert content == kept.rstrip() + "..."
    assert selection.tokens <= max_tokens
    assert selection.omitted == 1


@pytest.mark.parametrize(
    ("now", "earlier"),
    [
        ("2026-06-30T01:00:00+02:00", "2026-06-29T22:59:59Z"),  # 23:00:00 before, in UTC
        ("2026-06-30T00:00:00", "2026-06-29T23:59:59Z"),  # in UTC, if it doesn't say
        ("2026-06-30", "2026-06-29T23:59:59"),
        ("2999-01-01", "2026-06-30T23:59:59.999Z"),
    ],
)
def test_newer_document_comes_first_in_every_date_format(now: str, earlier: str) -> None:
    found = [excerpt("old", uploaded_at=earlier), excerpt("new", uploaded_at=now)]

    assert order(found, Priority.RECENCY) == "no"


# Long enough that most budgets below hold a few of them, and cut one.
long = [SENTENCE * 9, "word " * 30, "語" * 99 + "。", "x" * 97]
pieces = st.sampled_from([*long, *long, "a", "é", " ", ".", '"', "\n", "\n\n"])
texts = st.lists(pieces, min_size=8, max_size=30).map("".join)
dates = st.one_of(st.none(), st.text(max_size=30), st.datetimes().map(datetime.isoformat))


@given(
    st.lists(st.tuples(texts, st.floats(), dates), max_size=6),
    st.integers(min_value=1, max_value=900),
    st.sampled_from(Priority),
)
def test_budget_holds_and_no_passage_is_lost_for_any_results(
    found: list[tuple[str, float, str | None]], max_tokens: int, prioritize_by: Priority
) -> None:
    excerpts = [excerpt(text, score, uploaded_at=date) for text, score, date in found]

    selection = fit(excerpts, budget(prioritize_by, max_tokens), FakePlaceMaps())

    shown = [each.content for each in selection.results]
    assert shown or not found or not all(text.strip() for text, _, _ in found)
    assert sum(map(estimated_tokens, shown)) == selection.tokens <= max_tokens
    assert len(shown) + selection.omitted == len(found)
    for each in selection.results[:-1]:
        assert each.content == each.text
    for last in selection.results[-1:]:
        beginning = last.content.removesuffix("...") if last.is_cut else last.content
        assert (last.text.lstrip() if last.is_cut else last.text).startswith(beginning)
        assert last.is_cut == (beginning != last.text)
        assert beginning == beginning.rstrip() or not last.is_cut


def test_nearly_the_same_words_of_another_document_come_behind_the_rest(
    results: FoundPassages,
) -> None:
    results.find(sentences(1, 8))
    results.find(sentences(1, 8) + " Revised.", of="last-year.pdf")
    results.find("Nothing to do with it.", of="other.pdf")

    files = [each.source.filename for each in results.excerpts()]

    assert files == ["manual.pdf", "other.pdf", "last-year.pdf"]
