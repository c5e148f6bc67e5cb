"""The schedule that keeps knowledge bases warm: nothing of it unless it is asked for."""

import json
from pathlib import Path
from typing import Any

import pytest

from docs.generate import UNDEPLOYED, permissions
from tests.infra.assembly import Assembly

MINUTES = 15
OURS = "Prewarm"


@pytest.fixture(scope="module")
def warmed(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """Everything, with the switch on: a finding of cdk-nag without acknowledgment fails it."""
    import aws_cdk as cdk  # noqa: PLC0415 - starts a Node process
    from cdk_nag import AwsSolutionsChecks  # noqa: PLC0415

    from infra.app import build_app  # noqa: PLC0415

    directory: Path = tmp_path_factory.mktemp("warmed")
    app = build_app(str(directory), {"prewarm_minutes": MINUTES})
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()
    return Assembly(directory)


def test_without_the_switch_there_is_nothing_of_it(assembly: Assembly) -> None:
    for stack in assembly.stacks:
        assert OURS not in json.dumps(assembly.template(stack))
        assert assembly.all(stack, "AWS::Scheduler::Schedule") == []


def test_with_it_the_gateway_s_stack_has_more_and_all_else_is_as_before(
    assembly: Assembly, warmed: Assembly
) -> None:
    for stack in assembly.stacks - {"gateway", "operations"}:
        assert warmed.template(stack) == assembly.template(stack)
    before, after = (each.template("gateway")["Resources"] for each in (assembly, warmed))
    added = {name: after[name] for name in after.keys() - before.keys()}
    assert {name: after[name] for name in before} == before
    assert all(name.startswith(OURS) for name in added)
    assert sorted(each["Type"] for each in added.values()) == [
        "AWS::IAM::Policy",
        "AWS::IAM::Role",
        "AWS::IAM::Role",
        "AWS::Lambda::Function",
        "AWS::Logs::LogGroup",
        "AWS::Scheduler::Schedule",
    ]


def test_its_errors_are_watched_like_all_others(assembly: Assembly, warmed: Assembly) -> None:
    before, after = (each.template("operations")["Resources"] for each in (assembly, warmed))

    changed = {name for name in after if after[name] != before.get(name)}

    assert before.keys() == after.keys()
    assert {after[name]["Type"] for name in changed} == {
        "AWS::CloudWatch::Alarm",
        "AWS::CloudWatch::Dashboard",
    }
    assert all("stackroom-prewarm" in json.dumps(after[name]) for name in changed)


def test_it_runs_as_often_as_was_said(warmed: Assembly) -> None:
    schedule = warmed.one("gateway", "AWS::Scheduler::Schedule").properties
    function = warmed.one("gateway", "AWS::Lambda::Function", OURS).properties

    assert schedule["ScheduleExpression"] == f"rate({MINUTES} minutes)"
    assert function["Environment"]["Variables"]["PREWARM_MINUTES"] == str(MINUTES)
    assert schedule["Target"]["Arn"].endswith(":function:stackroom-prewarm")
    assert function["Timeout"] < 5 * 60


def test_it_may_ask_the_pool_and_read_figures(warmed: Assembly) -> None:
    granted = _granted(warmed, "stackroom-prewarm-{region}")

    assert granted == {
        ("bedrock:Retrieve", "knowledge-base/KnowledgeBase1"),
        ("bedrock:InvokeModel", "foundation-model/amazon.titan-embed-text-v2:0"),
        ("s3vectors:QueryVectors", "index/Index1"),
        ("s3vectors:GetVectors", "index/Index1"),
        ("s3vectors:GetIndex", "index/Index1"),
        ("cloudwatch:GetMetricData", "*"),
        ("xray:PutTraceSegments", "*"),
        ("xray:PutTelemetryRecords", "*"),
        ("logs:CreateLogStream", "log-group:/aws/lambda/stackroom-prewarm:*"),
        ("logs:PutLogEvents", "log-group:/aws/lambda/stackroom-prewarm:*"),
    }


def test_the_schedule_of_this_account_may_invoke_it_and_nothing_else(warmed: Assembly) -> None:
    [role] = [
        each.properties
        for each in warmed.all("gateway", "AWS::IAM::Role")
        if each.properties.get("RoleName") == "stackroom-prewarm-schedule-{region}"
    ]

    [policy] = role["Policies"]
    [statement] = policy["PolicyDocument"]["Statement"]
    [trust] = role["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Action"] == "lambda:InvokeFunction"
    assert statement["Resource"].endswith(":function:stackroom-prewarm")
    assert trust["Principal"] == {"Service": "scheduler.amazonaws.com"}
    assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": "{account}"}}


def test_the_readme_tells_its_rights_though_it_is_off(warmed: Assembly) -> None:
    table = permissions(warmed.template(stack) for stack in warmed.stacks)

    [row] = [line for line in table.splitlines() if line.startswith("| `prewarm` |")]

    rights = row.split("|")[2].strip()
    assert UNDEPLOYED["prewarm"].startswith(f"{rights}, ")


def _granted(assembly: Assembly, role: str) -> set[tuple[str, str]]:
    return {
        (action, resource if resource == "*" else resource.split(":", 5)[5])
        for policy in assembly.all("gateway", "AWS::IAM::Policy")
        if role in policy.properties["Roles"]
        for statement in policy.properties["PolicyDocument"]["Statement"]
        for action in _listed(statement["Action"])
        for resource in _listed(statement["Resource"])
    }


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
