"""Options of `stackroom up`: what is refused before anything starts, and what servers are told."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from stackroom_cli import lifecycle
from stackroom_cli.program import commands
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
        ("--allow-origin", "*", "'*'"),
        ("--allow-origin", f"{INSPECTOR}/", f"'{INSPECTOR}/'"),
    ],
)
def test_invalid_context_or_origin_is_refused_before_anything_starts(
    served: list[dict[str, Any]], option: str, wrong: str, told: str
) -> None:
    outcome = CliRunner().invoke(commands, ["up", option, wrong])

    assert (outcome.exit_code, served) == (2, [])
    assert told in outcome.output


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
