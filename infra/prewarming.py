"""A scheduled function that queries the pool's knowledge bases; off unless configured."""

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets

from infra.deployment import Deployment
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from infra.search_rights import grant_search


def prewarm_function(
    stack: cdk.Stack, *, deployment: Deployment, knowledge_base: KnowledgeBaseStack
) -> HandlerFunction | None:
    """Create the scheduled function, which may search the pool and nothing else."""
    minutes = deployment.prewarm_minutes
    if not minutes:
        return None
    handler = HandlerFunction(
        stack,
        "Prewarm",
        deployment=deployment,
        package="prewarm",
        timeout=cdk.Duration.minutes(4),  # shorter than the shortest interval
        memory_size=512,
        environment={"KB_POOL": knowledge_base.pool_json},
    )
    grant_search(handler, deployment=deployment, knowledge_base=knowledge_base)
    events.Rule(
        handler,
        "Schedule",
        description="Asks each knowledge base a question, so that its index stays warm.",
        schedule=events.Schedule.rate(cdk.Duration.minutes(minutes)),
        # The next run makes up for one that was not delivered.
        targets=[targets.LambdaFunction(handler.function, retry_attempts=0)],
    )
    return handler
