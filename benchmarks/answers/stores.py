"""
The same passages in every store, with the same vectors; a managed knowledge base cuts its own.

    make bench-answers ARGS="--stores"

Read out of the index that the library's knowledge base has filled, they are loaded into the others.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.answers.homes import managed
from benchmarks.answers.ways import pool_member
from benchmarks.serving import NotMeasured
from benchmarks.vector_stores import bedrock
from benchmarks.vector_stores.chunks import of_index
from benchmarks.vector_stores.filled import Filled
from benchmarks.vector_stores.opensearch import opensearch
from benchmarks.vector_stores.postgresql import pgvector
from benchmarks.vector_stores.stand_in import standing_in
from stackroom.documents.passages import Search
from stackroom_local.state import Instance


@contextmanager
def stores(instance: Instance) -> Iterator[list[Filled]]:
    """To be entered, and asked, within `as_function`."""
    member = pool_member()
    if member.index is None:
        raise NotMeasured("KB_POOL names no index of the knowledge base")
    own = managed(instance)
    chunks = of_index(instance.client("s3vectors"), member.index)
    print(f"loading {len(chunks):,} passages into the other stores", flush=True)
    with (
        standing_in() as endpoint,
        opensearch(endpoint, chunks, Search.SEMANTIC, Search.HYBRID) as in_opensearch,
        pgvector(chunks, Search.SEMANTIC, Search.HYBRID) as in_postgresql,
    ):
        yield [
            bedrock.by_retrieve(member.knowledge_base_id),
            bedrock.directly(member.index, Search.SEMANTIC),
            bedrock.directly(member.index, Search.HYBRID),
            bedrock.managed(own.knowledge_base_id),
            *in_opensearch,
            *in_postgresql,
        ]
