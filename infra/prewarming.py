"""A schedule that asks knowledge bases while nobody else does; off unless it is asked for."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler

from infra.deployment import Deployment
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from infra.search_rights import may_search


def prewarming(
    stack: cdk.Stack, *, deployment: Deployment, knowledge_base: KnowledgeBaseStack
) -> list[HandlerFunction]:
    """
    The function and its schedule, or nothing at all. It is no tool's function, which only the
    gateway can invoke, and may ask what is in the pool and nothing else.
    """
    minutes = deployment.prewarm_minutes
    if not minutes:
        return []
    handler = HandlerFunction(
        stack,
        "Prewarm",
        deployment=deployment,
        package="prewarm",
        timeout=cdk.Duration.minutes(4),  # over before the next one, at the shortest interval
        memory_size=512,
        environment={
            "KB_POOL": knowledge_base.pool_json,
            "PREWARM_MINUTES": str(minutes),
        },
    )
    may_search(handler, deployment=deployment, knowledge_base=knowledge_base)
    # https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazoncloudwatch.html
    handler.allow(
        "cloudwatch:GetMetricData",
        on="*",
        because="The action has no resource type; figures hold numbers and names of tools.",
    )
    _every(minutes, handler, deployment)
    return [handler]


def _every(minutes: int, handler: HandlerFunction, deployment: Deployment) -> None:
    role = iam.Role(
        handler,
        "ScheduleRole",
        role_name=deployment.role_name("prewarm-schedule"),
        # https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html
        assumed_by=iam.ServicePrincipal(
            "scheduler.amazonaws.com",
            conditions={"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}},
        ),
        inline_policies={
            "Invoke": iam.PolicyDocument(
                statements=[
                    iam.PolicyStatement(
                        actions=["lambda:InvokeFunction"],
                        resources=[handler.function.function_arn],
                    )
                ]
            )
        },
    )
    scheduler.CfnSchedule(
        handler,
        "Schedule",
        name=handler.name,
        description="Asks knowledge bases while nobody else does.",
        schedule_expression=f"rate({minutes} minutes)",
        flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
        target=scheduler.CfnSchedule.TargetProperty(
            arn=handler.function.function_arn,
            role_arn=role.role_arn,
            # The next run makes up for one that failed.
            retry_policy=scheduler.CfnSchedule.RetryPolicyProperty(maximum_retry_attempts=0),
        ),
    )
