"""What Bedrock fills: a knowledge base on S3 Vectors, searched in two ways, and a managed one."""

from collections.abc import Callable
from typing import Any

from benchmarks.vector_stores.filled import Filled, embeddings, vector_of
from stackroom.aws.session import client
from stackroom.documents.filters import Filter
from stackroom.documents.passages import Search
from stackroom.stores.bedrock.bedrock_adapter import BedrockKnowledgeBase, rendered
from stackroom.stores.bedrock.retrieve_options import RetrieveOptions
from stackroom.stores.s3vectors import s3vectors_filters
from stackroom.stores.s3vectors.s3vectors_adapter import S3VectorsKnowledgeBase
from stackroom.stores.s3vectors.vector_passages import TEXT

DIMENSIONS = 1024


def by_retrieve(knowledge_base_id: str) -> Filled:
    runtime = client("bedrock-agent-runtime")
    return Filled(
        name="S3_VECTORS (Retrieve)",
        knowledge_base=BedrockKnowledgeBase(runtime, knowledge_base_id),
        bare=_retrieve(runtime, knowledge_base_id, "vectorSearchConfiguration"),
    )


def managed(knowledge_base_id: str) -> Filled:
    runtime = client("bedrock-agent-runtime")
    options = RetrieveOptions(is_managed=True)
    return Filled(
        name="MANAGED (Retrieve)",
        knowledge_base=BedrockKnowledgeBase(runtime, knowledge_base_id, options=options),
        bare=_retrieve(runtime, knowledge_base_id, "managedSearchConfiguration"),
    )


def directly(index_arn: str, search: Search) -> Filled:
    vectors = client("s3vectors")
    by_words = search is Search.HYBRID

    def bare(question: str, condition: Filter | None, limit: int) -> Any:
        asked: dict[str, Any] = {
            "indexArn": index_arn,
            "topK": limit,
            "returnMetadata": True,
            "queryVector": {"float32": list(vector_of(question, DIMENSIONS))},
        }
        if condition is not None:
            asked["filter"] = s3vectors_filters.rendered(condition)
        if by_words:
            asked["queryTexts"] = [{"text": question, "metadataKey": TEXT}]
        asked["returnScores" if by_words else "returnDistance"] = True
        return vectors.query_vectors(**asked)

    return Filled(
        name=f"S3_VECTORS_DIRECT, {'hybrid' if by_words else 'by meaning'}",
        knowledge_base=S3VectorsKnowledgeBase(
            vectors, index_arn, embeddings=embeddings(DIMENSIONS), search=search
        ),
        bare=bare,
    )


def _retrieve(
    runtime: Any, knowledge_base_id: str, configuration: str
) -> Callable[[str, Filter | None, int], Any]:
    def bare(question: str, condition: Filter | None, limit: int) -> Any:
        asked: dict[str, Any] = {"numberOfResults": limit}
        if condition is not None:
            asked["filter"] = rendered(condition)
        return runtime.retrieve(
            knowledgeBaseId=knowledge_base_id,
            retrievalQuery={"text": question},
            retrievalConfiguration={configuration: asked},
        )

    return bare
