import json
import re
from typing import Any

from tests.infra.assembly import Assembly


def test_alarms_and_budget_notify_the_configured_address(
    assembly: Assembly, customised: Assembly
) -> None:
    subscription = customised.one("operations", "AWS::SNS::Subscription").properties
    budget = customised.one("operations", "AWS::Budgets::Budget").properties
    policy = customised.one("operations", "AWS::SNS::TopicPolicy").properties["PolicyDocument"]

    topic = "arn:aws:sns:{region}:{account}:docs-alarms"
    assert subscription == {"Protocol": "email", "TopicArn": topic, "Endpoint": "ops@example.com"}
    assert budget["Budget"]["BudgetLimit"] == {"Amount": 50, "Unit": "USD"}
    # Budgets are global to an account.
    assert budget["Budget"]["BudgetName"] == "docs-{region}"
    for notification in budget["NotificationsWithSubscribers"]:
        assert notification["Subscribers"] == [{"SubscriptionType": "SNS", "Address": topic}]
    allowed = [each["Principal"] for each in policy["Statement"] if each["Effect"] == "Allow"]
    assert {"Service": "budgets.amazonaws.com"} in allowed
    chosen = ("AWS::SNS::Subscription", "AWS::Budgets::Budget")
    assert assembly.all("operations", *chosen) == []


def test_every_stack_has_the_cost_tag(customised: Assembly) -> None:
    manifest = json.loads((customised.directory / "manifest.json").read_text("utf-8"))

    tags = {
        name: each["properties"].get("tags")
        for name, each in manifest["artifacts"].items()
        if each["type"] == "aws:cloudformation:stack"
    }

    assert tags == {f"docs-{stack}": {"stackroom-project": "docs"} for stack in customised.stacks}


def test_dashboard_formulas_have_no_exponents(assembly: Assembly) -> None:
    # CloudWatch reads 2.5e-05 as a metric named e, and reports it on the dashboard only.
    lines = [
        line
        for widget in _widgets(assembly)
        for line in widget["properties"].get("metrics", [])
        if "expression" in line[-1] and "SEARCH" not in line[-1]["expression"]
    ]

    assert lines
    assert not any(re.search(r"\d[eE][-+]?\d", line[-1]["expression"]) for line in lines)


def _widgets(assembly: Assembly) -> list[dict[str, Any]]:
    body = assembly.one("operations", "AWS::CloudWatch::Dashboard").properties["DashboardBody"]
    widgets: list[dict[str, Any]] = json.loads(body)["widgets"]
    return widgets


def test_alarms_notify_the_topic_and_ignore_missing_data(assembly: Assembly) -> None:
    alarms = [each.properties for each in assembly.all("operations", "AWS::CloudWatch::Alarm")]

    topic = "arn:aws:sns:{region}:{account}:stackroom-alarms"
    assert all(alarm["AlarmActions"] == [topic] for alarm in alarms)
    assert all(alarm["TreatMissingData"] == "notBreaching" for alarm in alarms)
