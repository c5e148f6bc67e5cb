"""Alarms, and the topic that notifies its subscribers of them."""

from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_budgets as budgets
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions


@dataclass(frozen=True, kw_only=True)
class Alarms:
    scope: cdk.Stack
    project: str
    topic: sns.Topic

    def on(
        self,
        construct_id: str,
        metric: cloudwatch.IMetric,
        *,
        threshold: float,
        description: str,
        periods: int = 1,
    ) -> cloudwatch.Alarm:
        """
        Create an alarm that fires once the metric reaches the threshold for `periods` periods.
        """
        alarm = cloudwatch.Alarm(
            self.scope,
            construct_id,
            alarm_name=f"{self.project}-{construct_id}",
            alarm_description=description,
            metric=metric,
            threshold=threshold,
            evaluation_periods=periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            # While nothing happens there is no data, which is no reason for an alarm.
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(actions.SnsAction(self.topic))
        return alarm


def alarm_topic(stack: cdk.Stack, *, project: str, email: str) -> sns.Topic:
    """Create the topic. SNS asks `email` to confirm; "" means no subscription."""
    topic = sns.Topic(stack, "Alarms", topic_name=f"{project}-alarms", enforce_ssl=True)
    # A topic with a policy of its own loses the default that lets the account publish.
    for sid, service in (("AlarmsMayPublish", "cloudwatch"), ("BudgetsMayPublish", "budgets")):
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid=sid,
                principals=[iam.ServicePrincipal(f"{service}.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": stack.account}},
            )
        )
    if email:
        topic.add_subscription(subscriptions.EmailSubscription(email))
    return topic


def monthly_budget(stack: cdk.Stack, *, name: str, dollars: int, topic: sns.Topic) -> None:
    """
    Notify the topic at 80 % of the budget, and when the month is forecast to exceed it.

    The budget covers the whole account: model calls are most of the cost and carry no project's
    tag. https://docs.aws.amazon.com/cost-management/latest/userguide/budgets-sns-policy.html
    """
    of = budgets.CfnBudget
    whom = [of.SubscriberProperty(subscription_type="SNS", address=topic.topic_arn)]

    def above(percent: int, kind: str) -> budgets.CfnBudget.NotificationWithSubscribersProperty:
        when = of.NotificationProperty(
            comparison_operator="GREATER_THAN", notification_type=kind, threshold=percent
        )
        return of.NotificationWithSubscribersProperty(notification=when, subscribers=whom)

    budget = of(
        stack,
        "Budget",
        budget=of.BudgetDataProperty(
            budget_name=name,
            budget_type="COST",
            time_unit="MONTHLY",
            budget_limit=of.SpendProperty(amount=dollars, unit="USD"),
        ),
        notifications_with_subscribers=[above(80, "ACTUAL"), above(100, "FORECASTED")],
    )
    budget.node.add_dependency(topic)
