"""An AWS in memory for the adapters that share a suite with the fakes of the unit tests."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.config import Config
from moto import mock_aws

from tests.aws.stores import create_bucket, create_tables

CREDENTIALS: dict[str, Any] = {
    "region_name": "us-east-1",
    "aws_access_key_id": "testing",
    "aws_secret_access_key": "testing",
}


@cache
def client(service: str) -> Any:
    """Kept over tests, since a client is slow to make; what it speaks to is new for each."""
    config = Config(retries={"total_max_attempts": 1})
    return boto3.client(service, config=config, **CREDENTIALS)  # type: ignore[call-overload]


@pytest.fixture
def aws() -> Iterator[None]:
    with mock_aws(config={"stepfunctions": {"execute_state_machine": False}}):
        yield


@pytest.fixture
def dynamodb(aws: None) -> Any:
    create_tables(client("dynamodb"))
    return client("dynamodb")


@pytest.fixture
def s3(aws: None) -> Any:
    create_bucket(client("s3"))
    return client("s3")


@pytest.fixture
def stepfunctions(aws: None) -> Any:
    return client("stepfunctions")
