"""The zip of an agent's function: our code, and the packages that it installs."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from aws_cdk import aws_lambda as lambda_
from aws_cdk.aws_s3_assets import Asset

from stackroom.aws.session import ALIASES
from stackroom_constructs import RetrievalTool, bundling
from stackroom_constructs.base_agent import SERVICES
from stackroom_constructs.bundling import prune, requirements, source_of
from tests.constructs.agents import Wiki, a_file, a_stack, an_agent, app_of, properties


def test_function_contains_our_code_without_constructs(tmp_path: Path) -> None:
    stack = a_stack()
    an_agent(stack, tmp_path)

    key = properties(stack, "AWS::Lambda::Function")["Code"]["S3Key"]

    asset = Path(app_of(stack).outdir) / f"asset.{key.removesuffix('.zip')}"
    module, _, _ = properties(stack, "AWS::Lambda::Function")["Handler"].rpartition(".")
    assert {path.name for path in asset.iterdir()} == {
        "stackroom",
        "stackroom_agents",
        "stackroom_stores",
    }
    assert (asset / f"{module.replace('.', '/')}.py").exists()
    assert not list(asset.rglob("__pycache__"))


@pytest.mark.parametrize(
    ("given", "keeps_all"),
    [({}, False), ({"knowledge_bases": [Wiki()]}, True)],
    ids=["only ours", "a tool of somebody else"],
)
def test_code_of_others_keeps_every_botocore_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, object], keeps_all: bool
) -> None:
    made = _as_if_bundled(monkeypatch)
    an_agent(a_stack(**{"stackroom:bundling": "full"}), tmp_path, **given)

    assert (made["services"] is None) == keeps_all
    assert made["extras"] == ("agents",)


def test_bundle_keeps_every_botocore_service_that_the_handler_calls() -> None:
    sources = [
        *source_of("stackroom_agents").joinpath("batch").rglob("*.py"),
        *source_of("stackroom_stores").rglob("*.py"),
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


def _as_if_bundled(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Return what uv and pruning are called with, while neither runs."""
    made: dict[str, object] = {}

    def install(_: Path, **arguments: object) -> None:
        made.update(arguments)

    def prune(_: Path, services: object) -> None:
        made["services"] = services

    monkeypatch.setattr(bundling, "install", install)
    monkeypatch.setattr(bundling, "prune", prune)
    monkeypatch.setattr(bundling, "compile_all", lambda _: None)
    return made


ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_zip_requires_function_packages_and_the_named_extras() -> None:
    stated = PROJECT["project"]["optional-dependencies"]

    assert sorted(requirements(())) == sorted(stated["functions"])
    assert sorted(requirements(("agents",))) == sorted(stated["functions"] + stated["agents"])
    # An extra that has extras of its own.
    assert "pyjwt[crypto]>=2.15" in requirements(("identity",))


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """A folder as uv leaves it: packages, their records, and every service of botocore."""
    for name in (
        "bin/jp.py",
        "boto3-1.0.dist-info/RECORD",
        "boto3-1.0.dist-info/METADATA",
        "botocore/data/s3/2006-03-01/service-2.json.gz",
        "botocore/data/ec2/2016-11-15/service-2.json.gz",
        "botocore/data/endpoints.json",
        "grpc/__init__.py",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}")
    return tmp_path


def test_uncalled_botocore_services_and_install_records_are_pruned(
    unpacked: Path,
) -> None:
    prune(unpacked, None)
    every = {path.name for path in (unpacked / "botocore" / "data").iterdir()}
    prune(unpacked, {"s3"})

    # If the code's calls are unknown, every service remains.
    assert every == {"s3", "ec2", "endpoints.json"}
    kept = {path.name for path in (unpacked / "botocore" / "data").iterdir()}
    assert kept == {"s3", "endpoints.json"}
    assert not (unpacked / "bin").exists()
    assert [path.name for path in (unpacked / "boto3-1.0.dist-info").iterdir()] == ["METADATA"]


def test_opensearch_py_speaks_http_without_grpc() -> None:
    code = (
        "import sys; sys.modules['grpc'] = None; import opensearchpy; print(opensearchpy.VERSION)"
    )

    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (run.returncode, run.stderr) == (0, "")
