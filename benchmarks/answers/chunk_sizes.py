"""
The same documents cut in other sizes: a knowledge base for each, ingested once and kept.

    make bench-answers ARGS="--chunks 150,300,600"

Documents are read anew by each, which takes as long as the library's own ingestion; their place
maps are the library's, for pages don't depend on how a text is cut.
"""

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.answers.homes import cut_at
from benchmarks.answers.ways import count_of
from benchmarks.vector_stores import bedrock
from benchmarks.vector_stores.filled import Filled
from stackroom.documents.passages import Search
from stackroom_local.state import Instance


def chunk_sizes(instance: Instance, sizes: Sequence[int]) -> list[Filled]:
    """Two ways to search each; to be made, and asked, within `as_function`."""
    return [each for tokens in sizes for each in _of_size(instance, tokens)]


def _of_size(instance: Instance, tokens: int) -> list[Filled]:
    home = cut_at(instance, tokens)
    assert home.index_arn is not None, "it is one on S3 Vectors"
    count = count_of(instance, home.index_arn)
    made = (
        bedrock.by_retrieve(home.knowledge_base_id),
        bedrock.directly(home.index_arn, Search.HYBRID),
    )
    return [
        replace(each, name=f"{tokens} tokens, {each.name}", why=f"{count:,} passages")
        for each in made
    ]
