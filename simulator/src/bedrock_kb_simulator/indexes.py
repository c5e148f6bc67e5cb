"""The vector index behind a knowledge base, its service's own or one of S3 Vectors."""

from dataclasses import dataclass

from bedrock_kb_simulator.store import Row, Store, loaded


@dataclass(frozen=True, kw_only=True)
class Index:
    """What of a vector index matters to a vector in it."""

    arn: str
    dimension: int
    non_filterable: tuple[str, ...]
    metric: str
    is_enhanced: bool
    is_managed: bool = False


# Before the id of a managed knowledge base: what its vectors are kept under, and no ARN.
_MANAGED = "managed/"
_MANAGED_DIMENSION = 1024  # rule managed.embedding; of the service's own model nothing is said


def managed_index(knowledge_base_id: str) -> str:
    """What stands in the place of an index's ARN where the service keeps the vectors."""
    return f"{_MANAGED}{knowledge_base_id}"


def is_managed(knowledge_base: Row) -> bool:
    """Of a row of `knowledge_bases`."""
    return str(knowledge_base["index_arn"]).startswith(_MANAGED)


def index_of(store: Store, knowledge_base_id: str) -> Index | None:
    """None when the index was deleted under the knowledge base."""
    home = store.row("SELECT index_arn FROM knowledge_bases WHERE id = ?", knowledge_base_id)
    if home is not None and is_managed(home):
        return Index(
            arn=home["index_arn"],
            dimension=_MANAGED_DIMENSION,
            non_filterable=(),
            metric="cosine",
            is_enhanced=True,
            is_managed=True,
        )
    row = store.row(
        "SELECT i.arn, i.body FROM vector_indexes i"
        " JOIN knowledge_bases k ON k.index_arn = i.arn WHERE k.id = ?",
        knowledge_base_id,
    )
    return None if row is None else index_in(row)


def index_in(row: Row) -> Index:
    """Of a row of `vector_indexes`."""
    body = loaded(row["body"])
    metadata = body.get("metadataConfiguration") or {}
    return Index(
        arn=row["arn"],
        dimension=body["dimension"],
        non_filterable=tuple(metadata.get("nonFilterableMetadataKeys") or ()),
        metric=body["distanceMetric"],
        is_enhanced=mode_of(row) == "ENHANCED",
    )


def mode_of(row: Row) -> str:
    # Files of earlier versions say nothing of a mode; there all were ENHANCED.
    return str(loaded(row["body"]).get("indexMode") or "ENHANCED")
