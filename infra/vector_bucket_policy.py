"""
Who may read and change the vectors of the pool, whatever else a role of the account allows.

Whoever reads an index reads everybody's text, since users share it. The policy closes the indexes;
who may call bedrock:Retrieve on a knowledge base still searches it as its role, and no policy of a
resource can prevent that.

    Get and Query         the functions below, with the rights of infra/search_rights.py
    Get, Query, List,     the knowledge bases' roles, as which Bedrock ingests, searches and deletes
    Put, Delete
    nothing of these      search-index, which sets indexes up; infra/purge.py, which deletes them

Nobody is denied to change this policy or to delete indexes and the bucket, so no mistake here locks
an account out of its own data.
"""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3vectors as s3vectors

from infra.deployment import Deployment

_READ = ("s3vectors:GetVectors", "s3vectors:QueryVectors")
_CHANGE = ("s3vectors:ListVectors", "s3vectors:PutVectors", "s3vectors:DeleteVectors")

_LOOKING = ("ingest", "status-poller", "reconciler")
_SEARCHING = ("retrieve", "catalog-tools")
_SEARCHING_IN_CONSOLE = ("console", "agent-runner")


def readers(deployment: Deployment) -> tuple[str, ...]:
    """The functions that ask an index itself; tests/infra holds them against what roles allow."""
    if deployment.retrieve_via != "s3vectors":
        return _LOOKING
    in_console = _SEARCHING_IN_CONSOLE if deployment.console else ()
    prewarming = ("prewarm",) if deployment.prewarm_minutes else ()
    return (*_LOOKING, *_SEARCHING, *in_console, *prewarming)


def guard_vectors(
    bucket: s3vectors.CfnVectorBucket,
    *,
    deployment: Deployment,
    service_roles: list[iam.Role],
) -> None:
    """
    The functions' roles are in later stacks, so they are told by their names, which are fixed and
    without wildcards. Until a stack is deployed, whoever may create roles could take its name;
    then that stack fails, and preflight tells of it.
    """
    stack = cdk.Stack.of(bucket)
    bedrock = [role.role_arn for role in service_roles]
    if deployment.break_glass_role:
        bedrock.append(deployment.break_glass_role)
    functions = [arn for each in readers(deployment) for arn in deployment.sessions_of(stack, each)]
    indexes = f"{bucket.attr_vector_bucket_arn}/index/*"
    policy = s3vectors.CfnVectorBucketPolicy(
        stack,
        "VectorsPolicy",
        vector_bucket_arn=bucket.attr_vector_bucket_arn,
        policy=iam.PolicyDocument(
            statements=[
                _refusal("VectorsAreReadByOurRoles", _READ, indexes, [*functions, *bedrock]),
                _refusal("VectorsAreChangedByBedrock", _CHANGE, indexes, bedrock),
            ]
        ),
    )
    # Else a bucket that outlives its stack would lie open.
    policy.apply_removal_policy(cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)


def _refusal(
    sid: str, actions: tuple[str, ...], indexes: str, others_than: list[str]
) -> iam.PolicyStatement:
    # [assumed: vectors.denied]
    return iam.PolicyStatement(
        sid=sid,
        effect=iam.Effect.DENY,
        principals=[iam.AnyPrincipal()],
        actions=list(actions),
        resources=[indexes],
        conditions={"ArnNotLike": {"aws:PrincipalArn": others_than}},
    )
