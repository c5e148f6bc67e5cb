"""Requests that botocore accepts and AWS refuses are found in the suites' requests."""

from typing import Any

import boto3
import pytest

from tests.support.strict_requests import violations

SOURCE = {"knowledgeBaseId": "KB12345678", "dataSourceId": "DS12345678"}
NAMED = {"dataSourceType": "CUSTOM", "custom": {"id": "doc-1"}}


@pytest.mark.parametrize(
    ("operation", "request_", "found"),
    [
        ("ListKnowledgeBaseDocuments", {**SOURCE, "maxResults": 1000}, None),
        ("ListKnowledgeBaseDocuments", {**SOURCE, "maxResults": 1001}, "maxResults: integer"),
        (
            "GetKnowledgeBaseDocuments",
            {**SOURCE, "documentIdentifiers": [NAMED] * 11},
            "documentIdentifiers: list of 11",
        ),
        (
            "GetKnowledgeBaseDocuments",
            {**SOURCE, "documentIdentifiers": [{**NAMED, "dataSourceType": "OTHER"}]},
            "'OTHER' is none of",
        ),
        ("GetDataSource", {**SOURCE, "dataSourceId": "DS-1"}, "'DS-1' doesn't match"),
        ("StartIngestionJob", {**SOURCE, "description": "d" * 201}, "description: string of 201"),
    ],
)
def test_a_request_that_breaks_a_rule_of_its_model_is_found(
    operation: str, request_: dict[str, Any], found: str | None
) -> None:
    client: Any = boto3.client("bedrock-agent")
    shape = client.meta.service_model.operation_model(operation).input_shape

    told = list(violations(shape, request_, operation))

    assert len(told) == (found is not None)
    assert found is None or found in told[0]
