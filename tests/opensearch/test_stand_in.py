"""The stand-in for OpenSearch Serverless, through opensearch-py."""

import hashlib
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
import urllib3
from botocore.credentials import Credentials
from opensearchpy import Urllib3AWSV4SignerAuth
from opensearchpy.exceptions import TransportError

from bedrock_kb_simulator.server import Configuration, Simulator
from docs import opensearch_rules as rules
from docs.fidelity import holders
from stackroom_stores.opensearch.index_layout import creation
from tests.opensearch.collection import STRANGER, Collection, credentials, mounted
from tests.opensearch.stand_in import REGION

pytestmark = pytest.mark.processes
_NEAREST = {"vector": [1.0, 0.0], "k": 1}
Test = TypeVar("Test", bound=Callable[..., None])
AXES = {"east": [1.0, 0.0], "north": [0.0, 1.0], "west": [-1.0, 0.0]}


def holds(*names: str) -> Callable[[Test], Test]:
    """Mark a test that fails where the stand-in breaks these rules; docs/fidelity.py reads it."""
    assert rules.RULES.keys() >= set(names)
    return lambda test: test


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("simulator")
    configuration = Configuration(
        data_dir=folder, s3_endpoint="http://127.0.0.1:1", mounted=mounted()
    )
    with Simulator(configuration) as simulator:
        yield simulator.endpoint


@pytest.fixture(scope="module")
def shelf(endpoint: str) -> Iterator[Collection]:
    """A collection with three documents in its one index; read only."""
    made = Collection.at(endpoint)
    made.fill("docs", _body(), _documents())
    yield made
    made.close()


@pytest.fixture
def collection(endpoint: str) -> Iterator[Collection]:
    made = Collection.at(endpoint)
    yield made
    made.close()


def _body(space: str = "cosinesimil", engine: str = "faiss") -> dict[str, Any]:
    body = creation(dimensions=2)
    body["mappings"]["properties"]["vector"]["method"] |= {"space_type": space, "engine": engine}
    return body


def _documents() -> list[dict[str, Any]]:
    return [
        {
            "vector": vector,
            "text": f"to the {name}",
            "metadata": {"domain": name, "rank": rank, "groups": ["all", name]},
        }
        for rank, (name, vector) in enumerate(AXES.items())
    ]


def _knn(vector: list[float], k: int = 3, **more: Any) -> dict[str, Any]:
    return {"size": k, "query": {"knn": {"vector": {"vector": vector, "k": k, **more}}}}


def _found(answer: Any) -> list[str]:
    return [each["_source"]["metadata"]["domain"] for each in answer["hits"]["hits"]]


def _refused(call: Callable[..., Any], **asked: Any) -> tuple[Any, str]:
    """Status, and OpenSearch's reason."""
    with pytest.raises(TransportError) as caught:
        call(**asked)
    answered = caught.value.info
    assert isinstance(answered, dict)
    return caught.value.status_code, answered["error"]["reason"]


@holds("knn.scores")
@pytest.mark.parametrize(
    ("space", "scores"),
    [
        ("cosinesimil", [1.0, 0.5, 0.0]),
        ("l2", [1.0, 1 / 3, 1 / 5]),
        ("innerproduct", [2.0, 1.0, 1 / 2]),
    ],
)
def test_scores_follow_from_the_space(
    collection: Collection, space: str, scores: list[float]
) -> None:
    collection.fill("docs", _body(space), _documents())

    answer = collection.client().search(index="docs", body=_knn([1.0, 0.0]))

    assert [each["_score"] for each in answer["hits"]["hits"]] == pytest.approx(scores)


@holds("knn.k", "opensearch.document-field")
def test_knn_counts_only_filtered_documents_and_writes_must_fit_mapping(
    shelf: Collection,
) -> None:
    west = {"term": {"metadata.domain": "west"}}
    nearest = {"knn": {"vector": _NEAREST}}
    reader, writer = shelf.client(), shelf.client("writer")

    within = reader.search(index="docs", body=_knn([1.0, 0.0], k=1, filter=west))
    behind = {"query": {"bool": {"must": [nearest], "filter": [west]}}}
    short = _refused(writer.index, index="docs", body={"vector": [1.0]})
    text = _refused(writer.index, index="docs", body={"metadata": {"rank": "first"}})

    assert _found(within) == ["west"]
    assert _found(reader.search(index="docs", body=behind)) == []
    assert _refused(reader.search, index="docs", body=_knn([1.0, 0.0], k=0))[0] == 400
    assert short == (400, "failed to parse field [vector] of type [knn_vector]")
    assert text == (400, "failed to parse field [metadata.rank] of type [double]")


