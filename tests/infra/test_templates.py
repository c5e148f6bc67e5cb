"""What CloudFormation would refuse, found before it is asked."""

import subprocess
import sys
from pathlib import Path

import pytest

# It publishes no types.
from cloudformation_validate import (  # type: ignore[import-untyped]
    CompositeEngine,
    Severity,
)

from infra.outputs import report
from tests.infra.assembly import Assembly

# "DependsOn is already implied": the CDK writes both, which changes nothing.
REDUNDANT = "W3005"
# The linter's list of actions is of before 2026-09-30; API reference: UpdateMetadataConfiguration.
NEWER = "W3037:'updatemetadataconfiguration' is not one of"
# What a template has at most. https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
LARGEST = 1_000_000


def test_there_is_a_stack_for_each_purpose(assembly: Assembly) -> None:
    assert assembly.stacks == {
        "data",
        "knowledge-base",
        "pipeline",
        "gateway",
        "console",
        "operations",
    }


def test_no_template_breaks_a_rule_of_its_resources(assembly: Assembly) -> None:
    engine = CompositeEngine()

    found = [
        f"{path.name}: {each.rule_id} {each.message}"
        for path in assembly.files
        for each in engine.validate_template(path).diagnostics
        if each.severity is not Severity.INFO and each.rule_id != REDUNDANT
    ]

    assert found == []


def test_no_template_names_an_action_or_value_that_is_none(assembly: Assembly) -> None:
    linter = Path(sys.executable).with_name("cfn-lint")
    files = [str(path) for path in assembly.files]

    run = subprocess.run(
        [linter, "--format", "parseable", "--ignore-checks", REDUNDANT, "--", *files],
        capture_output=True,
        text=True,
        check=False,
    )

    found = [line for line in run.stdout.splitlines() if NEWER not in line]

    assert (found, run.stderr) == ([], "")


def test_templates_are_small_and_for_any_account(assembly: Assembly) -> None:
    manifest = (assembly.directory / "manifest.json").read_text("utf-8")

    assert all(path.stat().st_size < LARGEST for path in assembly.files)
    assert "aws://unknown-account/unknown-region" in manifest


@pytest.mark.parametrize(
    ("stack", "names"),
    [
        (
            "data",
            {
                "BucketName",
                "CatalogTableName",
                "ControlTableName",
                "UserPoolId",
                "IssuerUrl",
                "UploaderPolicyArn",
            },
        ),
        ("knowledge-base", {"VectorBucketArn", "KnowledgeBasePool"}),
        ("pipeline", {"StateMachineArn", "UploadsQueueUrl"}),
        ("gateway", {"McpUrl", "ClientId", "IdentityPoolId"}),
        ("console", {"ConsoleUrl"}),
        ("operations", {"AlarmTopicArn", "DashboardUrl"}),
    ],
)
def test_a_stack_tells_what_a_person_needs(assembly: Assembly, stack: str, names: set[str]) -> None:
    assert set(assembly.outputs(stack)) == names


def test_the_outputs_are_reported_with_what_to_type_next(assembly: Assembly) -> None:
    outputs = {stack: assembly.outputs(stack) for stack in assembly.stacks}

    text = report(outputs)

    assert "/mcp\n" in text
    assert "bucket           stackroom-kb-docs-{account}-{region}" in text
    assert "admin-create-user" in text
