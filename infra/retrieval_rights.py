"""The environment and the rights of functions that show callers passages of their documents."""

from infra.bucket_policy import PLACES
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from infra.rights import Rights
from infra.search_rights import grant_guardrail, grant_rerank, grant_search, grant_vector_cache


def retrieval_environment(rights: Rights, *, knowledge_base: KnowledgeBaseStack) -> dict[str, str]:
    return {
        **rights.stores(),
        **rights.deployment.fitting.environment,
        "KB_POOL": knowledge_base.pool_json,
        "RETRIEVE_SHARING": rights.deployment.retrieve_sharing,
    }


def grant_retrieve(
    handler: HandlerFunction,
    *,
    rights: Rights,
    knowledge_base: KnowledgeBaseStack,
) -> None:
    catalogs = rights.data.catalog_table.table_arn
    handler.allow("dynamodb:GetItem", "dynamodb:BatchGetItem", on=catalogs)
    handler.allow("dynamodb:Query", on=rights.data.catalog_table.by_user_arn)
    # For questions that name a document.
    handler.allow("dynamodb:Query", on=rights.data.catalog_table.by_name_arn)
    _grant_question_counts(handler, rights=rights)
    grant_search(handler, deployment=rights.deployment, knowledge_base=knowledge_base)
    grant_rerank(handler, deployment=rights.deployment)
    grant_vector_cache(handler, deployment=rights.deployment)
    # Without ListBucket, GET responds with 403 instead of 404 if there are no places.
    rights.list_bucket(handler)
    handler.allow(
        "s3:GetObject",
        on=rights.deployment.document_arns(rights.scope, PLACES),
        because="One text per version of a document.",
    )
    grant_guardrail(handler, deployment=rights.deployment)


def _grant_question_counts(handler: HandlerFunction, *, rights: Rights) -> None:
    """Allow to count questions against users' caps [stackroom.model.questions]."""
    # https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
    for action, keys in (
        ("dynamodb:Query", ["CAPS", "USAGE#*"]),
        ("dynamodb:UpdateItem", ["USAGE#*"]),
        ("dynamodb:PutItem", ["CAPS_REACHED#*"]),
    ):
        where = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": keys}}
        handler.allow(action, on=rights.data.control_table.table_arn, where=where)
