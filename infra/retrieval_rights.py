"""What a function reads and may do that shows a caller passages of their documents."""

from infra.bucket_policy import PLACES
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from infra.rights import Rights
from infra.search_rights import may_guard, may_keep_vectors, may_rerank, may_search


def environment_of_retrieval(
    rights: Rights, *, knowledge_base: KnowledgeBaseStack
) -> dict[str, str]:
    return {
        **rights.stores(),
        **rights.deployment.fitting.environment,
        "KB_POOL": knowledge_base.pool_json,
        "RETRIEVE_SHARING": rights.deployment.retrieve_sharing,
    }


def may_retrieve(
    handler: HandlerFunction,
    *,
    rights: Rights,
    knowledge_base: KnowledgeBaseStack,
) -> None:
    catalogs = rights.data.catalog_table.table_arn
    handler.allow("dynamodb:GetItem", "dynamodb:BatchGetItem", on=catalogs)
    handler.allow("dynamodb:Query", on=rights.data.catalog_table.by_user_arn)
    # Names of documents, for those that a question names.
    handler.allow("dynamodb:Query", on=rights.data.catalog_table.by_name_arn)
    _may_count_questions(handler, rights=rights)
    may_search(handler, deployment=rights.deployment, knowledge_base=knowledge_base)
    may_rerank(handler, deployment=rights.deployment)
    may_keep_vectors(handler, deployment=rights.deployment)
    # ListBucket, or GET answers 403 instead of 404 where there are no places.
    rights.list_bucket(handler)
    handler.allow(
        "s3:GetObject",
        on=rights.deployment.document_arns(rights.scope, PLACES),
        because="One text per version of a document.",
    )
    may_guard(handler, deployment=rights.deployment)


def _may_count_questions(handler: HandlerFunction, *, rights: Rights) -> None:
    """For who asks, as far as their cap goes [stackroom.model.questions]."""
    # https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
    for action, keys in (
        ("dynamodb:Query", ["CAPS", "USAGE#*"]),
        ("dynamodb:UpdateItem", ["USAGE#*"]),
        ("dynamodb:PutItem", ["CAPS_REACHED#*"]),
    ):
        where = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": keys}}
        handler.allow(action, on=rights.data.control_table.table_arn, where=where)
