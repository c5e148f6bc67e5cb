"""The service model's limits: values within are accepted, values beyond refused."""

from copy import deepcopy
from typing import Any

import pytest
from botocore.session import get_session

from bedrock_kb_simulator.dispatcher import validate
from bedrock_kb_simulator.request_rates import Quotas
from bedrock_kb_simulator.rules import RATES
from bedrock_kb_simulator.service_errors import ServiceError
from simulator.tests.holding import holds
from simulator.tests.world import HandClock, data_source_request, inline

HOME = {"knowledgeBaseId": "KB00000000", "dataSourceId": "DS00000000"}
CONTENT = {
    "dataSourceType": "CUSTOM",
    "custom": {
        "customDocumentIdentifier": {"id": "a"},
        "sourceType": "S3_LOCATION",
        "s3Location": {"uri": "s3://documents/a.txt"},
        "inlineContent": {"type": "BYTE", "byteContent": {"mimeType": "text/plain", "data": b"a"}},
    },
}
FIXED = {
    "chunkingConfiguration": {
        "chunkingStrategy": "FIXED_SIZE",
        "fixedSizeChunkingConfiguration": {"maxTokens": 100, "overlapPercentage": 10},
    }
}
CONDITION = {"equals": {"key": "city", "value": "Rome"}}
SEARCH = {"numberOfResults": 5, "filter": {"andAll": [CONDITION, CONDITION]}}
SOURCE = "bedrock-agent.CreateDataSource"
START = "bedrock-agent.StartIngestionJob"
JOBS = "bedrock-agent.ListIngestionJobs"
INGEST = "bedrock-agent.IngestKnowledgeBaseDocuments"
RETRIEVE = "bedrock-agent-runtime.Retrieve"
INDEXES = "s3vectors.CreateIndex"
# A valid request of each operation, which the cases below change in one place.
REQUESTS: dict[str, dict[str, Any]] = {
    SOURCE: {
        **data_source_request("KB00000000", "documents", "prefix/"),
        "vectorIngestionConfiguration": FIXED,
    },
    START: HOME,
    JOBS: {
        **HOME,
        "filters": [{"attribute": "STATUS", "operator": "EQ", "values": ["COMPLETE"]}],
        "sortBy": {"attribute": "STATUS", "order": "ASCENDING"},
    },
    INGEST: {**HOME, "documents": [inline("a", "text", owner="alice"), {"content": CONTENT}]},
    RETRIEVE: {
        "knowledgeBaseId": "KB00000000",
        "retrievalQuery": {"text": "cities"},
        "retrievalConfiguration": {"vectorSearchConfiguration": SEARCH},
    },
    INDEXES: {
        "vectorBucketName": "vectors",
        "indexName": "passages",
        "dataType": "float32",
        "dimension": 1024,
        "distanceMetric": "cosine",
        "metadataConfiguration": {"nonFilterableMetadataKeys": ["AMAZON_BEDROCK_TEXT"]},
    },
}
FIXED_SIZE = "vectorIngestionConfiguration.chunkingConfiguration.fixedSizeChunkingConfiguration"
CUSTOM = "documents.1.content.custom"
VECTOR_SEARCH = "retrievalConfiguration.vectorSearchConfiguration"
KEYS = "metadataConfiguration.nonFilterableMetadataKeys"


@holds("request.model")
@pytest.mark.parametrize(
    ("operation", "place", "inside", "outside"),
    [
        (SOURCE, "name", "a" * 100, "a" * 101),
        (SOURCE, "name", "a", "two words"),
        (START, "clientToken", "t" * 33, "t" * 32),
        (SOURCE, f"{FIXED_SIZE}.overlapPercentage", 99, 100),
        (INGEST, "documents", [{"content": CONTENT}] * 10, [{"content": CONTENT}] * 11),
        (INGEST, f"{CUSTOM}.s3Location.uri", "s3://bucket/résumé 😀.txt", "s3://Bucket/a.txt"),
        (INGEST, f"{CUSTOM}.inlineContent.byteContent.data", b"d" * 5_242_880, b"d" * 5_242_881),
        (JOBS, "filters.0.operator", "EQ", "NE"),
        (RETRIEVE, f"{VECTOR_SEARCH}.numberOfResults", 100, 101),
        (RETRIEVE, f"{VECTOR_SEARCH}.filter.andAll", [CONDITION] * 2, [CONDITION]),
        (INDEXES, KEYS, ["k" * 63] * 10, ["k"] * 11),
    ],
)
def test_limit_of_the_api_model_is_enforced(
    operation: str, place: str, inside: object, outside: object
) -> None:
    validate(_shape(operation), _changed(REQUESTS[operation], place, inside))
    with pytest.raises(ServiceError) as caught:
        validate(_shape(operation), _changed(REQUESTS[operation], place, outside))

    assert caught.value.code == "ValidationException"
    assert "failed to satisfy constraint" in caught.value.message
    assert place.partition(".")[0] in caught.value.message


@holds("rate.[A-Z]*", "rate.exceeded")
@pytest.mark.parametrize(("operation", "rate"), RATES.items())
def test_operation_has_its_rate_and_a_burst_of_one_second(operation: str, rate: float) -> None:
    clock = HandClock()
    quotas = Quotas(clock, lambda _: False)
    for _ in range(max(1, int(rate))):
        quotas.spend(operation, {})

    with pytest.raises(ServiceError, match="ate exceeded"):
        quotas.spend(operation, {})
    clock.seconds += 0.99 / rate
    with pytest.raises(ServiceError, match="ate exceeded"):
        quotas.spend(operation, {})
    clock.seconds += 0.02 / rate

    quotas.spend(operation, {})


def _shape(operation: str) -> Any:
    service, _, name = operation.partition(".")
    return get_session().get_service_model(service).operation_model(name).input_shape


def _changed(request: dict[str, Any], place: str, value: object) -> dict[str, Any]:
    changed = deepcopy(request)
    at: Any = changed
    *steps, last = place.split(".")
    for step in steps:
        at = at[int(step) if step.isdigit() else step]
    at[last] = value
    return changed
