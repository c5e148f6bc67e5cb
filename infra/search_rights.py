"""What a function may do that searches for somebody, or keeps ready what they will search."""

from infra.deployment import Deployment
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack


def may_search(
    handler: HandlerFunction, *, deployment: Deployment, knowledge_base: KnowledgeBaseStack
) -> None:
    """
    Variables and rights for the way that the deployment searches.

    Retrieve stays allowed beside an index that is searched itself: it answers while that can't be.
    """
    environment = {"RETRIEVE_VIA": deployment.retrieve_via, **knowledge_base.embedding_environment}
    for name, value in environment.items():
        handler.function.add_environment(name, value)
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
