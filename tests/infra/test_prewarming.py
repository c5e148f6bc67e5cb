"""The schedule that keeps knowledge bases warm: nothing of it unless it is asked for."""

import json

import pytest

from tests.infra.assembly import Assembly
from tests.infra.synthesis import deployment


@pytest.fixture
def warmed() -> Assembly:
    return deployment("warmed")


def test_with_it_the_gateways_stack_has_more_and_all_else_is_as_before(
    assembly: Assembly, warmed: Assembly
) -> None:
    for stack in assembly.stacks - {"gateway", "operations"}:
        assert warmed.template(stack) == assembly.template(stack)
    before, after = (each.template("gateway")["Resources"] for each in (assembly, warmed))
    assert {name: after[name] for name in before} == before
    assert all(name.startswith("Prewarm") for name in after.keys() - before.keys())


def test_its_errors_are_watched_like_all_others(assembly: Assembly, warmed: Assembly) -> None:
    before, after = (each.template("operations")["Resources"] for each in (assembly, warmed))

    changed = [after[name] for name in after if after[name] != before[name]]

    kinds = {"AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard"}
    assert {each["Type"] for each in changed} == kinds
    assert all("stackroom-prewarm" in json.dumps(each) for each in changed)


def test_it_runs_as_often_as_was_said(warmed: Assembly) -> None:
    schedule = warmed.one("gateway", "AWS::Scheduler::Schedule").properties

    assert schedule["ScheduleExpression"] == "rate(15 minutes)"
    assert schedule["Target"]["Arn"].endswith(":function:stackroom-prewarm")
    assert warmed.variables("prewarm")["PREWARM_MINUTES"] == "15"
    assert warmed.function("prewarm")["Timeout"] < 5 * 60


def test_it_may_ask_the_pool_and_read_figures(warmed: Assembly) -> None:
    assert warmed.granted("prewarm") == {
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
    role = warmed.one("gateway", "AWS::IAM::Role", "PrewarmScheduleRole").properties

    [policy] = role["Policies"]
    [statement] = policy["PolicyDocument"]["Statement"]
    [trust] = role["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Action"] == "lambda:InvokeFunction"
    assert statement["Resource"].endswith(":function:stackroom-prewarm")
    assert trust["Principal"] == {"Service": "scheduler.amazonaws.com"}
    assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": "{account}"}}
