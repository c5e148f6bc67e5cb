"""The vector index behind a knowledge base, or named in a request."""

from dataclasses import dataclass

from stackroom_local.simulator.store import Row, Store, loaded


@dataclass(frozen=True, kw_only=True)
class Index:
    """What of a vector index matters to a vector in it."""

    arn: str
    dimension: int
    non_filterable: tuple[str, ...]
    metric: str
    is_enhanced: bool


def index_of(store: Store, knowledge_base_id: str) -> Index | None:
    """None when the index was deleted under the knowledge base."""
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
