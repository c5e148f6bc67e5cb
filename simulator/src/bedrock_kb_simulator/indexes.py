"""The vector index behind a knowledge base, its service's own or one of S3 Vectors."""

from dataclasses import dataclass

from bedrock_kb_simulator.store import Row, Store, loaded


@dataclass(frozen=True, kw_only=True)
class Index:
    """The properties of a vector index that its vectors depend on."""

    arn: str
    dimension: int
    non_filterable: tuple[str, ...]
    metric: str
    is_managed: bool = False


# Prefix of a managed knowledge base's id, in place of an index ARN.
_MANAGED = "managed/"
_MANAGED_DIMENSION = 1024  # assumed: the service's own model is undocumented


def managed_index(knowledge_base_id: str) -> str:
    """Return the stand-in for an index ARN where the service itself keeps the vectors."""
    return f"{_MANAGED}{knowledge_base_id}"


def is_managed(knowledge_base: Row) -> bool:
    """Return True for a managed knowledge base, given its row."""
    return str(knowledge_base["index_arn"]).startswith(_MANAGED)


def index_of(store: Store, knowledge_base_id: str) -> Index | None:
    """Return the index of a knowledge base, or None if the index was deleted."""
    home = store.row("SELECT index_arn FROM knowledge_bases WHERE id = ?", knowledge_base_id)
    if home is not None and is_managed(home):
        return Index(
            arn=home["index_arn"],
            dimension=_MANAGED_DIMENSION,
            non_filterable=(),
            metric="cosine",
            is_managed=True,
        )
    row = store.row(
        "SELECT i.arn, i.body FROM vector_indexes i"
        " JOIN knowledge_bases k ON k.index_arn = i.arn WHERE k.id = ?",
        knowledge_base_id,
    )
    return None if row is None else index_in(row)


def index_in(row: Row) -> Index:
    """Return the index in a row of `vector_indexes`."""
    body = loaded(row["body"])
    metadata = body.get("metadataConfiguration") or {}
    return Index(
        arn=row["arn"],
        dimension=body["dimension"],
        non_filterable=tuple(metadata.get("nonFilterableMetadataKeys") or ()),
        metric=body["distanceMetric"],
    )
