"""`stackroom up --allow-origin`: pages in a browser that may call the gateway and the issuer."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from stackroom_local.cli import serving
from stackroom_local.cli.commands import commands
from stackroom_local.ports import Ports
from stackroom_local.servers import Servers
from stackroom_local.state import StateDirectory

INSPECTOR, ELSEWHERE = "http://localhost:6274", "https://inspector.example"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The origins with which a local mode would have been served."""
    origins: list[Sequence[str]] = []

    def up(state_dir: object, *, allowed_origins: Sequence[str], **others: Any) -> None:
        origins.append(list(allowed_origins))

    monkeypatch.setattr(serving, "up", up)
    return origins


@pytest.mark.parametrize("origins", [[], [INSPECTOR], [INSPECTOR, ELSEWHERE]])
def test_every_origin_that_is_given_is_let_in(
    served: list[Sequence[str]], origins: list[str]
) -> None:
    given = [part for origin in origins for part in ("--allow-origin", origin)]

    outcome = CliRunner().invoke(commands, ["up", *given])

    assert outcome.exit_code == 0
    assert served == [origins]


@pytest.mark.parametrize("wrong", ["*", "localhost:6274", f"{INSPECTOR}/", "", "http://x:80"])
def test_what_is_no_origin_is_refused_before_anything_starts(
    served: list[Sequence[str]], wrong: str
) -> None:
    arguments = ["up", "--allow-origin", INSPECTOR, "--allow-origin", wrong]

    outcome = CliRunner().invoke(commands, arguments)

    assert outcome.exit_code == 2
    assert "--allow-origin" in outcome.output
    assert repr(wrong) in outcome.output
    assert served == []


def test_the_gateway_is_told_and_no_other_server(tmp_path: Path) -> None:
    servers = Servers(StateDirectory(tmp_path), Ports(aws=4566), 10.0, (INSPECTOR, ELSEWHERE))

    command = servers.gateway().command

    assert command[command.index("--allow-origins") + 1] == f"{INSPECTOR} {ELSEWHERE}"
    for other in (servers.ministack(), servers.simulator()):
        assert INSPECTOR not in " ".join(other.command)
