"""Knowledge bases that a deployment shares: the console offers them, the runner searches them."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from infra.shared_knowledge_bases import SharedKnowledgeBases
from stackroom.aws.linked_settings import linked_settings
from tests.infra.assembly import Assembly
from tests.infra.conftest import Synthesised

LAWS = {
    "name": "Laws",
    "description": "All laws in force",
    "knowledge_base_id": "ABCDE12345",
    "min_score": 0.3,
}
OF_GROUPS = {
    "name": "Board",
    "description": "Minutes of the board",
    "knowledge_base_id": "FGHIJ67890",
    "enable_acl": True,
}
HOW = "knowledge-base/ABCDE12345"


@pytest.fixture(scope="module")
def sharing(synthesised: Synthesised, tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    file = tmp_path_factory.mktemp("shared") / "shared.json"
    file.write_text(json.dumps([LAWS, OF_GROUPS]))
    return synthesised(shared_knowledge_bases_file=str(file))


@pytest.mark.parametrize("function", ["console", "agent-runner"])
def test_console_and_runner_are_told_of_them(sharing: Assembly, function: str) -> None:
    variables = _function(sharing, function)["Environment"]["Variables"]

    read = linked_settings(variables["KNOWLEDGE_BASES_CONFIG"])

    assert [each.knowledge_base_id for each in read] == ["ABCDE12345", "FGHIJ67890"]
    assert [each.name for each in read] == ["Laws", "Board"]
    assert sum(len(name) + len(value) for name, value in variables.items()) < 4096


def test_the_runner_may_search_them_and_nobody_else(sharing: Assembly, assembly: Assembly) -> None:
    before = {name: _allowed(assembly, name) for name in ("console", "agent-runner")}
    after = {name: _allowed(sharing, name) for name in ("console", "agent-runner")}

    added = after["agent-runner"] - before["agent-runner"]
    assert added == {
        ("bedrock:Retrieve", "arn:aws:bedrock:{region}:{account}:knowledge-base/ABCDE12345"),
        ("bedrock:Retrieve", "arn:aws:bedrock:{region}:{account}:knowledge-base/FGHIJ67890"),
    }
    assert after["console"] == before["console"]
    for stack in ("gateway", "pipeline"):
        assert HOW not in json.dumps(sharing.template(stack))


def test_without_a_file_nothing_is_shared(assembly: Assembly) -> None:
    for name in ("console", "agent-runner"):
        variables = _function(assembly, name)["Environment"]["Variables"]

        assert "KNOWLEDGE_BASES_CONFIG" not in variables


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[", "must be a file of JSON"),
        (json.dumps(LAWS), "must be a JSON list of objects"),
        ('["ABCDE12345"]', "must be a JSON list of objects"),
        (json.dumps([{**LAWS, "create": {}}]), "without create and generation"),
        (json.dumps([{**LAWS, "generation": True}]), "without create and generation"),
        (json.dumps([{"name": "Laws", "description": "All"}]), "knowledge_base_id"),
        (json.dumps([{**LAWS, "knowledge_base_id": "short"}]), "short"),
        (json.dumps([{**LAWS, "colour": "red"}]), "colour"),
        (json.dumps([LAWS, LAWS]), "ABCDE12345"),
        (json.dumps([{**LAWS, "description": "a" * 2000}]), "must take 1,500 at most"),
    ],
)
def test_a_file_that_describes_none_is_refused_in_words_that_name_it(
    tmp_path: Path, text: str, told: str
) -> None:
    file = tmp_path / "shared.json"
    file.write_text(text)

    with pytest.raises(ValueError, match=told):
        described(str(file))


def test_a_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'nowhere\.json' must be a file of JSON"):
        described("nowhere.json")


def described(name: str) -> None:
    app = cdk.App(context={"shared_knowledge_bases_file": name})
    SharedKnowledgeBases.from_context(app).given(cdk.Stack(app, "Stack"))


def _function(assembly: Assembly, name: str) -> dict[str, Any]:
    functions = [each.properties for each in assembly.all("console", "AWS::Lambda::Function")]
    [found] = [each for each in functions if each["FunctionName"] == f"stackroom-{name}"]
    return found


def _allowed(assembly: Assembly, name: str) -> set[tuple[str, str]]:
    """Actions and what they are allowed on."""
    return {
        (action, resource)
        for policy in assembly.all("console", "AWS::IAM::Policy")
        if f"stackroom-{name}-{{region}}" in policy.properties["Roles"]
        for statement in policy.properties["PolicyDocument"]["Statement"]
        for action in _listed(statement["Action"])
        for resource in _listed(statement["Resource"])
    }


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