@holds("aoss.dimension", "aoss.engine", "knn.engine-filter")
def test_an_index_must_suit_a_collection_and_a_filter_its_engine(collection: Collection) -> None:
    create = collection.client("writer").indices.create
    refusals = []
    for about in ({"dimension": 16_001}, {"method": {"name": "hnsw", "engine": "lucene"}}):
        body = _body()
        body["mappings"]["properties"]["vector"] |= about
        refusals.append(_refused(create, index="docs", body=body))
    collection.fill("docs", _body(engine="nmslib"), _documents())
    filtered = _knn([1.0, 0.0], filter={"match_all": {}})

    refusals.append(_refused(collection.client().search, index="docs", body=filtered))

    assert [status for status, _ in refusals] == [400] * 3
    words = ("16000", "faiss", "does not support filters")
    assert all(word in reason for word, (_, reason) in zip(words, refusals, strict=True))


@holds(
    "opensearch.unknown-query",
    "opensearch.unknown-key",
    "opensearch.malformed",
    "opensearch.window",
    "knn.dimension",
    "knn.field",
)
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"query": {"hybrid": {"queries": []}}}, "unknown query [hybrid]"),
        (_knn([1.0, 0.0], filters={}), "[knn] query does not support [filters]"),
        ({"knn": {}}, "[search] query does not support [knn]"),
        ({"query": {"term": "finance"}}, "[term] malformed query"),
        ({"size": 10_001}, "[10000] but was [10001]"),
        (_knn([1.0, 0.0, 0.0]), "invalid dimension: 3. Dimension should be: 2"),
        ({"query": {"knn": {"text": _NEAREST}}}, "Field 'text' is not knn_vector type."),
    ],
)
def test_a_query_of_another_form_is_refused(
    shelf: Collection, body: dict[str, Any], reason: str
) -> None:
    status, said = _refused(shelf.client().search, index="docs", body=body)

    assert (status, reason in said) == (400, True)


@holds("opensearch.match")
def test_words_are_ranked_by_bm25(collection: Collection) -> None:
    texts = ["the cat", "the dog and the dog", "the the the"]
    documents = [
        {"vector": [1.0, 0.0], "text": text, "metadata": {"domain": text}} for text in texts
    ]
    collection.fill("docs", _body(), documents)

    answer = collection.client().search(index="docs", body={"query": {"match": {"text": "Dog!"}}})

    # By hand: one of three texts has it, twice, among five words where the average is 10 / 3.
    weight = math.log(1 + 2.5 / 1.5)
    right = weight * 2 / (2 + 1.2 * (0.25 + 0.75 * 5 / (10 / 3)))
    assert _found(answer) == ["the dog and the dog"]
    assert answer["hits"]["hits"][0]["_score"] == pytest.approx(right)


def test_several_searches_in_one_call_are_answered_each_for_itself(shelf: Collection) -> None:
    lines = [{}, _knn([0.0, 1.0], k=1), {}, {"query": {"hybrid": {}}}]

    good, bad = shelf.client().msearch(index="docs", body=lines)["responses"]

    assert (good["status"], _found(good)) == (200, ["north"])
    assert (bad["status"], bad["error"]["type"]) == (400, "parsing_exception")


