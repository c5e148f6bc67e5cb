"""What each server of the local mode is told by its environment."""

from pathlib import Path

import pytest

from stackroom_local.servers import Servers
from stackroom_local.state import Ports, StateDirectory, endpoint_variables


@pytest.fixture
def servers(tmp_path: Path) -> Servers:
    return Servers(StateDirectory(tmp_path), Ports(aws=4566), 10.0)


def test_the_key_of_a_model_reaches_the_simulator_alone(servers: Servers) -> None:
    key = "STACKROOM_OPENAI_API_KEY"

    # An empty variable of a server's own stands before what it inherits.
    assert servers.ministack().environment[key] == ""
    assert servers.gateway().environment[key] == ""
    assert key not in servers.simulator().environment


def test_guardrails_are_made_and_applied_in_the_simulator() -> None:
    endpoints = endpoint_variables("http://aws", "http://simulator")

    assert endpoints["AWS_ENDPOINT_URL_BEDROCK"] == "http://simulator"
    assert endpoints["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"] == "http://simulator"
