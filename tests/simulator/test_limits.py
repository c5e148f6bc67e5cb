"""The service model's limits: what is just inside is taken, what is just outside refused."""

from copy import deepcopy
from typing import Any

import pytest
from botocore.session import get_session

from stackroom_local.simulator.assumptions import Assumptions
from stackroom_local.simulator.clock import Clock
from stackroom_local.simulator.errors import ServiceError
from stackroom_local.simulator.quotas import Quotas
from stackroom_local.simulator.rates import Rates
from stackroom_local.simulator.rules import RATES
from stackroom_local.simulator.validation import validate
from tests.simulator.holding import holds
from tests.simulator.world import data_source_request, inline, knowledge_base_request

Path = tuple[str | int, ...]

HOME = {"knowledgeBaseId": "KB00000000", "dataSourceId": "DS00000000"}
INDEX = "arn:aws:s3vectors:us-east-1:000000000000:bucket/vectors/index/passages"
BY_URI = {"dataSourceType": "S3", "s3": {"uri": "s3://documents/a.txt"}}
BY_LOCATION: dict[str, dict[str, Any]] = {
    "content": {
        "dataSourceType": "CUSTOM",
        "custom": {
            "customDocumentIdentifier": {"id": "a"},
            "sourceType": "S3_LOCATION",
            "s3Location": {"uri": "s3://documents/a.txt"},
        },
    }
}
BYTES = {
    "content": {
        "dataSourceType": "CUSTOM",
        "custom": {
            **BY_LOCATION["content"]["custom"],
            "inlineContent": {
                "type": "BYTE",
                "byteContent": {"mimeType": "text/plain", "data": b"text"},
            },
        },
    }
}
FIXED = {
    "chunkingConfiguration": {
        "chunkingStrategy": "FIXED_SIZE",
        "fixedSizeChunkingConfiguration": {"maxTokens": 100, "overlapPercentage": 10},
    }
}
CONDITION = {"equals": {"key": "city", "value": "Rome"}}
# A valid request of each operation, which the cases below change in one place.
REQUESTS: dict[str, dict[str, Any]] = {
    "bedrock-agent.CreateKnowledgeBase": knowledge_base_request(INDEX, "name"),
    "bedrock-agent.CreateDataSource": {
        **data_source_request("KB00000000", "documents", "prefix/"),
        "vectorIngestionConfiguration": FIXED,
    },
    "bedrock-agent.StartIngestionJob": HOME,
    "bedrock-agent.ListIngestionJobs": {
        **HOME,
        "filters": [{"attribute": "STATUS", "operator": "EQ", "values": ["COMPLETE"]}],
        "sortBy": {"attribute": "STATUS", "order": "ASCENDING"},
    },
    "bedrock-agent.IngestKnowledgeBaseDocuments": {
        **HOME,
        "documents": [inline("a", "text", owner="alice"), BY_LOCATION, BYTES],
    },
    "bedrock-agent.GetKnowledgeBaseDocuments": {**HOME, "documentIdentifiers": [BY_URI]},
    "bedrock-agent.ListKnowledgeBaseDocuments": HOME,
    "bedrock-agent-runtime.Retrieve": {
        "knowledgeBaseId": "KB00000000",
        "retrievalQuery": {"text": "cities"},
        "retrievalConfiguration": {
            "vectorSearchConfiguration": {
                "numberOfResults": 5,
                "filter": {"andAll": [CONDITION, CONDITION]},
            }
        },
    },
    "bedrock-agent-runtime.RetrieveAndGenerate": {"input": {"text": "cities"}},
    "s3vectors.CreateIndex": {
        "vectorBucketName": "vectors",
        "indexName": "passages",
        "dataType": "float32",
        "dimension": 1024,
        "distanceMetric": "cosine",
        "metadataConfiguration": {"nonFilterableMetadataKeys": ["AMAZON_BEDROCK_TEXT"]},
    },
}
SOURCE = "bedrock-agent.CreateDataSource"
AGENT_NAME = (SOURCE, ("name",))
TOKEN = ("bedrock-agent.StartIngestionJob", ("clientToken",))
PREFIXES = (SOURCE, ("dataSourceConfiguration", "s3Configuration", "inclusionPrefixes"))
FIXED_SIZE = ("chunkingConfiguration", "fixedSizeChunkingConfiguration")
OVERLAP = (SOURCE, ("vectorIngestionConfiguration", *FIXED_SIZE, "overlapPercentage"))
INGEST = "bedrock-agent.IngestKnowledgeBaseDocuments"
DOCUMENTS: tuple[str, Path] = (INGEST, ("documents",))
ATTRIBUTES: tuple[str, Path] = (INGEST, ("documents", 0, "metadata", "inlineAttributes"))
KEY: tuple[str, Path] = (*ATTRIBUTES[:1], (*ATTRIBUTES[1], 0, "key"))
VALUE: tuple[str, Path] = (*ATTRIBUTES[:1], (*ATTRIBUTES[1], 0, "value"))
CUSTOM_ID: tuple[str, Path] = (
    INGEST,
    ("documents", 0, "content", "custom", "customDocumentIdentifier", "id"),
)
URI: tuple[str, Path] = (INGEST, ("documents", 1, "content", "custom", "s3Location", "uri"))
DATA: tuple[str, Path] = (
    INGEST,
    ("documents", 2, "content", "custom", "inlineContent", "byteContent", "data"),
)
IDENTIFIERS = ("bedrock-agent.GetKnowledgeBaseDocuments", ("documentIdentifiers",))
IDENTIFIER: tuple[str, Path] = (IDENTIFIERS[0], ("documentIdentifiers", 0, "s3", "uri"))
SEARCH = ("retrievalConfiguration", "vectorSearchConfiguration")
RETRIEVE = "bedrock-agent-runtime.Retrieve"
FIRST_KEY: tuple[str, Path] = (RETRIEVE, (*SEARCH, "filter", "andAll", 0, "equals", "key"))
KEYS = ("s3vectors.CreateIndex", ("metadataConfiguration", "nonFilterableMetadataKeys"))


