"""
The policy for who may read and change the vectors of the pool, whatever else a role may.

Reading an index means reading everybody's text, since users share it. The policy closes the
indexes. Callers of bedrock:Retrieve on a knowledge base still search with its role, which no
resource policy can prevent.

    Get and Query         the functions below, with the rights of infra/search_rights.py
    Get, Query, List,     the knowledge bases' roles, with which Bedrock ingests, searches, deletes
    Put, Delete
    none of these         search-index, which sets indexes up; infra/purge.py, which deletes them

Nobody is denied to change this policy or to delete indexes and the bucket, so that no mistake here
can lock an account out of its own data.
"""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3vectors as s3vectors

from infra.deployment import Deployment

_READ = ("s3vectors:GetVectors", "s3vectors:QueryVectors")
_CHANGE = ("s3vectors:ListVectors", "s3vectors:PutVectors", "s3vectors:DeleteVectors")

_CHECKING = ("ingest", "status-poller", "reconciler")
_SEARCHING = ("retrieve", "catalog-tools")
_SEARCHING_IN_CONSOLE = ("console", "agent-runner")


def readers(deployment: Deployment) -> tuple[str, ...]:
    """Return the functions that query an index itself; tests/infra compares them with the roles."""
    if deployment.retrieve_via != "s3vectors":
        return _CHECKING
    in_console = _SEARCHING_IN_CONSOLE if deployment.console else ()
    return (*_CHECKING, *_SEARCHING, *in_console)


def guard_vectors(
    bucket: s3vectors.CfnVectorBucket,
    *,
    deployment: Deployment,
    service_roles: list[iam.Role],
) -> None:
    """
    Add the policy. It names the functions' roles, because these are in later stacks.

    The names are fixed and without wildcards. Until a stack is deployed, anyone who may create
    roles could take such a name; then that stack fails.
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
    # Otherwise a bucket that outlives its stack would be unprotected.
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