@holds("opensearch.no-index", "opensearch.index-exists", "aoss.operation", "aoss.collection")
def test_missing_and_duplicate_indexes_are_refused(collection: Collection) -> None:
    writer = collection.client("writer")
    elsewhere = Collection(collection.simulator, "nowhere")
    missing = _refused(writer.search, index="docs", body={})
    collection.fill("docs", _body(), _documents())
    [hit] = writer.search(index="docs", body=_knn([1.0, 0.0], k=1))["hits"]["hits"]

    twice = _refused(writer.indices.create, index="docs", body=_body())
    named = _refused(writer.index, index="docs", id="mine", body={})
    nowhere = _refused(elsewhere.client("writer").search, index="docs", body={})
    elsewhere.close()
    writer.delete(index="docs", id=hit["_id"])
    left = _found(writer.search(index="docs", body=_knn([1.0, 0.0])))
    writer.indices.delete(index="docs")

    assert missing == (404, "no such index [docs]")
    assert twice == (400, "index [docs] already exists")
    assert named == (
        404,
        f"no handler found for uri [/aoss/{collection.name}/docs/_doc/mine] and method [PUT]",
    )
    assert nowhere == (404, "no such collection [nowhere]")
    assert left == ["north", "west"]
    assert _refused(writer.search, index="docs", body={})[0] == 404


@holds("aoss.access")
def test_policy_grants_actions_on_indexes_to_principals(collection: Collection) -> None:
    collection.fill("docs", _body(), _documents())
    collection.fill("others", _body(), _documents())
    stranger = collection.client("stranger")
    before = _refused(stranger.search, index="docs", body={})

    policy = collection.allow(STRANGER, ["aoss:ReadDocument"], index="docs")
    found = _found(stranger.search(index="docs", body={}))

    assert before == (403, "403 Forbidden")
    assert sorted(found) == ["east", "north", "west"]
    assert _refused(stranger.search, index="others", body={})[0] == 403
    assert _refused(stranger.indices.get_mapping, index="docs")[0] == 403
    assert _refused(stranger.index, index="docs", body={})[0] == 403
    collection.drop_policy(policy)
    assert _refused(stranger.search, index="docs", body={})[0] == 403
    for form in ("no JSON", "[{}]", '[{"Rules": [], "Principal": ["x"]}]'):
        with pytest.raises(ValueError, match="Policy json is invalid"):
            collection.put_policy(form)


@holds("aoss.signature")
@pytest.mark.parametrize(
    "signed",
    [
        Urllib3AWSV4SignerAuth(Credentials("reader", "wrong"), REGION, "aoss"),
        Urllib3AWSV4SignerAuth(Credentials("reader", "of-reader"), REGION, "es"),
        Urllib3AWSV4SignerAuth(Credentials("reader", "of-reader"), "eu-west-1", "aoss"),
        Urllib3AWSV4SignerAuth(Credentials("reader", "of-reader", "a token"), REGION, "aoss"),
        None,
    ],
    ids=["secret", "service", "region", "token", "unsigned"],
)
def test_a_request_that_is_not_signed_right_is_forbidden(shelf: Collection, signed: Any) -> None:
    client = shelf.client(http_auth=signed)

    assert _refused(client.search, index="docs", body={}) == (403, "403 Forbidden")


@holds("aoss.signature")
def test_a_signed_request_can_not_be_changed(shelf: Collection) -> None:
    url, body = f"{shelf.endpoint}/docs/_search", b'{"size": 1}'
    sign = Urllib3AWSV4SignerAuth(credentials("reader"), REGION, "aoss")
    headers = {"content-type": "application/json", **sign("POST", url, body)}
    other = b'{"size": 9}'
    rehashed = {**headers, "X-Amz-Content-SHA256": hashlib.sha256(other).hexdigest()}
    unhashed = {k: v for k, v in headers.items() if k != "X-Amz-Content-SHA256"}
    old = {**headers, "X-Amz-Date": "20200101T000000Z"}

    def status(body: bytes, headers: dict[str, str], url: str = url) -> int:
        return urllib3.request("POST", url, body=body, headers=headers).status

    assert status(body, headers) == 200
    assert status(other, headers) == 403
    assert status(other, rehashed) == 403
    assert status(body, unhashed) == 403
    assert status(body, old) == 403
    assert status(body, headers, f"{url}?timeout=1s") == 403


def test_every_rule_is_used_and_held_by_a_test() -> None:
    folder = Path(__file__).parent
    code = "\n".join(path.read_text() for path in folder.glob("*.py"))
    constants = {name: each for name, each in vars(rules).items() if isinstance(each, rules.Rule)}

    assert [n for n, each in constants.items() if n not in code and each.name not in code] == []
    assert [name for name, tests in holders(rules.RULES, folder).items() if not tests] == []
