"""An AWS in memory for the adapters that share a suite with the fakes of the unit tests."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.config import Config
from moto import mock_aws

from bedrock_kb_simulator.server import Configuration, Simulator
from simulator.tests.world import World
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
    # The service is a name known when it runs; types-boto3 has types for literal names only.
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


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Knowledge bases, over a bucket in memory that the simulator's thread sees too."""
    s3_endpoint = "https://s3.us-east-1.amazonaws.com"
    data = tmp_path_factory.mktemp("simulator")
    configuration = Configuration(data_dir=data, s3_endpoint=s3_endpoint, speed=100)
    with mock_aws(), Simulator(configuration) as simulator:
        yield World(simulator.endpoint, s3_endpoint)
