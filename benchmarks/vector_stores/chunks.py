"""The passages with their vectors, as they lie in an index of S3 Vectors that Bedrock fills."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stackroom.search.cached_embeddings import Vector
from stackroom.stores.s3vectors.vector_passages import SOURCE, TEXT

_PAGE = "x-amz-bedrock-kb-document-page-number"
_BEDROCKS = ("AMAZON_BEDROCK_", "x-amz-bedrock-kb-")


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """`attributes` are those of the document's sidecar; `page` counts as Bedrock does."""

    text: str
    uri: str
    vector: Vector
    page: int | None
    attributes: Mapping[str, Any]


def of_index(s3vectors: Any, index_arn: str) -> list[Chunk]:
    """All of them: ListVectors, with everything."""
    pages = s3vectors.get_paginator("list_vectors")
    asked = {"indexArn": index_arn, "returnData": True, "returnMetadata": True}
    return [_chunk(each) for page in pages.paginate(**asked) for each in page["vectors"]]


def cut(vector: Vector, dimensions: int) -> Vector:
    """
    As Titan Text Embeddings V2 makes shorter ones, and the simulator: the first of them, made of
    length one again. https://docs.aws.amazon.com/bedrock/latest/userguide/titan-embedding-models.html
    """
    kept = vector[:dimensions]
    length = math.hypot(*kept)
    return tuple(each / length for each in kept) if length else kept


def _chunk(found: Mapping[str, Any]) -> Chunk:
    metadata = found["metadata"]
    page = metadata.get(_PAGE)
    return Chunk(
        text=metadata[TEXT],
        uri=metadata[SOURCE],
        vector=tuple(found["data"]["float32"]),
        page=None if page is None else int(page),
        attributes={key: value for key, value in metadata.items() if not key.startswith(_BEDROCKS)},
    )
