"""What each server of the local mode is told by its environment."""

from pathlib import Path

import boto3
import pytest

from stackroom_local.endpoints import endpoint_variables
from stackroom_local.ports import Ports
from stackroom_local.servers import Servers
from tests.local.running import directory


@pytest.fixture
def servers(tmp_path: Path) -> Servers:
    return Servers(directory(tmp_path), Ports(aws=4566), 10.0)


def test_the_key_of_a_model_reaches_the_simulator_alone(servers: Servers) -> None:
    key = "STACKROOM_OPENAI_API_KEY"

    # An empty variable of a server's own stands before what it inherits.
    assert servers.ministack().environment[key] == ""
    assert servers.gateway().environment[key] == ""
    assert key not in servers.simulator().environment


def test_what_is_assumed_of_aws_is_an_option_of_the_simulator_alone(tmp_path: Path) -> None:
    assuming = Servers(directory(tmp_path), Ports(aws=4566), 10.0, assumed=("--omit-source-uri",))

    assert assuming.simulator().command[-1] == "--omit-source-uri"
    assert "--omit-source-uri" not in assuming.gateway().command


def test_guardrails_are_made_and_applied_in_the_simulator() -> None:
    endpoints = endpoint_variables("http://aws", "http://simulator")

    assert endpoints["AWS_ENDPOINT_URL_BEDROCK"] == "http://simulator"
    assert endpoints["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"] == "http://simulator"


def test_a_client_that_is_told_of_sqs_alone_asks_the_local_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variable = "AWS_ENDPOINT_URL_SQS"
    monkeypatch.setenv(variable, endpoint_variables("http://aws", "http://simulator")[variable])
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)

    session = boto3.Session("test", "test", region_name="us-east-1")

    assert session.client("sqs").meta.endpoint_url == "http://aws"
