"""AWS in memory for the stores; botocore's own model, and canned answers, for Bedrock."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.stub import Stubber
from moto import mock_aws

from tests.aws.stores import create_bucket, create_tables
from tests.support.strict_requests import strict_requests

__all__ = ["strict_requests"]  # a fixture of all tests here

ONCE = Config(retries={"total_max_attempts": 1})
TWICE = Config(retries={"mode": "standard", "total_max_attempts": 2})


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


@pytest.fixture
def aws(credentials: None) -> Iterator[None]:
    with mock_aws(config={"stepfunctions": {"execute_state_machine": False}}):
        yield


@pytest.fixture
def dynamodb(aws: None) -> Any:
    client = boto3.client("dynamodb", config=ONCE)
    create_tables(client)
    return client


@pytest.fixture
def s3(aws: None) -> Any:
    client = boto3.client("s3", config=ONCE)
    create_bucket(client)
    return client


@pytest.fixture
def client(request: pytest.FixtureRequest, credentials: None) -> Any:
    """The client of the service that the test's module names in SERVICE, for canned answers."""
    return boto3.client(request.module.SERVICE, config=ONCE)


@pytest.fixture
def stubber(client: Any) -> Iterator[Stubber]:
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()