def _string(value: str) -> dict[str, Any]:
    return {"type": "STRING", "stringValue": value}


def _strings(*values: str) -> dict[str, Any]:
    return {"type": "STRING_LIST", "stringListValue": list(values)}


@holds("model.*", "request.model")
@pytest.mark.parametrize(
    ("place", "inside", "outside"),
    [
        (AGENT_NAME, "a" * 100, "a" * 101),
        (AGENT_NAME, "a", "two words"),
        ((SOURCE, ("description",)), "d" * 200, "d" * 201),
        (TOKEN, "t" * 33, "t" * 32),
        (TOKEN, "t" * 256, "t" * 257),
        (PREFIXES, ["p" * 300], ["p" * 301]),
        (PREFIXES, ["one/"], ["one/", "two/"]),
        (OVERLAP, 99, 100),
        (DOCUMENTS, [BY_LOCATION] * 10, [BY_LOCATION] * 11),
        (IDENTIFIERS, [BY_URI] * 10, [BY_URI] * 11),
        (CUSTOM_ID, "i" * 2048, "i" * 2049),
        (URI, "s3://bucket/" + "k" * 1012, "s3://bucket/" + "k" * 1013),
        (URI, "s3://bucket/résumé 😀.txt", "s3://Bucket/a.txt"),
        (IDENTIFIER, "s3://" + "u" * 128, "s3://" + "u" * 129),
        (ATTRIBUTES, [{"key": "k", "value": _strings("v")}] * 50, []),
        (ATTRIBUTES, [{"key": "k", "value": _strings("v")}], [{"key": "k", "value": {}}] * 51),
        (KEY, "k" * 200, "k" * 201),
        (VALUE, _string("v" * 2048), _string("")),
        (VALUE, _string("v"), _string("v" * 2049)),
        (VALUE, _strings(*"0123456789"), _strings(*"0123456789a")),
        (VALUE, _strings("v"), _strings()),
        (DATA, b"d" * 5_242_880, b"d" * 5_242_881),
        (("bedrock-agent.ListKnowledgeBaseDocuments", ("maxResults",)), 1000, 1001),
        (("bedrock-agent.ListIngestionJobs", ("filters", 0, "operator")), "EQ", "NE"),
        (("bedrock-agent.ListIngestionJobs", ("sortBy", "attribute")), "STARTED_AT", "AGE"),
        ((RETRIEVE, (*SEARCH, "numberOfResults")), 100, 101),
        ((RETRIEVE, (*SEARCH, "filter", "andAll")), [CONDITION] * 2, [CONDITION]),
        (FIRST_KEY, "k" * 100, "k" * 101),
        (("bedrock-agent-runtime.RetrieveAndGenerate", ("input", "text")), "q" * 1000, "q" * 1001),
        (("s3vectors.CreateIndex", ("dimension",)), 4096, 4097),
        (KEYS, ["k" * 63] * 10, ["k"] * 11),
        (KEYS, ["k"], ["k" * 64]),
    ],
)
def test_the_models_limits_are_the_simulators(
    place: tuple[str, Path], inside: object, outside: object
) -> None:
    operation, path = place

    validate(_shape(operation), _changed(REQUESTS[operation], path, inside))
    with pytest.raises(ServiceError) as caught:
        validate(_shape(operation), _changed(REQUESTS[operation], path, outside))

    assert caught.value.code == "ValidationException"
    assert "failed to satisfy constraint" in caught.value.message
    assert str(path[0]) in caught.value.message


@holds("request.model")
def test_what_the_model_requires_is_required() -> None:
    nameless = {name: value for name, value in REQUESTS[SOURCE].items() if name != "name"}

    with pytest.raises(ServiceError, match="Member must not be null"):
        validate(_shape(SOURCE), nameless)


class HandClock(Clock):
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def elapsed(self) -> float:
        return self.seconds


@holds("rate.[A-Z]*", "rate.exceeded")
@pytest.mark.parametrize(("operation", "rate"), RATES.items())
def test_an_operation_has_its_rate_and_a_burst_of_a_second(operation: str, rate: float) -> None:
    clock = HandClock()
    quotas = Quotas(clock, Rates(is_managed=lambda _: False, assumptions=Assumptions()))
    for _ in range(max(1, int(rate))):
        quotas.spend(operation, {})

    with pytest.raises(ServiceError, match="Rate exceeded"):
        quotas.spend(operation, {})
    clock.seconds += 0.99 / rate
    with pytest.raises(ServiceError, match="Rate exceeded"):
        quotas.spend(operation, {})
    clock.seconds += 0.02 / rate

    quotas.spend(operation, {})


def _shape(operation: str) -> Any:
    service, _, name = operation.partition(".")
    return get_session().get_service_model(service).operation_model(name).input_shape


def _changed(request: dict[str, Any], path: Path, value: object) -> dict[str, Any]:
    changed = deepcopy(request)
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return changed
