"""The examples synthesise without findings of cdk-nag, and the page lists the arguments."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import aws_cdk as cdk
import boto3
import pytest
from cdk_nag import AwsSolutionsChecks
from moto import mock_aws

from docs.constructs import CLASSES, PAGE, arguments_of, with_arguments

EXAMPLES = Path(__file__).parents[2] / "examples" / "constructs"
APPS = sorted(
    path.stem for path in EXAMPLES.glob("*.py") if "def build(" in path.read_text("utf-8")
)
OFFLINE = {"stackroom:bundling": "none"}


@pytest.fixture(autouse=True)
def _as_a_script_finds_its_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)


@pytest.mark.parametrize("name", APPS)
def test_example_deploys_a_function_without_cdk_nag_findings(name: str, tmp_path: Path) -> None:
    app = cdk.App(analytics_reporting=False, outdir=str(tmp_path), context=OFFLINE)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))

    importlib.import_module(name).build(app)

    [stack] = app.synth().stacks
    kinds = {each["Type"] for each in stack.template["Resources"].values()}
    assert "AWS::Lambda::Function" in kinds


def test_example_runs_as_a_script(tmp_path: Path) -> None:
    # The CDK's CLI runs an app like this: https://docs.aws.amazon.com/cdk/v2/guide/context.html
    cli = {"CDK_OUTDIR": str(tmp_path), "CDK_CONTEXT_JSON": json.dumps(OFFLINE)}
    command = [sys.executable, str(EXAMPLES / f"{APPS[-1]}.py")]

    subprocess.run(command, env={**os.environ, **cli}, check=True, cwd=tmp_path)

    assert list(tmp_path.glob("*.template.json"))


def test_glossary_tool_finds_a_term_in_its_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry = {"knowledgeBaseId": "glossary", "table": "terms", "retrievalTool": "look_up_term"}
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("KNOWLEDGE_BASES_CONFIG", json.dumps([{"knowledgeBaseId": "KB"}, entry]))
    tool = importlib.import_module("glossary_tool").look_up_term

    with mock_aws():
        table = boto3.resource("dynamodb").create_table(
            TableName="terms",
            KeySchema=[{"AttributeName": "term", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "term", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        table.put_item(Item={"term": "pool", "meaning": "What all catalogs share."})
        answers = [tool(term="Pool "), tool(term="lake")]

    assert answers == ["What all catalogs share.", "The glossary has no 'lake'."]


def test_page_lists_the_arguments() -> None:
    text = PAGE.read_text("utf-8")

    assert with_arguments(text) == text, "run: make docs"
    assert all(map(arguments_of, CLASSES))
