"""
The type of the pool's knowledge bases: `vector`, with an S3 Vectors index each, or `managed`.

For `managed`, Bedrock stores the vectors itself.
https://docs.aws.amazon.com/bedrock/latest/userguide/kb-build-managed.html
"""

import aws_cdk as cdk

from infra.contexts import choice
from stackroom_constructs.bedrock_knowledge_base import Store

VECTOR, MANAGED = "vector", "managed"

# Commercial regions, as of 2026-10; a model of Bedrock's own choice exists in no other.
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
    return choice(app, "knowledge_base_type", (VECTOR, MANAGED))


def vector_store(app: cdk.App) -> Store:
    """Return the pool's vector store, as `stackroom_constructs` names it."""
    return "MANAGED" if pool_type(app) == MANAGED else "S3_VECTORS"


def require_managed_region(stack: cdk.Stack) -> None:
    """
    Raise ValueError if the stack's region is known and has no MANAGED knowledge bases.

    If it is unknown, a rule makes CloudFormation refuse the stack before it creates anything.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/rules-section-structure.html
    """
    needed = f"a region with MANAGED knowledge bases: {', '.join(REGIONS)}"
    if not cdk.Token.is_unresolved(stack.region):
        if stack.region not in REGIONS:
            raise ValueError(f"region {stack.region!r} must be {needed}")
        return
    is_available = cdk.Fn.condition_contains(list(REGIONS), cdk.Aws.REGION)
    cdk.CfnRule(
        stack,
        "Region",
        assertions=[
            cdk.CfnRuleAssertion(assert_=is_available, assert_description=f"Take {needed}.")
        ],
    )
