"""The variables and rights to search, to rerank, to cache questions' vectors, and to answer."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_

from infra.bundling import CACHED, CORE, Group
from infra.deployment import Deployment
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from stackroom_constructs.agent_network import AgentNetwork
from stackroom_constructs.search_options import guardrail_right


def grant_search(
    handler: HandlerFunction, *, deployment: Deployment, knowledge_base: KnowledgeBaseStack
) -> None:
    """
    Set the variables and grant the rights for the deployment's way of searching.

    Retrieve stays allowed besides an index that is queried itself: it answers while the index can't
    be.
    """
    environment = {
        "RETRIEVE_VIA": deployment.retrieve_via,
        **knowledge_base.embedding_environment,
    }
    if deployment.retrieve_least_score:
        environment["RETRIEVE_LEAST_SCORE"] = deployment.retrieve_least_score
    for name, value in environment.items():
        handler.set_variable(name, value)
    handler.allow("bedrock:Retrieve", on=knowledge_base.knowledge_base_arns)
    if deployment.retrieve_via != "s3vectors":
        return
    # A query with text, a filter or metadata requires GetVectors in addition.
    # https://docs.aws.amazon.com/AmazonS3/latest/API/API_S3VectorBuckets_QueryVectors.html
    handler.allow(
        "s3vectors:QueryVectors",
        "s3vectors:GetVectors",
        "s3vectors:GetIndex",
        on=knowledge_base.index_arns,
    )
    handler.allow("bedrock:InvokeModel", on=knowledge_base.embedding_model_arn)


def grant_index_lookup(handler: HandlerFunction, *, knowledge_base: KnowledgeBaseStack) -> None:
    """
    Allow to check whether documents are found: in the index itself, to leave Retrieve to people.
    """
    if not knowledge_base.index_arns:
        handler.allow("bedrock:Retrieve", on=knowledge_base.knowledge_base_arns)
        return
    # GetVectors as above.
    handler.allow(
        "s3vectors:QueryVectors",
        "s3vectors:GetVectors",
        "s3vectors:GetIndex",
        on=knowledge_base.index_arns,
    )


def grant_rerank(handler: HandlerFunction, *, deployment: Deployment) -> None:
    """Allow reranking, if the deployment has a model for it."""
    if not deployment.rerank_model:
        return
    model_arn = cdk.Stack.of(handler).format_arn(
        service="bedrock",
        account="",
        resource="foundation-model",
        resource_name=deployment.rerank_model,
    )
    handler.set_variable("RERANK_MODEL_ARN", model_arn)
    # https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrock.html
    handler.allow(
        "bedrock:Rerank", on="*", because="The action has no resource type; the model has, below."
    )
    handler.allow("bedrock:InvokeModel", on=model_arn)


def search_bundle(deployment: Deployment) -> Group:
    """
    Return the zip, with Redis only if it is used: docs/embedding-cache.md has its cold-start cost.
    """
    return CORE if deployment.vector_cache is None else CACHED


# Converse, and ConverseStream where a person sees an answer grow.
ASKS, STREAMS = "bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"


def grant_answering(
    handler: HandlerFunction, *, deployment: Deployment, by: Sequence[str] = (ASKS,)
) -> None:
    """
    Set the variables and grant the rights to generate answers with the model and the guardrail.

    A model may take long to write: such a function needs a minute (stackroom.aws.session).
    """
    for name, value in deployment.answer_model.environment(handler).items():
        handler.set_variable(name, value)
    for right in deployment.answer_model.model.rights(handler, by=by):
        handler.allow(*right.actions, on=right.resources, where=right.where, because=right.because)
    grant_guardrail(handler, deployment=deployment)


def grant_guardrail(handler: HandlerFunction, *, deployment: Deployment) -> None:
    """Allow the use of the guardrail, if the deployment has one."""
    guardrail = deployment.guardrail
    if guardrail is None:
        return
    for name, value in guardrail.environment.items():
        handler.set_variable(name, value)
    right = guardrail_right(handler, guardrail.id)
    handler.allow(*right.actions, on=right.resources, because=right.because)


def grant_vector_cache(handler: HandlerFunction, *, deployment: Deployment) -> None:
    """
    Allow the use of the vector cache, if the deployment has one, and join its VPC if it has one.
    """
    cache = deployment.vector_cache
    if cache is None:
        return
    for name, value in cache.environment.items():
        handler.set_variable(name, value)
    if cache.subnet_ids:
        resource = handler.function.node.default_child
        assert isinstance(resource, lambda_.CfnFunction), "a Function's child is its CfnFunction"
        resource.vpc_config = lambda_.CfnFunction.VpcConfigProperty(
            subnet_ids=list(cache.subnet_ids), security_group_ids=list(cache.security_group_ids)
        )
        AgentNetwork.allow(handler.role)
