"""Searching: which knowledge bases, whose passages, and what of them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest

from stackroom.deadlines import NO_DEADLINE, Deadline
from stackroom.errors import (
    KnowledgeBaseNotFound,
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    RetrievalFailed,
    StoreUnavailable,
    Throttled,
)
from stackroom.filters import Filter
from stackroom.identity import Caller
from stackroom.keys import document_id_of
from stackroom.model import Catalog, DataSourceType
from stackroom.ports.retrieval import Place, Retrieved
from stackroom.retrieval.arguments import KNOWLEDGE_BASE_RETRIEVE
from stackroom.retrieval.budget import Budget, Priority
from stackroom.retrieval.results import Answer
from stackroom.retrieval.search import Retrieval
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.fakes.pipeline import FakeCatalogs
from tests.fakes.place_maps import FakePlaceMaps

ALICE = Caller("alice")
NOW = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)


@dataclass
class CatalogShelf(FakeCatalogs):
    """Catalogs that count how often a search reads them, and fail it on demand."""

    reads: int = 0
    failure: Exception | None = None

    def put(
        self,
        catalog_id: str,
        home: str | None,
        user_id: str = "alice",
        *,
        source: str | None = None,
    ) -> None:
        """With a `source`, its documents are ingested directly, into that data source."""
        self.kept[catalog_id] = Catalog(
            catalog_id=catalog_id,
            user_id=user_id,
            name=catalog_id,
            s3_prefix=f"{user_id}/{catalog_id}/",
            knowledge_base_id=home,
            data_source_id=source,
            data_source_type=DataSourceType.CUSTOM if source else DataSourceType.S3,
            created_at=NOW,
            updated_at=NOW,
        )

    def get(self, catalog_id: str) -> Catalog | None:
        self._count()
        return super().get(catalog_id)

    def of_user(self, user_id: str) -> Iterator[Catalog]:
        self._count()
        return super().of_user(user_id)

    def _count(self) -> None:
        self.reads += 1
        if self.failure is not None:
            raise self.failure


@pytest.fixture
def catalogs() -> CatalogShelf:
    return CatalogShelf()


@pytest.fixture
def place_maps() -> FakePlaceMaps:
    return FakePlaceMaps()


@pytest.fixture
def pool() -> dict[str, FakeKnowledgeBase]:
    return {"KB1": FakeKnowledgeBase()}


@pytest.fixture
def retrieval(
    pool: dict[str, FakeKnowledgeBase], catalogs: CatalogShelf, place_maps: FakePlaceMaps
) -> Retrieval:
    return Retrieval(pool=pool, catalogs=catalogs, place_maps=place_maps)


def search(retrieval: Retrieval, caller: Caller = ALICE, **arguments: object) -> Answer:
    given = {"query": "annual leave", **arguments}
    return retrieval.search(KNOWLEDGE_BASE_RETRIEVE.parse(given), caller)


def contents(answer: Answer) -> list[str]:
    return [result.content for result in answer.results]


def test_a_caller_finds_their_own_passages_and_nobody_elses(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase]
) -> None:
    pool["KB1"].put("annual leave is 30 days", user_id="alice")
    pool["KB1"].put("annual leave is 12 days", user_id="bob")

    answer = search(retrieval, ALICE)

    assert contents(answer) == ["annual leave is 30 days"]
    assert contents(search(retrieval, Caller("carol"))) == []


def test_a_passage_without_text_is_no_answer(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase]
) -> None:
    pool["KB1"].put("", user_id="alice")  # of an image, say
    pool["KB1"].put("annual leave is 30 days", user_id="alice")

    assert contents(search(retrieval, ALICE)) == ["annual leave is 30 days"]


def test_a_filter_narrows_what_the_caller_may_see(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase]
) -> None:
    pool["KB1"].put("annual leave in Berlin", attributes={"city": "Berlin", "year": 2026})
    pool["KB1"].put("annual leave in Paris", attributes={"city": "Paris", "year": 2026})
    pool["KB1"].put("annual leave in Rome", attributes={"city": "Rome", "year": 2025})
    pool["KB1"].put("annual leave of bob", user_id="bob", attributes={"city": "Rome", "year": 2026})

    answer = search(retrieval, filter={"city": ["Berlin", "Rome"], "year": 2026})

    assert contents(answer) == ["annual leave in Berlin"]


def test_a_filter_finds_a_value_in_a_list_attribute(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase]
) -> None:
    pool["KB1"].put("annual leave", attributes={"taxonomy": ["hr", "policy"]})

    answer = search(retrieval, filter={"taxonomy": "policy"})

    assert contents(answer) == ["annual leave"]


def test_a_knowledge_base_that_ignores_the_filter_is_not_believed(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase]
) -> None:
    pool["KB1"].ignores_filters = True
    pool["KB1"].put("annual leave is 30 days", user_id="alice")
    pool["KB1"].put("annual leave is 12 days", user_id="bob")

    with pytest.raises(RetrievalFailed) as raised:
        search(retrieval, ALICE)

    assert raised.value.failures == {"KB1": "Retrieve answered passages outside the filter"}


@pytest.mark.parametrize(
    "key", ["bob/cat-1/plan.txt", "alicel/cat-1/plan.txt", "Alice/cat-1/plan.txt", "alice"]
)
def test_a_passage_from_outside_the_callers_prefix_is_withheld_and_reported(
    retrieval: Retrieval,
    pool: dict[str, FakeKnowledgeBase],
    caplog: pytest.LogCaptureFixture,
    key: str,
) -> None:
    pool["KB1"].put("annual leave is 30 days", user_id="alice")
    pool["KB1"].put("annual leave is 12 days", user_id="alice", key=key)

    answer = search(retrieval, ALICE)

    assert contents(answer) == ["annual leave is 30 days"]
    assert answer.withheld == 1
    assert f"s3://docs/{key}" in caplog.text
    assert "12 days" not in caplog.text


def test_a_passage_that_does_not_say_where_it_is_from_is_withheld(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase]
) -> None:
    passage = pool["KB1"].put("annual leave is 30 days", user_id="alice")
    pool["KB1"].passages = [replace(passage, uri=None)]

    answer = search(retrieval, ALICE)

    assert (answer.results, answer.withheld) == ((), 1)


def test_a_search_of_one_catalog_finds_what_lies_under_its_prefix_alone(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase], catalogs: CatalogShelf
) -> None:
    catalogs.put("cat-1", "KB1")
    pool["KB1"].put("annual leave here")
    pool["KB1"].put("annual leave there", key="alice/cat-2/plan.txt")

    answer = search(retrieval, catalog_id="cat-1")

    assert (contents(answer), answer.withheld) == (["annual leave here"], 1)


def test_what_was_ingested_directly_is_its_catalogs_owners(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase], catalogs: CatalogShelf
) -> None:
    catalogs.put("cat-1", "KB1")
    catalogs.put("cat-bob", "KB1", user_id="bob")
    for catalog_id in ("cat-1", "cat-bob", "cat-gone"):
        shown = document_id_of(catalog_id, "handbook.txt")
        pool["KB1"].put(f"annual leave of {catalog_id}", catalog_id=catalog_id, custom_id=shown)

    answer = search(retrieval, ALICE)

    assert (contents(answer), answer.withheld) == (["annual leave of cat-1"], 2)
    assert contents(search(retrieval, catalog_id="cat-1")) == ["annual leave of cat-1"]


@pytest.mark.parametrize("narrowed", [{}, {"catalog_id": "cat-1"}])
def test_what_was_ingested_directly_is_no_other_document_whatever_its_attributes_say(
    retrieval: Retrieval,
    pool: dict[str, FakeKnowledgeBase],
    catalogs: CatalogShelf,
    narrowed: dict[str, str],
) -> None:
    catalogs.put("cat-1", "KB1")
    bobs = document_id_of("cat-bob", "handbook.txt")
    pool["KB1"].put("annual leave of bob", catalog_id="cat-1", custom_id=bobs)

    answer = search(retrieval, ALICE, **narrowed)

    assert (answer.results, answer.withheld) == ((), 1)


def test_what_tells_its_data_source_alone_is_found_with_its_object(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase], catalogs: CatalogShelf
) -> None:
    catalogs.put("cat-1", "KB1", source="DS1")
    for name in ("a.txt", "b.txt"):
        attributes = {"document_id": document_id_of("cat-1", name)}
        pool["KB1"].put(
            "annual leave",
            filename=name,
            attributes=attributes,
            data_source_id="DS1",
            tells_source=False,
        )
    locating = replace(retrieval, uri_of=lambda key: f"s3://docs/{key}")

    answers = [search(locating), search(locating, catalog_id="cat-1"), search(retrieval)]

    told = ["s3://docs/alice/cat-1/a.txt", "s3://docs/alice/cat-1/b.txt"]
    assert [_uris(each) for each in answers] == [told, told, [None, None]]
    assert [each.withheld for each in answers] == [0, 0, 0]


@pytest.mark.parametrize("narrowed", [{}, {"catalog_id": "cat-1"}])
def test_what_tells_no_source_is_not_made_hers_by_being_located(
    retrieval: Retrieval,
    pool: dict[str, FakeKnowledgeBase],
    catalogs: CatalogShelf,
    narrowed: dict[str, str],
) -> None:
    catalogs.put("cat-1", "KB1", source="DS1")
    attributes = {"document_id": document_id_of("cat-1", "handbook.txt")}
    for source in (None, "DS2"):
        pool["KB1"].put(
            f"annual leave of {source}",
            attributes=attributes,
            data_source_id=source,
            tells_source=False,
        )

    answer = search(replace(retrieval, uri_of=lambda key: f"s3://docs/{key}"), ALICE, **narrowed)

    assert (answer.results, answer.withheld) == ((), 2)


def _uris(answer: Answer) -> list[str | None]:
    return [
        source.uri for result in answer.results for source in (result.source, *result.other_sources)
    ]


def test_catalogs_that_can_not_be_read_withhold_nothing_silently(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase], catalogs: CatalogShelf
) -> None:
    catalogs.failure = StoreUnavailable("GetItem", "InternalServerError")
    shown = document_id_of("cat-1", "handbook.txt")
    pool["KB1"].put("annual leave", catalog_id="cat-1", custom_id=shown)

    with pytest.raises(RetrievalFailed):
        search(retrieval)


def test_a_pool_of_one_needs_no_look_at_the_catalogs(
    retrieval: Retrieval, catalogs: CatalogShelf
) -> None:
    answer = search(retrieval)

    assert answer.knowledge_bases == ("KB1",)
    assert catalogs.reads == 0


def test_only_knowledge_bases_with_the_callers_catalogs_are_asked(
    pool: dict[str, FakeKnowledgeBase], retrieval: Retrieval, catalogs: CatalogShelf
) -> None:
    pool.update(KB2=FakeKnowledgeBase(), KB3=FakeKnowledgeBase())
    catalogs.put("cat-1", "KB3")
    catalogs.put("cat-2", "KB3")
    catalogs.put("cat-3", None)
    catalogs.put("cat-4", "KB2", user_id="bob")

    answer = search(retrieval)

    assert answer.knowledge_bases == ("KB3",)
    assert pool["KB1"].filters == pool["KB2"].filters == []


def test_a_named_catalog_is_searched_where_it_lives_and_nothing_beside_it(
    pool: dict[str, FakeKnowledgeBase], retrieval: Retrieval, catalogs: CatalogShelf
) -> None:
    pool["KB2"] = FakeKnowledgeBase()
    catalogs.put("cat-1", "KB2")
    pool["KB2"].put("annual leave here", catalog_id="cat-1")
    pool["KB2"].put("annual leave there", catalog_id="cat-2")

    answer = search(retrieval, catalog_id="cat-1")

    assert contents(answer) == ["annual leave here"]
    assert answer.knowledge_bases == ("KB2",)


def test_someone_elses_catalog_is_as_unknown_as_none(
    retrieval: Retrieval, catalogs: CatalogShelf
) -> None:
    catalogs.put("cat-bob", "KB1", user_id="bob")

    with pytest.raises(KnowledgeBaseNotFound) as foreign:
        search(retrieval, catalog_id="cat-bob")
    with pytest.raises(KnowledgeBaseNotFound) as unknown:
        search(retrieval, catalog_id="cat-nix")

    assert str(foreign.value) == "Catalog 'cat-bob' not found"
    assert str(unknown.value) == "Catalog 'cat-nix' not found"


def test_a_catalog_that_is_not_placed_yet_has_nothing_to_find(
    retrieval: Retrieval, catalogs: CatalogShelf
) -> None:
    catalogs.put("cat-new", None)

    answer = search(retrieval, catalog_id="cat-new")

    assert answer.results == ()
    assert answer.knowledge_bases == ()


def test_a_knowledge_base_can_be_named_if_it_is_in_the_pool(
    pool: dict[str, FakeKnowledgeBase], retrieval: Retrieval, catalogs: CatalogShelf
) -> None:
    pool["KB2"] = FakeKnowledgeBase()
    catalogs.put("cat-1", "KB1")
    catalogs.put("cat-2", "KB2")

    answer = search(retrieval, knowledge_base_id="KB2")
    with pytest.raises(KnowledgeBaseNotFound) as raised:
        search(retrieval, knowledge_base_id="KB9")

    assert answer.knowledge_bases == ("KB2",)
    assert str(raised.value) == "Knowledge base 'KB9' not found"


def test_several_knowledge_bases_are_merged_by_score_without_repeats(
    pool: dict[str, FakeKnowledgeBase], retrieval: Retrieval, catalogs: CatalogShelf
) -> None:
    pool["KB2"] = FakeKnowledgeBase()
    catalogs.put("cat-1", "KB1")
    catalogs.put("cat-2", "KB2")
    pool["KB1"].put("middle", score=0.5)
    pool["KB1"].put("twice", score=0.6)
    pool["KB2"].put("twice", score=0.7)
    pool["KB2"].put("best", score=0.9)
    pool["KB2"].put("worst", score=0.1)

    answer = search(retrieval, top_k=3)

    assert contents(answer) == ["best", "twice", "middle"]
    assert answer.omitted == 0


class WaitingForOthers(FakeKnowledgeBase):
    """Answers only while all the others are being asked too."""

    def __init__(self, all_asked: Barrier) -> None:
        super().__init__()
        self.all_asked = all_asked

    # A002: the port's name
    def retrieve(
        self,
        query: str,
        filter: Filter | None,  # noqa: A002
        limit: int,
        *,
        deadline: Deadline = NO_DEADLINE,
    ) -> Retrieved:
        self.all_asked.wait()
        return super().retrieve(query, filter, limit, deadline=deadline)


def test_five_knowledge_bases_are_asked_at_once(
    pool: dict[str, FakeKnowledgeBase], retrieval: Retrieval, catalogs: CatalogShelf
) -> None:
    all_asked = Barrier(5, timeout=120)
    pool.update({f"KB{n}": WaitingForOthers(all_asked) for n in range(1, 6)})
    for n in range(1, 6):
        catalogs.put(f"cat-{n}", f"KB{n}")

    answer = search(retrieval)

    assert answer.failures == {}
    assert not all_asked.broken


def test_one_of_two_failing_is_a_partial_answer_that_says_so(
    pool: dict[str, FakeKnowledgeBase], retrieval: Retrieval, catalogs: CatalogShelf
) -> None:
    pool["KB2"] = FakeKnowledgeBase(failure=KnowledgeBaseUnavailable("Retrieve", "Timeout"))
    catalogs.put("cat-1", "KB1")
    catalogs.put("cat-2", "KB2")
    catalogs.put("cat-3", "KB-gone")
    pool["KB1"].put("annual leave")

    answer = search(retrieval)

    assert contents(answer) == ["annual leave"]
    assert answer.failures == {
        "KB2": "Retrieve answered Timeout",
        "KB-gone": "Retrieve answered not in the pool",
    }


def test_all_throttled_is_throttled_and_any_other_end_is_a_failure(
    pool: dict[str, FakeKnowledgeBase], retrieval: Retrieval, catalogs: CatalogShelf
) -> None:
    pool["KB1"].failure = KnowledgeBaseThrottled("Retrieve")
    with pytest.raises(Throttled):
        search(retrieval)

    pool["KB2"] = FakeKnowledgeBase(failure=KnowledgeBaseUnavailable("Retrieve", "Timeout"))
    catalogs.put("cat-1", "KB1")
    catalogs.put("cat-2", "KB2")
    with pytest.raises(RetrievalFailed) as raised:
        search(retrieval)

    assert set(raised.value.failures) == {"KB1", "KB2"}


def test_unreadable_catalogs_are_a_failure_not_an_empty_answer(
    retrieval: Retrieval, catalogs: CatalogShelf
) -> None:
    catalogs.failure = StoreUnavailable("GetItem", "InternalServerError")

    with pytest.raises(RetrievalFailed):
        search(retrieval, catalog_id="cat-1")


def test_passages_below_the_threshold_are_left_out(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase]
) -> None:
    pool["KB1"].put("good", score=0.5)
    pool["KB1"].put("poor", score=0.49)

    answer = search(retrieval, min_score=0.5)

    assert contents(answer) == ["good"]
    assert answer.omitted == 0


def test_the_configured_threshold_and_budget_hold_unless_the_caller_sets_others(
    pool: dict[str, FakeKnowledgeBase], catalogs: CatalogShelf, place_maps: FakePlaceMaps
) -> None:
    budget = Budget(max_tokens=2)
    retrieval = Retrieval(
        pool=pool, catalogs=catalogs, place_maps=place_maps, min_score=0.5, budget=budget
    )
    pool["KB1"].put("12345678", score=0.9)
    pool["KB1"].put("87654321", score=0.3)

    configured = search(retrieval)
    asked = search(retrieval, min_score=0, max_tokens=4)

    assert contents(configured) == ["12345678"]
    assert contents(asked) == ["12345678", "87654321"]


def test_what_does_not_fit_the_budget_is_counted(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase]
) -> None:
    pool["KB1"].put("first. " * 10, score=0.9)  # 18 tokens
    pool["KB1"].put("second. " * 100, score=0.8)
    pool["KB1"].put("third. " * 10, score=0.7)

    answer = search(retrieval, max_tokens=130)

    # 112 tokens are room for 445 characters: 55 sentences of 8, without the last one's space.
    assert contents(answer) == ["first. " * 10, "second. " * 54 + "second...."]
    assert [result.is_cut for result in answer.results] == [False, True]
    assert (answer.tokens, answer.omitted) == (18 + 111, 1)


@pytest.mark.parametrize(
    ("prioritize_by", "kept"),
    [
        (None, ["today", "month"]),
        ("similarity", ["years", "month"]),
        ("recency", ["today", "month"]),
        ("balanced", ["month", "today"]),
    ],
)
def test_the_best_are_chosen_first_and_then_put_in_the_order_that_is_asked_for(
    pool: dict[str, FakeKnowledgeBase],
    retrieval: Retrieval,
    prioritize_by: str | None,
    kept: list[str],
) -> None:
    usual = Budget(max_tokens=4, prioritize_by=Priority.RECENCY, now=lambda: NOW)
    retrieval = replace(retrieval, budget=usual)
    for text, score, days in [("years", 0.8, 800), ("today", 0.7, 0), ("month", 0.75, 31)]:
        at = (NOW - timedelta(days=days)).isoformat()
        pool["KB1"].put(text, score=score, attributes={"uploaded_at": at})
    pool["KB1"].put("fresh", score=0.1, attributes={"uploaded_at": NOW.isoformat()})

    answer = search(retrieval, top_k=3, prioritize_by=prioritize_by)

    # Without the fresh one, which isn't among the best three. Balanced: 0.56 for years, 0.49 + 0.3
    # for today, 0.525 + 0.275 for month.
    assert contents(answer) == kept
    assert (answer.tokens, answer.omitted) == (4, 1)


def test_a_guardrail_that_stepped_in_anywhere_is_reported(
    pool: dict[str, FakeKnowledgeBase], retrieval: Retrieval, catalogs: CatalogShelf
) -> None:
    assert search(retrieval).guardrail_action == "NONE"

    pool["KB2"] = FakeKnowledgeBase()
    pool["KB2"].guardrail_action = "INTERVENED"
    catalogs.put("cat-1", "KB1")
    catalogs.put("cat-2", "KB2")

    assert search(retrieval).guardrail_action == "INTERVENED"


def test_a_citation_carries_the_page_from_the_place_map_or_else_from_the_store(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase], place_maps: FakePlaceMaps
) -> None:
    place_maps.put("doc-mapped.PDF", ["cover", "annual leave is 30 days"])
    pool["KB1"].put("reported", filename="reported.pdf", page=7, score=0.9)
    pool["KB1"].put("annual leave is 30 days", filename="mapped.PDF", page=1, score=0.8)
    pool["KB1"].put("unmapped", filename="unmapped.pdf", score=0.7)
    pool["KB1"].put("no pages", filename="notes.txt", score=0.6)

    answer = search(retrieval)

    assert [result.source.page for result in answer.results] == [7, 2, None, None]
    assert {result.source.section for result in answer.results} == {None}
    assert sorted(place_maps.reads) == ["doc-mapped.PDF", "doc-reported.pdf", "doc-unmapped.pdf"]


@pytest.mark.parametrize("filename", ["guide.docx", "guide.MD", "guide.html"])
def test_a_citation_carries_the_section_even_where_the_store_tells_a_page(
    retrieval: Retrieval,
    pool: dict[str, FakeKnowledgeBase],
    place_maps: FakePlaceMaps,
    filename: str,
) -> None:
    place_maps.put_sections(f"doc-{filename}", {"Travel": "48 euros a day", "Leave": "30 days"})
    pool["KB1"].put("30 days", filename=filename, score=0.9)
    pool["KB1"].put("48 euros a day", filename=filename, page=3, score=0.8)
    pool["KB1"].put("not in the map", filename=filename, score=0.7)

    answer = search(retrieval)

    assert [(result.source.page, result.source.section) for result in answer.results] == [
        (None, "Leave"),
        (3, "Travel"),
        (None, None),
    ]


def test_place_maps_that_can_not_be_read_cost_the_page_and_nothing_else(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase], place_maps: FakePlaceMaps
) -> None:
    place_maps.failure = StoreUnavailable("GetObject", "SlowDown")
    pool["KB1"].put("annual leave", filename="handbook.pdf")

    answer = search(retrieval)

    assert contents(answer) == ["annual leave"]
    assert answer.results[0].source.page is None


def test_the_page_is_that_of_the_whole_passage_even_if_it_is_cut(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase], place_maps: FakePlaceMaps
) -> None:
    text = "Annual leave is 30 days. " * 40
    place_maps.put("doc-handbook.pdf", ["Annual leave is 30 days. Ask!", text])
    pool["KB1"].put(text, filename="handbook.pdf", score=0.9)

    answer = search(retrieval, max_tokens=101)

    # Room for 401 characters.
    assert (
        answer.results[0].content
        == "Annual leave is 30 days. " * 15 + "Annual leave is 30 days...."
    )
    assert answer.results[0].source.page == 2


def test_of_a_whole_document_that_is_cut_the_pages_are_those_of_what_is_shown(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase], place_maps: FakePlaceMaps
) -> None:
    opening = "The first page says this. " * 15
    rest = f"The last pages say that, {'and that' * 20}, and more. " * 10
    pool["KB1"].put(opening + rest, filename="whole.pdf")
    whole = Place(page=3, page_first=1, page_last=5)
    # The first that holds a text tells its place: the opening stands in both.
    place_maps.put_place("doc-whole.pdf", opening, Place(page=1, page_first=1, page_last=1))
    place_maps.put_place("doc-whole.pdf", opening + rest, whole)

    [cut] = search(retrieval, max_tokens=101).results
    [complete] = search(retrieval, max_tokens=4_000).results

    assert cut.content == opening.rstrip() + "..."
    assert (cut.source.page, cut.source.page_last) == (1, 1)
    assert (complete.source.page, complete.source.page_last) == (3, 5)


def test_metadata_is_what_the_owner_attached_and_nothing_internal(
    retrieval: Retrieval, pool: dict[str, FakeKnowledgeBase]
) -> None:
    attributes = {
        "domain": "hr",
        "uploaded_at": "2026-02-03T10:30:00Z",
        "x-amz-bedrock-kb-chunk-id": "1",
    }
    pool["KB1"].put("annual leave", attributes=attributes)

    result = search(retrieval).results[0]

    assert result.attributes == {"domain": "hr", "uploaded_at": "2026-02-03T10:30:00Z"}
    assert result.source.catalog_id == "cat-1"
    assert result.source.uri == "s3://docs/alice/cat-1/handbook.txt"
