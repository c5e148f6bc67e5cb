"""What the zip of an agent's function holds, without a network."""

import re
from pathlib import Path

import pytest
from aws_cdk import aws_lambda as lambda_
from aws_cdk.aws_s3_assets import Asset

from stackroom.aws.session import ALIASES
from stackroom_constructs import RetrievalTool, packages
from stackroom_constructs.batch_agent import SERVICES
from stackroom_constructs.bundling import Bundle, source_of
from tests.constructs.agents import Wiki, a_file, a_stack, an_agent, app_of, properties, resources


def test_the_function_holds_our_own_code_and_no_construct_of_it(tmp_path: Path) -> None:
    stack = a_stack()
    an_agent(stack, tmp_path)

    key = properties(stack, "AWS::Lambda::Function")["Code"]["S3Key"]

    asset = Path(app_of(stack).outdir) / f"asset.{key.removesuffix('.zip')}"
    module, _, _ = properties(stack, "AWS::Lambda::Function")["Handler"].rpartition(".")
    assert {path.name for path in asset.iterdir()} == {"stackroom", "stackroom_agents"}
    assert (asset / f"{module.replace('.', '/')}.py").exists()
    assert not list(asset.rglob("__pycache__"))


@pytest.mark.parametrize(
    ("given", "keeps_all"),
    [({}, False), ({"knowledge_bases": [Wiki()]}, True)],
    ids=["only ours", "a tool of somebody else"],
)
def test_every_service_is_kept_where_code_of_others_may_call_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, object], keeps_all: bool
) -> None:
    made = _as_if_bundled(monkeypatch)
    an_agent(a_stack(**{"stackroom:bundling": "full"}), tmp_path, **given)

    assert (made["services"] is None) == keeps_all
    assert made["extras"] == ("agents",)


def test_every_service_that_the_handler_makes_a_client_of_is_kept() -> None:
    sources = [
        *source_of("stackroom_agents").joinpath("batch").rglob("*.py"),
        *source_of("stackroom").joinpath("aws").glob("linked*.py"),
        *source_of("stackroom").joinpath("aws", "pgvector").rglob("*.py"),
    ]

    called = {
        name
        for path in sources
        for name in re.findall(r'client(?:_of)?\("([a-z0-9-]+)"\)', path.read_text("utf-8"))
    }

    assert called >= {"bedrock-agent-runtime", "rds", "s3"}
    assert {ALIASES.get(name, name) for name in called} <= SERVICES


def test_packages_of_a_tool_are_bundled_for_the_functions_architecture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _as_if_bundled(monkeypatch)
    stack = a_stack(**{"stackroom:bundling": "full"})
    tool = Asset(stack, "Tool", path=a_file(tmp_path, "tool.py", ""))
    its_tool = RetrievalTool(name="two", module="two", packages=("rank-bm25>=0.2",))
    an_agent(
        stack,
        tmp_path,
        tools=[tool],
        knowledge_bases=[Wiki(), Wiki("two", its_tool)],
        agent_architecture=lambda_.Architecture.X86_64,
    )

    assert made["packages"] == ("rank-bm25>=0.2",)
    assert made["machine"] == "x86_64"


def test_two_bundles_of_the_same_are_one_asset() -> None:
    stack = a_stack()
    for name in ("First", "Second"):
        bundle = Bundle(
            folders={"stackroom_agents": source_of("stackroom_agents")},
            architecture=lambda_.Architecture.ARM_64,
        )
        lambda_.Function(
            stack,
            name,
            code=bundle.code(with_dependencies=False),
            handler="handler.handler",
            runtime=lambda_.Runtime.PYTHON_3_13,
        )

    functions = [
        each for each in resources(stack).values() if each["Type"] == "AWS::Lambda::Function"
    ]

    assert len({each["Properties"]["Code"]["S3Key"] for each in functions}) == 1
    assert len(functions) == 2


def _as_if_bundled(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What is asked of uv and of the pruning, neither of which happens."""
    made: dict[str, object] = {}

    def install(_: Path, **asked: object) -> None:
        made.update(asked)

    def prune(_: Path, services: object) -> None:
        made["services"] = services

    monkeypatch.setattr(packages, "install", install)
    monkeypatch.setattr(packages, "prune", prune)
    monkeypatch.setattr(packages, "compile_all", lambda _: None)
    return made
