"""What calls a person: alarms, and the topic that whoever subscribes to is told of them by."""

from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns


@dataclass(frozen=True, kw_only=True)
class Alarms:
    scope: cdk.Stack
    project: str
    topic: sns.Topic

    def on(
        self,
        construct_id: str,
        figure: cloudwatch.IMetric,
        *,
        threshold: float,
        description: str,
        periods: int = 1,
    ) -> cloudwatch.Alarm:
        """An alarm while the figure is at the threshold or above, for so many of its periods."""
        alarm = cloudwatch.Alarm(
            self.scope,
            construct_id,
            alarm_name=f"{self.project}-{construct_id}",
            alarm_description=description,
            metric=figure,
            threshold=threshold,
            evaluation_periods=periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            # While nothing happens there is no data, which is no reason for an alarm.
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(actions.SnsAction(self.topic))
        return alarm


def alarm_topic(stack: cdk.Stack, *, project: str) -> sns.Topic:
    topic = sns.Topic(stack, "Alarms", topic_name=f"{project}-alarms", enforce_ssl=True)
    # A topic with a policy of its own loses the default that lets the account publish.
    topic.add_to_resource_policy(
        iam.PolicyStatement(
            sid="AlarmsMayPublish",
            principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
            actions=["sns:Publish"],
            resources=[topic.topic_arn],
            conditions={"StringEquals": {"aws:SourceAccount": stack.account}},
        )
    )
    return topic
