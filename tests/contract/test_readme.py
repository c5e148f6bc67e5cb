"""The output of `make docs` matches the code, and pins match pyproject."""

import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from docs.cli import ANSWERS, CLI, CLI_SCHEMA, cli, cli_schema
from docs.clients import SHOWN, clients
from docs.fidelity import FIDELITY, FIDELITY_DATA, fidelity, fidelity_data
from docs.generate import CONFIGURATION, HOW_IT_WORKS, configuration
from docs.messages import MESSAGES, messages
from docs.state_machine import state_machine
from docs.store_prices import PAGE as STORES
from docs.store_prices import costs, with_prices
from docs.tables import section
from stackroom_cli import app
from stackroom_cli.commands import COMMANDS, FAILS_WHEN

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("written", "made"),
    [
        pytest.param(CONFIGURATION.read_text("utf-8"), configuration, id="variables"),
        pytest.param(
            section(HOW_IT_WORKS.read_text("utf-8"), "state-machine"),
            state_machine,
            id="state machine",
        ),
        pytest.param(CLI.read_text("utf-8"), cli, id="command line"),
        pytest.param(CLI_SCHEMA.read_text("utf-8"), cli_schema, id="JSON of the command line"),
        pytest.param(SHOWN.read_text("utf-8"), clients, id="lines of clients"),
        pytest.param(MESSAGES.read_text("utf-8"), messages, id="texts of the console"),
        pytest.param(FIDELITY.read_text("utf-8"), fidelity, id="fidelity"),
        pytest.param(FIDELITY_DATA.read_text("utf-8"), fidelity_data, id="rules of the simulator"),
        pytest.param(STORES.read_text(), lambda: with_prices(STORES.read_text()), id="prices"),
    ],
)
def test_generated_files_match_the_code(
    written: str, made: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")

    assert written == made(), "run: make docs"


def test_monthly_cost_of_each_store_matches_a_manual_calculation() -> None:
    found = {each.store: each for each in costs()}

    # 4,096 + 1,200 + 500 + 500 bytes, a million times, at $0.06 a GB
    assert found["S3_VECTORS"].month == "$0.38"
    # 1,000 x $0.0000025 + 1,000 x 4,596 bytes x (100,000 x $0.004 + 900,000 x $0.002) a TB
    # + 20,000 tokens x $0.00000002 = 0.0025 + 0.0101 + 0.0004
    assert found["S3_VECTORS"].questions == "$0.013"
    assert found["MANAGED"].month.startswith("$4.80 ")
    assert found["MANAGED"].questions == "$1.00"


def test_every_command_has_help_and_takes_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(FAILS_WHEN) == list(COMMANDS)
    assert {each.partition(" --")[0] for each in ANSWERS} == set(COMMANDS)
    for typed, listed in COMMANDS.items():
        monkeypatch.setattr(sys, "argv", ["stackroom", *typed.split(), "--help"])
        with pytest.raises(SystemExit):
            app()

        told = " ".join(capsys.readouterr().out.split())
        assert listed.need in told, typed
        assert "--json" in told, typed


def test_every_installed_package_is_pinned_with_hashes() -> None:
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lock = (ROOT / "requirements.lock").read_text("utf-8")

    pinned = re.findall(r"^(\S+?)(?:\[.*\])?==.*\\\n +--hash=sha256:", lock, re.MULTILINE)
    named = {
        canonicalize_name(Requirement(each).name)
        for extra in stated["optional-dependencies"].values()
        for each in extra
    }

    assert named <= set(pinned), "run: make lock"
