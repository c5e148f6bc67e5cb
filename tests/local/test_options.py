"""Options of `stackroom up`: what is refused before anything starts, and what servers are told."""

import re
from pathlib import Path
from typing import Any

import boto3
import pytest
from typer.testing import CliRunner

from stackroom_cli import lifecycle
from stackroom_cli.commands import COMMANDS
from stackroom_cli.program import commands
from stackroom_local.clients import endpoint_variables
from stackroom_local.servers import Ports, Servers
from tests.local.running import directory

INSPECTOR, ELSEWHERE = "http://localhost:6274", "https://inspector.example"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The arguments with which a local mode would have been served."""
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(lifecycle, "up", lambda _state_dir, **told: calls.append(told))
    return calls


@pytest.mark.parametrize(
    ("arguments", "name", "told"),
    [
        (
            ("-c", "parsing=foundation_model", "--context", "search_language=a=b", "-c", "empty="),
            "context",
            {"parsing": "foundation_model", "search_language": "a=b", "empty": ""},
        ),
        (
            ("--retrieve-via", "bedrock", "-c", "retrieve_via=s3vectors"),
            "context",
            {"retrieve_via": "bedrock"},
        ),
        (
            ("--allow-origin", INSPECTOR, "--allow-origin", ELSEWHERE),
            "allowed_origins",
            [INSPECTOR, ELSEWHERE],
        ),
        ((), "allowed_origins", []),
    ],
)
def test_context_and_origins_are_passed_on_and_a_dedicated_option_wins(
    served: list[dict[str, Any]], arguments: tuple[str, ...], name: str, told: Any
) -> None:
    assert CliRunner().invoke(commands, ["up", *arguments]).exit_code == 0

    [serving_] = served
    assert type(told)(serving_[name]) == told


@pytest.mark.parametrize(
    ("option", "wrong", "told"),
    [
        ("-c", "parsing", "KEY=VALUE"),
        ("-c", "=value", "KEY=VALUE"),
        ("--allow-origin", "*", "'*'"),
        ("--allow-origin", "localhost:6274", "'localhost:6274'"),
        ("--allow-origin", f"{INSPECTOR}/", f"'{INSPECTOR}/'"),
        ("--allow-origin", "http://x:80", "'http://x:80'"),
    ],
)
def test_invalid_context_or_origin_is_refused_before_anything_starts(
    served: list[dict[str, Any]], option: str, wrong: str, told: str
) -> None:
    outcome = CliRunner().invoke(commands, ["up", option, wrong])

    assert (outcome.exit_code, served) == (2, [])
    assert told in outcome.output


def test_only_the_gateway_gets_the_allowed_origins(tmp_path: Path) -> None:
    servers = Servers(directory(tmp_path), Ports(aws=4566), 10.0, (INSPECTOR, ELSEWHERE))

    command = servers.gateway().command

    assert command[command.index("--allow-origins") + 1] == f"{INSPECTOR} {ELSEWHERE}"
    for other in (servers.ministack(), servers.simulator()):
        assert INSPECTOR not in " ".join(other.command)


@pytest.mark.parametrize("verb", [name for name in COMMANDS if " " not in name])
def test_help_names_no_flag_that_the_verb_lacks_and_no_class_of_python(verb: str) -> None:
    told = CliRunner().invoke(commands, [verb, "--help"], env={"COLUMNS": "200"}).output

    usage, _, need = told.partition("Needs, on a deployment")
    assert "<class" not in told
    for flag in re.findall(r"--[a-z-]+", need):
        assert re.search(rf"│.*{flag}\b", usage), flag


@pytest.fixture
def servers(tmp_path: Path) -> Servers:
    return Servers(directory(tmp_path), Ports(aws=4566), 10.0)


def test_the_key_of_a_model_reaches_the_simulator_alone(servers: Servers) -> None:
    key = "STACKROOM_OPENAI_API_KEY"

    # An empty variable of a server's own stands before what it inherits.
    assert servers.ministack().environment[key] == ""
    assert servers.gateway().environment[key] == ""
    assert key not in servers.simulator().environment


def test_embedding_model_option_reaches_the_simulator(tmp_path: Path) -> None:
    servers = Servers(directory(tmp_path), Ports(aws=4566), 10.0, model="multilingual")

    command = servers.simulator().command
    assert command[command.index("--model") + 1] == "multilingual"


def test_client_with_only_the_sqs_variable_uses_the_local_endpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    variable = "AWS_ENDPOINT_URL_SQS"
    monkeypatch.setenv(variable, endpoint_variables("http://aws", "http://simulator")[variable])
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)

    session = boto3.Session("test", "test", region_name="us-east-1")

    assert session.client("sqs").meta.endpoint_url == "http://aws"
