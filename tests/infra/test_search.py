"""What searching costs in rights and variables, by the way that the context says."""

from pathlib import Path
from typing import Any

import pytest

from stackroom.aws.settings import SearchSettings
from tests.infra.assembly import Assembly

SEARCHING = ("retrieve", "catalog-tools", "prewarm")
KNOWLEDGE_BASE = "knowledge-base/KnowledgeBase1"
INDEX = "index/Index1"
MODEL = "foundation-model/amazon.titan-embed-text-v2:0"
RETRIEVE = {("bedrock:Retrieve", KNOWLEDGE_BASE)}
DIRECTLY = {
    ("s3vectors:QueryVectors", INDEX),
    ("s3vectors:GetVectors", INDEX),
    ("s3vectors:GetIndex", INDEX),
    ("bedrock:InvokeModel", MODEL),
}


def synthesised(directory: Path, via: str) -> Assembly:
    """Everything that searches; a finding of cdk-nag without acknowledgment fails it."""
    import aws_cdk as cdk  # noqa: PLC0415 - starts a Node process
    from cdk_nag import AwsSolutionsChecks  # noqa: PLC0415

    from infra.app import build_app  # noqa: PLC0415

    app = build_app(str(directory), {"retrieve_via": via, "prewarm_minutes": 15})
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()
    return Assembly(directory)


@pytest.fixture(scope="module")
def by_retrieve(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    return synthesised(tmp_path_factory.mktemp("bedrock"), "bedrock")


@pytest.fixture(scope="module")
def directly(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    return synthesised(tmp_path_factory.mktemp("s3vectors"), "s3vectors")


@pytest.mark.parametrize("function", SEARCHING)
def test_who_searches_an_index_may_ask_it_and_the_model_and_retrieve_where_that_fails(
    by_retrieve: Assembly, directly: Assembly, function: str
) -> None:
    before, after = granted(by_retrieve, function), granted(directly, function)

    assert before >= RETRIEVE
    assert not before & DIRECTLY
    assert after - before == DIRECTLY
    assert before - after == set()


def test_nobody_else_gets_a_right_by_it(by_retrieve: Assembly, directly: Assembly) -> None:
    for stack in directly.stacks - {"gateway", "console"}:
        assert directly.template(stack) == by_retrieve.template(stack)
    changed = {
        each.properties["Roles"][0]
        for stack in ("gateway", "console")
        for each in directly.all(stack, "AWS::IAM::Policy")
        if each.raw not in [other.raw for other in by_retrieve.all(stack, "AWS::IAM::Policy")]
    }

    searching = {*SEARCHING, "console", "agent-runner"}
    assert changed == {f"stackroom-{function}-{{region}}" for function in searching}


@pytest.mark.parametrize("function", SEARCHING)
@pytest.mark.parametrize("via", ["bedrock", "s3vectors"])
def test_a_function_that_searches_reads_how(
    by_retrieve: Assembly, directly: Assembly, function: str, via: str
) -> None:
    assembly = directly if via == "s3vectors" else by_retrieve
    [variables] = [
        each.properties["Environment"]["Variables"]
        for each in assembly.all("gateway", "AWS::Lambda::Function")
        if each.properties["FunctionName"] == f"stackroom-{function}"
    ]

    read = SearchSettings.from_env(variables)

    assert (read.retrieve_via, read.embedding_dimensions) == (via, 1024)
    assert MODEL.endswith(f"/{read.embedding_model}")


def test_questions_are_embedded_as_documents_are(directly: Assembly) -> None:
    configuration = directly.one("knowledge-base", "AWS::Bedrock::KnowledgeBase").properties[
        "KnowledgeBaseConfiguration"
    ]["VectorKnowledgeBaseConfiguration"]

    embedding = configuration["EmbeddingModelConfiguration"]["BedrockEmbeddingModelConfiguration"]
    assert configuration["EmbeddingModelArn"].endswith(f":{MODEL}")
    assert embedding["Dimensions"] == 1024


def granted(assembly: Assembly, function: str) -> set[tuple[str, str]]:
    return {
        (action, resource if resource == "*" else resource.split(":", 5)[5])
        for policy in assembly.all("gateway", "AWS::IAM::Policy")
        if f"stackroom-{function}-{{region}}" in policy.properties["Roles"]
        for statement in policy.properties["PolicyDocument"]["Statement"]
        for action in _listed(statement["Action"])
        for resource in _listed(statement["Resource"])
    }


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
