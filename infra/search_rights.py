"""
What a function may do that searches for somebody, keeps ready what they will search, or has a model
answer.
"""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_

from infra.bundling import CACHED, CORE, Group
from infra.deployment import Deployment
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from stackroom_constructs.agent_network import AgentNetwork


def may_search(
    handler: HandlerFunction, *, deployment: Deployment, knowledge_base: KnowledgeBaseStack
) -> None:
    """
    Variables and rights for the way that the deployment searches.

    Retrieve stays allowed beside an index that is searched itself: it answers while that can't be.
    """
    environment = {
        "RETRIEVE_VIA": deployment.retrieve_via,
        **knowledge_base.embedding_environment,
    }
    if deployment.retrieve_least_score:
        environment["RETRIEVE_LEAST_SCORE"] = deployment.retrieve_least_score
    for name, value in environment.items():
        handler.tell(name, value)
    handler.allow("bedrock:Retrieve", on=knowledge_base.knowledge_base_arns)
    if deployment.retrieve_via != "s3vectors":
        return
    # GetVectors, because a query by words, behind a filter or for metadata needs it beside its own.
    # https://docs.aws.amazon.com/AmazonS3/latest/API/API_S3VectorBuckets_QueryVectors.html
    handler.allow(
        "s3vectors:QueryVectors",
        "s3vectors:GetVectors",
        "s3vectors:GetIndex",
        on=knowledge_base.index_arns,
    )
    handler.allow("bedrock:InvokeModel", on=knowledge_base.embedding_model_arn)


def may_look(handler: HandlerFunction, *, knowledge_base: KnowledgeBaseStack) -> None:
    """See whether documents are found: in an index itself, which leaves Retrieve to people."""
    if not knowledge_base.index_arns:
        handler.allow("bedrock:Retrieve", on=knowledge_base.knowledge_base_arns)
        return
    # GetVectors as below.
    handler.allow(
        "s3vectors:QueryVectors",
        "s3vectors:GetVectors",
        "s3vectors:GetIndex",
        on=knowledge_base.index_arns,
    )


def may_rerank(handler: HandlerFunction, *, deployment: Deployment) -> None:
    """Nothing, if the deployment has no model for it."""
    if not deployment.rerank_model:
        return
    model_arn = cdk.Stack.of(handler).format_arn(
        service="bedrock",
        account="",
        resource="foundation-model",
        resource_name=deployment.rerank_model,
    )
    handler.tell("RERANK_MODEL_ARN", model_arn)
    # https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrock.html
    handler.allow(
        "bedrock:Rerank", on="*", because="The action has no resource type; the model has, below."
    )
    handler.allow("bedrock:InvokeModel", on=model_arn)


def bundle_of_search(deployment: Deployment) -> Group:
    """With Redis where it is used: docs/embedding-cache.md tells its price at a cold start."""
    return CORE if deployment.vector_cache is None else CACHED


# Converse, and ConverseStream where a person sees an answer grow.
ASKS, STREAMS = "bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"


def may_answer(
    handler: HandlerFunction, *, deployment: Deployment, by: Sequence[str] = (ASKS,)
) -> None:
    """
    Variables and rights to ask the model about what was found, guarded.

    A model may take long to write: such a function needs a minute (stackroom.aws.session).
    """
    for name, value in deployment.answer_model.environment(handler).items():
        handler.tell(name, value)
    for right in deployment.answer_model.model.rights(handler, by=by):
        handler.allow(*right.actions, on=right.resources, where=right.where, because=right.because)
    may_guard(handler, deployment=deployment)


def may_guard(handler: HandlerFunction, *, deployment: Deployment) -> None:
    """Nothing, if the deployment has no guardrail."""
    guardrail = deployment.guardrail
    if guardrail is None:
        return
    for name, value in guardrail.environment.items():
        handler.tell(name, value)
    handler.allow("bedrock:ApplyGuardrail", on=guardrail.arn(handler))


def may_keep_vectors(handler: HandlerFunction, *, deployment: Deployment) -> None:
    """Nothing, if the deployment has no cache; in its VPC, if it is in one."""
    cache = deployment.vector_cache
    if cache is None:
        return
    for name, value in cache.environment.items():
        handler.tell(name, value)
    if cache.subnet_ids:
        made = handler.function.node.default_child
        assert isinstance(made, lambda_.CfnFunction), "a Function is one of these"
        made.vpc_config = lambda_.CfnFunction.VpcConfigProperty(
            subnet_ids=list(cache.subnet_ids), security_group_ids=list(cache.security_group_ids)
        )
        AgentNetwork.allow(handler.role)
