"""What a function reads and may do that looks after catalogs for their owners, and answers them."""

from collections.abc import Sequence

from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from infra.rights import Rights
from infra.search_rights import ASKS, may_answer, may_rerank, may_search


def environment_of_catalogs(
    rights: Rights, *, knowledge_base: KnowledgeBaseStack
) -> dict[str, str]:
    return {
        **rights.stores(),
        **rights.deployment.admission.environment,
        **rights.deployment.fitting.environment,
        "KB_POOL": knowledge_base.pool_json,
        "STATE_MACHINE_ARN": rights.state_machine_arn(),
    }


def may_use_catalogs(
    handler: HandlerFunction,
    *,
    rights: Rights,
    knowledge_base: KnowledgeBaseStack,
    asks_by: Sequence[str] = (ASKS,),
) -> None:
    """Make, list, fill, empty and delete them; sign links to documents; search and answer."""
    rights.settle(handler)
    rights.list_documents(handler)
    handler.allow("dynamodb:Query", on=rights.data.catalog_table.by_user_arn)
    # Names of documents, for those that a question names.
    handler.allow("dynamodb:Query", on=rights.data.catalog_table.by_name_arn)
    rights.coordinate(handler)
    rights.read_documents(handler)
    handler.allow("s3:ListBucketVersions", on=rights.data.bucket.bucket_arn)
    # S3 asks for it where a request names a version [S3 API reference: GetObject].
    handler.allow(
        "s3:GetObjectVersion",
        "s3:PutObject",
        "s3:DeleteObject",
        "s3:DeleteObjectVersion",
        on=rights.deployment.document_arns(rights.scope, "*"),
        because="A document may lie under any key; sidecars the bucket's policy keeps from it.",
    )
    rights.run(handler)
    may_search(handler, deployment=rights.deployment, knowledge_base=knowledge_base)
    may_rerank(handler, deployment=rights.deployment)
    may_answer(handler, deployment=rights.deployment, by=asks_by)
