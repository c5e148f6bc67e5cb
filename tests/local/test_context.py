"""`stackroom up -c`: CDK context for the local mode, as it is given to `cdk deploy`."""

from collections.abc import Mapping
from typing import Any

import pytest
from typer.testing import CliRunner

from stackroom_local.cli import serving
from stackroom_local.cli.commands import commands


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, str]]:
    """The contexts with which a local mode would have been served."""
    contexts: list[Mapping[str, str]] = []

    def up(state_dir: object, *, context: Mapping[str, str], **others: Any) -> None:
        contexts.append(context)

    monkeypatch.setattr(serving, "up", up)
    return contexts


def test_context_reaches_the_templates_as_it_is_given(served: list[Mapping[str, str]]) -> None:
    given = ("-c", "parsing=foundation_model", "--context", "search_language=a=b", "-c", "empty=")

    outcome = CliRunner().invoke(commands, ["up", *given])

    assert outcome.exit_code == 0
    assert served == [{"parsing": "foundation_model", "search_language": "a=b", "empty": ""}]


def test_an_option_of_its_own_wins_over_context(served: list[Mapping[str, str]]) -> None:
    arguments = ["up", "--retrieve-via", "bedrock", "-c", "retrieve_via=s3vectors"]

    assert CliRunner().invoke(commands, arguments).exit_code == 0
    assert served == [{"retrieve_via": "bedrock"}]


@pytest.mark.parametrize("given", ["parsing", "=value", ""])
def test_context_that_is_no_pair_is_refused_by_name(
    served: list[Mapping[str, str]], given: str
) -> None:
    outcome = CliRunner().invoke(commands, ["up", "-c", given])

    assert outcome.exit_code == 2
    assert "KEY=VALUE" in outcome.output
    assert served == []
