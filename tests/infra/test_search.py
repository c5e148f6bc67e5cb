"""What searching costs in rights and variables, by the way that the context says."""

import pytest

from stackroom.aws.settings import SearchSettings
from tests.infra.assembly import Assembly
from tests.infra.synthesis import deployment

SEARCHING = ("retrieve", "catalog-tools", "prewarm", "console", "agent-runner")
MODEL = "foundation-model/amazon.titan-embed-text-v2:0"
RETRIEVE = ("bedrock:Retrieve", "knowledge-base/KnowledgeBase1")
DIRECTLY = {
    ("s3vectors:QueryVectors", "index/Index1"),
    ("s3vectors:GetVectors", "index/Index1"),
    ("s3vectors:GetIndex", "index/Index1"),
    ("bedrock:InvokeModel", MODEL),
}


@pytest.fixture
def by_retrieve() -> Assembly:
    return deployment("by Retrieve")


@pytest.fixture
def directly() -> Assembly:
    return deployment("warmed")


@pytest.mark.parametrize("function", SEARCHING)
def test_who_searches_an_index_may_ask_it_and_the_model_and_retrieve_where_that_fails(
    by_retrieve: Assembly, directly: Assembly, function: str
) -> None:
    before, after = by_retrieve.granted(function), directly.granted(function)

    assert RETRIEVE in before
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

    assert changed == {f"stackroom-{function}-{{region}}" for function in SEARCHING}


@pytest.mark.parametrize("function", SEARCHING[:3])
def test_a_function_that_searches_reads_how(
    by_retrieve: Assembly, directly: Assembly, function: str
) -> None:
    for assembly, via in ((by_retrieve, "bedrock"), (directly, "s3vectors")):
        read = SearchSettings.from_env(assembly.variables(function))

        assert (read.retrieve_via, read.embedding_dimensions) == (via, 1024)
        assert MODEL.endswith(f"/{read.embedding_model}")
