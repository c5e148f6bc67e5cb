"""Knowledge bases that a deployment shares: the console offers them, the runner searches them."""

import json
from pathlib import Path

import aws_cdk as cdk
import pytest

from infra.shared_knowledge_bases import SharedKnowledgeBases
from stackroom.aws.linked_settings import linked_settings
from tests.infra.assembly import Assembly
from tests.infra.synthesis import deployment

LAWS = {"name": "Laws", "description": "All laws in force", "knowledge_base_id": "ABCDE12345"}


@pytest.fixture
def sharing() -> Assembly:
    return deployment("cached and sharing")


@pytest.mark.parametrize("function", ["console", "agent-runner"])
def test_console_and_runner_are_told_of_them(
    assembly: Assembly, sharing: Assembly, function: str
) -> None:
    variables = sharing.variables(function)

    read = linked_settings(variables["KNOWLEDGE_BASES_CONFIG"])

    assert [each.knowledge_base_id for each in read] == ["ABCDE12345", "FGHIJ67890"]
    assert [each.name for each in read] == ["Laws", "Board"]
    assert sum(len(name) + len(value) for name, value in variables.items()) < 4096
    assert "KNOWLEDGE_BASES_CONFIG" not in assembly.variables(function)


def test_the_runner_may_search_them_and_nobody_else(sharing: Assembly, assembly: Assembly) -> None:
    added = sharing.granted("agent-runner") - assembly.granted("agent-runner")

    assert {each for each in added if not each[0].startswith("ec2:")} == {  # of its cache
        ("bedrock:Retrieve", "knowledge-base/ABCDE12345"),
        ("bedrock:Retrieve", "knowledge-base/FGHIJ67890"),
    }
    assert sharing.granted("console") == assembly.granted("console")
    for stack in ("gateway", "pipeline"):
        assert "knowledge-base/ABCDE12345" not in json.dumps(sharing.template(stack))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[", "must be a file of JSON"),
        ('["ABCDE12345"]', "must be a JSON list of objects"),
        (json.dumps([{**LAWS, "generation": True}]), "without create and generation"),
        (json.dumps([{"name": "Laws", "description": "All"}]), "knowledge_base_id"),
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
    with pytest.raises(ValueError, match=r"'nowhere\.json' must be a file of JSON"):
        described("nowhere.json")


def described(name: str) -> None:
    app = cdk.App(context={"shared_knowledge_bases_file": name})
    SharedKnowledgeBases.from_context(app).given(cdk.Stack(app, "Stack"))
