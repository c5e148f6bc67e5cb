"""An index of the stand-in for OpenSearch Serverless, with the passages in it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from botocore.credentials import Credentials

from benchmarks.vector_stores.chunks import Chunk, cut
from benchmarks.vector_stores.filled import Filled, embeddings, vector_of
from benchmarks.vector_stores.stand_in import KEY
from stackroom.documents.filters import Filter
from stackroom.documents.passages import Search
from stackroom.stores.opensearch import opensearch_adapter, opensearch_filters
from stackroom.stores.opensearch.collection import Collection
from stackroom.stores.opensearch.index_layout import Fields, creation, layout_of
from stackroom.stores.opensearch.opensearch_adapter import OpenSearchKnowledgeBase
from tests.opensearch import collection
from tests.opensearch.collection import PRINCIPALS
from tests.opensearch.stand_in import REGION

INDEX, DIMENSIONS = "knowledge-base", 256
_BATCH = 500  # documents of one bulk request


@contextmanager
def opensearch(endpoint: str, chunks: Sequence[Chunk], *searches: Search) -> Iterator[list[Filled]]:
    """The same index, in a stand-in that is up, searched in each of these ways."""
    there = collection.Collection.at(endpoint)
    _fill(there, chunks)
    yield [_filled(there, search) for search in searches]
    there.close()


def _fill(there: collection.Collection, chunks: Sequence[Chunk]) -> None:
    there.fill(INDEX, creation(dimensions=DIMENSIONS), ())
    writer, left = there.client("writer"), iter(chunks)
    while batch := list(islice(left, _BATCH)):
        lines: list[Mapping[str, Any]] = []
        for chunk in batch:
            lines += [{"index": {}}, _document(chunk)]
        answered = writer.bulk(index=INDEX, body=lines, request_timeout=120)
        assert not answered["errors"], "the stand-in takes what its own layout is made for"


def _document(chunk: Chunk) -> dict[str, Any]:
    about = {**chunk.attributes, "source": chunk.uri}
    if chunk.page is not None:
        about["page"] = chunk.page
    fields = Fields()
    return {
        fields.vector: cut(chunk.vector, DIMENSIONS),
        fields.text: chunk.text,
        fields.metadata: about,
    }


def _filled(there: collection.Collection, search: Search) -> Filled:
    credentials = Credentials(KEY, PRINCIPALS[KEY].secret_key)
    reader = there.client(KEY)
    mapping = reader.indices.get_mapping(index=INDEX)[INDEX]["mappings"]
    attributes = layout_of(mapping, Fields(), index=INDEX).attributes
    by_words = search is Search.HYBRID

    def bare(question: str, condition: Filter | None, limit: int) -> Any:
        within = None if condition is None else opensearch_filters.rendered(condition, attributes)
        vector = vector_of(question, DIMENSIONS)
        near = opensearch_adapter.nearest(vector, limit, within, Fields())
        if not by_words:
            return reader.search(index=INDEX, body=near)
        worded = opensearch_adapter.best_by_words(question, limit, within, Fields())
        return reader.msearch(index=INDEX, body=[{}, near, {}, worded])

    return Filled(
        name=f"OPENSEARCH_SERVERLESS, {'hybrid' if by_words else 'by meaning'}",
        knowledge_base=OpenSearchKnowledgeBase(
            Collection(there.endpoint, credentials=credentials, region=REGION),
            INDEX,
            embeddings=embeddings(DIMENSIONS),
            search=search,
        ),
        bare=bare,
    )
