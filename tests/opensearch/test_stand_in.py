"""The stand-in for OpenSearch Serverless, through opensearch-py."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.credentials import Credentials
from opensearchpy import Urllib3AWSV4SignerAuth
from opensearchpy.exceptions import TransportError

from bedrock_kb_simulator.server import Configuration, Simulator
from stackroom_stores.opensearch.index_layout import creation
from tests.opensearch.collection import STRANGER, Collection, mounted
from tests.opensearch.stand_in import REGION

pytestmark = pytest.mark.processes
_NEAREST = {"vector": [1.0, 0.0], "k": 1}
AXES = {"east": [1.0, 0.0], "north": [0.0, 1.0], "west": [-1.0, 0.0]}


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
    made.fill("docs", creation(dimensions=2), _documents())
    yield made
    made.close()


@pytest.fixture
def collection(endpoint: str) -> Iterator[Collection]:
    made = Collection.at(endpoint)
    yield made
    made.close()


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


def test_policy_grants_actions_on_indexes_to_principals(collection: Collection) -> None:
    collection.fill("docs", creation(dimensions=2), _documents())
    collection.fill("others", creation(dimensions=2), _documents())
    stranger = collection.client("stranger")
    before = _refused(stranger.search, index="docs", body={})

    collection.allow(STRANGER, ["aoss:ReadDocument"], index="docs")
    found = _found(stranger.search(index="docs", body={}))

    assert before == (403, "403 Forbidden")
    assert sorted(found) == ["east", "north", "west"]
    assert _refused(stranger.search, index="others", body={})[0] == 403
    assert _refused(stranger.indices.get_mapping, index="docs")[0] == 403
    assert _refused(stranger.index, index="docs", body={})[0] == 403
    for form in ("no JSON", "[{}]", '[{"Rules": [], "Principal": ["x"]}]'):
        with pytest.raises(ValueError, match="Policy json is invalid"):
            collection.put_policy(form)


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
