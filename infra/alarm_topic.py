"""Where alarms go, and whoever subscribes is told of them."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns


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
