"""
Of which type the pool's knowledge bases are: `vector`, over an S3 Vectors index each, or `managed`,
where Bedrock keeps what it makes of documents itself.
https://docs.aws.amazon.com/bedrock/latest/userguide/kb-build-managed.html
"""

import aws_cdk as cdk

from stackroom_constructs.bedrock_knowledge_base import Store

VECTOR, MANAGED = "vector", "managed"

# Commercial ones, as of 2026-10; a model of Bedrock's own choice is in no other.
# https://docs.aws.amazon.com/bedrock/latest/userguide/kb-managed-regions.html
REGIONS = (
    "us-east-1",
    "us-west-2",
    "eu-west-1",
    "eu-west-2",
    "eu-central-1",
    "ap-northeast-1",
    "ap-southeast-2",
)


def pool_type(app: cdk.App) -> str:
    """Raises ValueError for another."""
    chosen = app.node.get_context("knowledge_base_type")
    if chosen not in (VECTOR, MANAGED):
        raise ValueError(f"context knowledge_base_type {chosen!r} must be 'vector' or 'managed'")
    return str(chosen)


def store_of(app: cdk.App) -> Store:
    """In the words of `stackroom_constructs`."""
    return "MANAGED" if pool_type(app) == MANAGED else "S3_VECTORS"


def only_where_there_are_managed_ones(stack: cdk.Stack) -> None:
    """
    Raises ValueError if the stack's region is known and has none; else CloudFormation refuses the
    stack before it makes anything.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/rules-section-structure.html
    """
    needed = f"a region with MANAGED knowledge bases: {', '.join(REGIONS)}"
    if not cdk.Token.is_unresolved(stack.region):
        if stack.region not in REGIONS:
            raise ValueError(f"region {stack.region!r} must be {needed}")
        return
    is_there = cdk.Fn.condition_contains(list(REGIONS), cdk.Aws.REGION)
    cdk.CfnRule(
        stack,
        "Region",
        assertions=[cdk.CfnRuleAssertion(assert_=is_there, assert_description=f"Take {needed}.")],
    )
