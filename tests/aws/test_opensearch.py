"""The knowledge base over OpenSearch Serverless, against the stand-in and by its raw requests."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.credentials import Credentials, RefreshableCredentials

from bedrock_kb_simulator.server import Configuration, Simulator
from stackroom.access.tenancy import Owned
from stackroom.aws import session
from stackroom.clock import Deadline
from stackroom.errors import (
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    SearchRefused,
)
from stackroom.model.filters import Compares, Comparison, Filter, Has, Lists
from stackroom.model.passages import Search
from stackroom.search.cached_embeddings import Vector
from stackroom_stores.opensearch.collection import Collection as Client
from stackroom_stores.opensearch.index_layout import Fields, creation, layout_of
from stackroom_stores.opensearch.opensearch_adapter import (
    OpenSearchKnowledgeBase,
    hits_in,
)
from stackroom_stores.opensearch.opensearch_entry import OpenSearchSettings
from stackroom_stores.opensearch.opensearch_filters import rendered
from tests.opensearch.collection import PRINCIPALS, Collection, mounted
from tests.opensearch.stand_in import REGION, Fault, Kind

pytestmark = pytest.mark.processes
FAULTS: list[Fault] = []
DOCUMENTS: Sequence[tuple[str, Vector, dict[str, Any]]] = (
    ("Leave is 30 days a year.", (1.0, 0.0), {"domain": "hr", "taxonomy": "leave", "year": 2024}),
    ("Ledgers close in May.", (0.8, 0.6), {"domain": "finance", "taxonomy": "GL", "year": 2025}),
    (
        "Invoices are paid in June.",
        (0.0, 1.0),
        {"domain": "finance", "taxonomy": "AP", "year": 2.5},
    ),
    ("Nothing like it.", (-1.0, 0.0), {"domain": "other", "draft": True}),
)


OPEN: list[Client] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


def _client(endpoint: str, credentials: Any, region: str | None = REGION) -> Client:
    OPEN.append(Client(endpoint, credentials=credentials, region=region))
    return OPEN[-1]


@dataclass
class Fixed:
    """`Embeddings` of two dimensions, which find the same near to every question."""

    vector: Vector = (1.0, 0.0)
    provider: str = "test"
    model: str = "a-model"

    @property
    def dimensions(self) -> int:
        return len(self.vector)

    def embed(self, text: str) -> Vector:
        return self.vector


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    configuration = Configuration(
        data_dir=tmp_path_factory.mktemp("simulator"),
        s3_endpoint="http://127.0.0.1:1",
        speed=100.0,
        mounted=mounted(FAULTS),
    )
    with Simulator(configuration) as simulator:
        yield simulator.endpoint


@pytest.fixture
def collection(endpoint: str) -> Iterator[Collection]:
    made = Collection.at(endpoint)
    yield made
    made.close()
    FAULTS.clear()


@pytest.fixture
def filled(collection: Collection) -> Collection:
    collection.fill("docs", creation(dimensions=2), [_document(*each) for each in DOCUMENTS])
    return collection


def _document(text: str, vector: Vector, metadata: dict[str, Any]) -> dict[str, Any]:
    return {"text": text, "vector": list(vector), "metadata": metadata}


def _knowledge_base(
    collection: Collection,
    *,
    embeddings: Fixed | None = None,
    key: str = "reader",
    index: str = "docs",
    search: Search = Search.SEMANTIC,
) -> OpenSearchKnowledgeBase:
    credentials = Credentials(key, PRINCIPALS[key].secret_key)
    return OpenSearchKnowledgeBase(
        _client(collection.endpoint, credentials),
        index,
        embeddings=embeddings or Fixed(),
        search=search,
    )


def _texts(collection: Collection, condition: Filter | None, limit: int = 10) -> list[str]:
    found = _knowledge_base(collection).retrieve("a question", condition, limit)
    return [each.text for each in found.passages]


def test_passages_come_nearest_first_with_cosine_and_metadata(
    filled: Collection,
) -> None:
    metadata = {"source": "s3://docs/x/handbook.pdf", "page": 3, "chunk_id": "c-7"}
    filled.client("writer").index(index="docs", body=_document("The page.", (0.96, 0.28), metadata))

    found = _knowledge_base(filled).retrieve("a question", None, 3)

    assert found.search is Search.SEMANTIC
    assert [each.text for each in found.passages] == [
        "Leave is 30 days a year.",
        "The page.",
        "Ledgers close in May.",
    ]
    assert [each.similarity for each in found.passages] == pytest.approx([1.0, 0.96, 0.8])
    assert [each.score for each in found.passages] == pytest.approx([1.0, 0.98, 0.9])
    page = found.passages[1]
    assert (page.uri, page.page, page.custom_id) == ("s3://docs/x/handbook.pdf", 3, None)
    assert page.attributes == metadata


@pytest.mark.parametrize("space", ["l2", "innerproduct"])
def test_cosine_is_the_same_in_any_space_and_needs_unit_vectors(
    collection: Collection, space: str
) -> None:
    body = creation(dimensions=2)
    body["mappings"]["properties"]["vector"]["method"]["space_type"] = space
    collection.fill("docs", body, [_document(*each) for each in DOCUMENTS])
    collection.fill("long", body, [_document("long", (-9.0, 0.0), {})])

    found = _knowledge_base(collection).retrieve("a question", None, 4)

    cosines = [1.0, 0.8, 0.0, -1.0]
    assert [each.similarity for each in found.passages] == pytest.approx(cosines, abs=1e-6)
    assert [each.score for each in found.passages] == pytest.approx([1.0, 0.9, 0.5, 0.0], abs=1e-6)
    with pytest.raises(KnowledgeBaseUnavailable, match="no vectors of length one"):
        _knowledge_base(collection, index="long").retrieve("a question", None, 1)


def test_bare_text_is_not_a_list_and_more_passages_are_requested(
    collection: Collection,
) -> None:
    bare = [_document(f"bare {n}", (1.0, 0.0), {"groups": "staff"}) for n in range(5)]
    listed = _document("listed", (0.0, 1.0), {"groups": ["staff", "board"]})
    collection.fill("docs", creation(dimensions=2), [*bare, listed])

    assert _texts(collection, Lists("groups", "staff"), 2) == ["listed"]
    assert len(_texts(collection, Has("groups", "staff"), 10)) == 6


def test_index_with_dynamic_mapping_is_filtered_by_its_keyword_fields(
    collection: Collection,
) -> None:
    body = creation(dimensions=2)
    del body["mappings"]["dynamic_templates"]
    collection.fill("docs", body, [_document(*each) for each in DOCUMENTS[:2]])

    assert _texts(collection, Has("domain", "finance")) == ["Ledgers close in May."]
    assert _texts(collection, Compares("year", Comparison.GREATER, 2024)) == [
        "Ledgers close in May."
    ]
    with pytest.raises(SearchRefused, match="256"):
        _texts(collection, Compares("domain", Comparison.NOT_EQUALS, "x" * 257))


@pytest.mark.parametrize(
    ("shards", "message"),
    [
        ({"total": 2, "successful": 1, "skipped": 0, "failed": 0}, "1 of 2 shards answered"),
        ({"total": 2, "successful": 1, "skipped": 0, "failed": 1}, "1 of 2 shards failed"),
        ({"total": True, "successful": True, "failed": False}, "no count of shards"),
    ],
)
def test_answer_of_only_some_shards_is_unavailable(shards: dict[str, object], message: str) -> None:
    answer = {"timed_out": False, "_shards": shards, "hits": {"hits": []}}

    with pytest.raises(KnowledgeBaseUnavailable, match=message):
        hits_in(answer, Fields())


def _answered(*hits: object, **members: object) -> dict[str, object]:
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    return {"timed_out": False, "_shards": shards, "hits": {"hits": list(hits)}, **members}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([], "no object"),
        (_answered(timed_out=True), "a part of its answer"),
        (_answered(terminated_early=True), "a part of its answer"),
        (_answered(hits={}), "no hits"),
        (_answered("hit"), "a hit that is no object"),
        (_answered({"_score": 1.0, "_source": {"text": None}}), "a hit without 'text'"),
        (_answered({"_score": None, "_source": {"text": "a"}}), "a hit without a score"),
    ],
)
def test_incomplete_or_malformed_answer_is_unavailable(answer: object, message: str) -> None:
    with pytest.raises(KnowledgeBaseUnavailable, match=message):
        hits_in(answer, Fields())


class Answering:
    """A collection with one answer to each operation."""

    def __init__(self, *answers: object, mapping: object) -> None:
        self.answers = answers
        self.of_mapping = mapping

    def mapping(self, *_: object) -> object:
        return self.of_mapping

    def multi_search(self, *_: object) -> object:
        return {"responses": list(self.answers)}


@pytest.mark.parametrize(
    ("collection", "expected"),
    [
        (Answering(mapping={}), "not one index's mapping"),
        (Answering(_answered(), mapping={"docs": creation(dimensions=2)}), "not as many answers"),
        (
            Answering(_answered(), {"status": 503}, mapping={"docs": creation(dimensions=2)}),
            "MultiSearch answered 503",
        ),
    ],
)
def test_hybrid_search_needs_the_answers_of_both_its_searches(
    collection: Any, expected: str
) -> None:
    knowledge_base = OpenSearchKnowledgeBase(
        collection, "docs", embeddings=Fixed(), search=Search.HYBRID
    )

    with pytest.raises(KnowledgeBaseUnavailable, match=expected):
        knowledge_base.retrieve("a question", None, 1)


def test_passage_found_by_its_words_alone_has_its_own_similarity(collection: Collection) -> None:
    near = [_document("near", (1.0, 0.0), {}) for _ in range(100)]
    collection.fill("docs", creation(dimensions=2), [*near, _document("ledger", (0.6, 0.8), {})])

    found = _knowledge_base(collection, search=Search.HYBRID).retrieve("ledger", None, 3)

    similarities = {each.text: each.similarity for each in found.passages}
    assert similarities == pytest.approx({"near": 1.0, "ledger": 0.6})


def test_nmslib_is_searched_without_a_filter_and_by_meaning_alone(collection: Collection) -> None:
    body = creation(dimensions=2)
    body["mappings"]["properties"]["vector"]["method"]["engine"] = "nmslib"
    collection.fill("docs", body, [_document(*each) for each in DOCUMENTS])

    assert len(_texts(collection, None)) == 4
    with pytest.raises(SearchRefused, match="nmslib"):
        _texts(collection, Has("domain", "hr"))
    with pytest.raises(SearchRefused, match="nmslib"):
        _knowledge_base(collection, search=Search.HYBRID).retrieve("a question", None, 1)


@pytest.mark.parametrize(
    ("kind", "error"),
    [(Kind.THROTTLE, KnowledgeBaseThrottled), (Kind.DROPPED, KnowledgeBaseUnavailable)],
)
def test_transient_search_error_is_retried_twice_within_the_deadline(
    filled: Collection, kind: Kind, error: type[Exception]
) -> None:
    knowledge_base = _knowledge_base(filled)

    FAULTS.append(Fault(operation="Search", kind=kind, times=2, where=filled.name))
    assert len(knowledge_base.retrieve("a question", None, 4).passages) == 4
    FAULTS.append(Fault(operation="Search", kind=kind, times=3, where=filled.name))
    with pytest.raises(error):
        knowledge_base.retrieve("a question", None, 1)

    FAULTS.append(Fault(operation="Search", kind=kind, times=3, where=filled.name))
    with pytest.raises(error):
        knowledge_base.retrieve("a question", None, 1, deadline=Deadline.after(0.09))
    assert FAULTS[-1].times == 2


def test_attributes_in_objects_are_named_as_filters_name_them(collection: Collection) -> None:
    nested: dict[str, Any] = {
        "owner": {"id": "alice", "groups": ["hr", "law"]},
        "seen": [{"by": "x"}, {"by": "y"}],
    }
    foreign: dict[str, Any] = {"owner": {"id": "bob"}, "owner.id": "alice"}
    documents: Sequence[tuple[str, Vector, dict[str, Any]]] = [
        ("Of alice.", (1.0, 0.0), nested),
        ("Of both.", (1.0, 0.0), foreign),
    ]
    collection.fill("docs", creation(dimensions=2), [_document(*each) for each in documents])
    knowledge_base = _knowledge_base(collection)
    view = Owned("owner.id", "alice")

    listed = knowledge_base.retrieve("a question", Lists("owner.groups", "law"), 5)
    found = knowledge_base.retrieve("a question", view.filter(), 5)
    proven = view.proven(found.passages, catalog_of=lambda _: None)

    assert [each.text for each in listed.passages] == ["Of alice."]
    assert [each.text for each in proven] == ["Of alice."]
    assert proven[0].attributes == {
        "owner.id": "alice",
        "owner.groups": ["hr", "law"],
        "seen.by": ["x", "y"],
    }


@pytest.mark.parametrize(
    "about",
    [
        {"type": "keyword", "normalizer": "lowercase"},
        {"type": "keyword", "null_value": "alice"},
        {"type": "text", "fields": {"raw": {"type": "keyword", "normalizer": "lowercase"}}},
    ],
)
@pytest.mark.parametrize(
    "condition",
    [
        Has("owner", "alice"),
        Compares("owner", Comparison.STARTS_WITH, "al"),
    ],
)
def test_filter_on_a_normalized_field_is_refused(about: dict[str, Any], condition: Filter) -> None:
    mapping = creation()["mappings"]
    mapping["properties"]["metadata"] = {"properties": {"owner": about}}
    layout = layout_of(mapping, Fields(), index="docs")

    with pytest.raises(SearchRefused, match=r"keyword with (normalizer|null_value)"):
        rendered(condition, layout.attributes)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"key": "stranger"}, "403: check that the role may aoss:APIAccessAll"),
        ({"index": "nowhere"}, "404: the collection has no index 'nowhere'"),
        ({"embeddings": Fixed((1.0, 0.0, 0.0))}, "of 2 dimensions, and a-model makes them of 3"),
    ],
)
def test_permanent_refusal_says_what_to_change(
    filled: Collection, asked: dict[str, Any], named: str
) -> None:
    with pytest.raises(SearchRefused, match=named):
        _knowledge_base(filled, **asked).retrieve("a question", None, 1)


@pytest.mark.parametrize(
    ("about", "named"),
    [
        ({"method": {"name": "hnsw", "engine": "faiss", "space_type": "l1"}}, "by 'l1'"),
        ({"type": "keyword"}, "no knn_vector field 'vector'"),
    ],
)
def test_an_index_that_can_not_be_searched_is_refused(
    collection: Collection, about: dict[str, Any], named: str
) -> None:
    body = creation(dimensions=2)
    body["mappings"]["properties"]["vector"] |= about
    collection.fill("docs", body, [])

    with pytest.raises(SearchRefused, match=named):
        _knowledge_base(collection).retrieve("a question", None, 1)


def test_index_without_its_text_field_is_refused() -> None:
    fields = Fields(text="body")

    with pytest.raises(SearchRefused, match="index 'docs' has no field 'body'"):
        layout_of(creation()["mappings"], fields, index="docs")


def test_credentials_that_expire_are_renewed_before_each_call(filled: Collection) -> None:
    reader = PRINCIPALS["reader"]
    renewals: list[str] = []

    def renewed() -> dict[str, str]:
        # Within the ten minutes in which botocore renews before it signs, so it does each time.
        soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 60))
        renewals.append(soon)
        keys = {"access_key": "reader", "secret_key": reader.secret_key, "token": ""}
        return {**keys, "expiry_time": soon}

    credentials = RefreshableCredentials.create_from_metadata(renewed(), renewed, "test")
    client = _client(filled.endpoint, credentials)
    for _ in range(2):
        client.mapping("docs", Deadline.after(5))

    assert len(renewals) == 3


@pytest.mark.parametrize(
    ("condition", "named"),
    [
        (Compares("year", Comparison.NOT_EQUALS, "2024"), "'year'"),
        (Has("domain", "x" * 8192), "8191"),
        (Compares("year", Comparison.GREATER, "2"), "needs a number"),
        (Compares("domain", Comparison.STRING_CONTAINS, 2), "needs a text"),
    ],
)
def test_filter_that_the_index_cannot_compare_is_refused(
    filled: Collection, condition: Filter, named: str
) -> None:
    with pytest.raises(SearchRefused, match=named):
        _texts(filled, condition)


def test_entry_is_searched_by_its_settings_with_the_sessions_credentials(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection.fill("docs", creation(dimensions=2), [_document("Leave.", (0.6, 0.8), {})])
    credentials = Credentials("reader", PRINCIPALS["reader"].secret_key)
    monkeypatch.setattr(session, "credentials", lambda: credentials)
    monkeypatch.setattr(session, "region", lambda: REGION)
    entry = {
        "knowledgeBaseId": "laws",
        "name": "Laws",
        "description": "The laws of leave.",
        "vectorStoreType": "OPENSEARCH_SERVERLESS",
        "collectionEndpoint": collection.endpoint,
        "tenancy": "shared",
        "indexName": "docs",
        "overrideSearchType": "HYBRID",
    }
    embeddings: Any = SimpleNamespace(of=lambda *_: Fixed())

    knowledge_base = OpenSearchSettings.model_validate(entry).searched(str, embeddings)
    found = knowledge_base.retrieve("leave", None, 1)

    assert [each.text for each in found.passages] == ["Leave."]
    assert found.search is Search.HYBRID


def test_missing_credentials_or_region_is_refused_and_no_host_unavailable() -> None:
    nowhere = "http://127.0.0.1:1"
    for credentials, region in ((None, REGION), (Credentials("a", "b"), None)):
        with pytest.raises(SearchRefused, match="to sign searches with"):
            _client(nowhere, credentials, region)

    with pytest.raises(KnowledgeBaseUnavailable, match="GetMapping answered ConnectionError"):
        _client(nowhere, Credentials("a", "b")).mapping("docs", Deadline.after(0.05))
