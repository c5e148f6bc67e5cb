"""
The environment and the rights of functions that manage catalogs for users and answer questions.
"""

from collections.abc import Sequence

from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from infra.rights import Rights
from infra.search_rights import ASKS, grant_answering, grant_rerank, grant_search


def catalog_environment(rights: Rights, *, knowledge_base: KnowledgeBaseStack) -> dict[str, str]:
    return {
        **rights.stores(),
        **rights.deployment.admission.environment,
        **rights.deployment.fitting.environment,
        "KB_POOL": knowledge_base.pool_json,
        "STATE_MACHINE_ARN": rights.state_machine_arn(),
    }


def grant_catalogs(
    handler: HandlerFunction,
    *,
    rights: Rights,
    knowledge_base: KnowledgeBaseStack,
    asks_by: Sequence[str] = (ASKS,),
) -> None:
    """
    Allow to create, list, fill, empty, delete, search and question catalogs, and to sign links.
    """
    rights.settle(handler)
    rights.list_documents(handler)
    rights.list_open(handler)
    rights.list_failed(handler)
    handler.allow("dynamodb:Query", on=rights.data.catalog_table.by_user_arn)
    # For questions that name a document.
    handler.allow("dynamodb:Query", on=rights.data.catalog_table.by_name_arn)
    rights.coordinate(handler)
    rights.read_documents(handler)
    handler.allow("s3:ListBucketVersions", on=rights.data.bucket.bucket_arn)
    # S3 requires it where a request names a version [S3 API reference: GetObject].
    handler.allow(
        "s3:GetObjectVersion",
        "s3:PutObject",
        "s3:DeleteObject",
        "s3:DeleteObjectVersion",
        on=rights.deployment.document_arns(rights.scope, "*"),
        because="A document may lie under any key; sidecars the bucket's policy keeps from it.",
    )
    rights.run(handler)
    grant_search(handler, deployment=rights.deployment, knowledge_base=knowledge_base)
    grant_rerank(handler, deployment=rights.deployment)
    grant_answering(handler, deployment=rights.deployment, by=asks_by)
