"""The vector index behind a knowledge base."""

from dataclasses import dataclass

from stackroom_local.simulator.store import Store, loaded


@dataclass(frozen=True, kw_only=True)
class Index:
    """What of a vector index matters to a passage."""

    arn: str
    dimension: int
    non_filterable: tuple[str, ...]


def index_of(store: Store, knowledge_base_id: str) -> Index | None:
    """None when the index was deleted under the knowledge base."""
    row = store.row(
        "SELECT i.arn, i.body FROM vector_indexes i"
        " JOIN knowledge_bases k ON k.index_arn = i.arn WHERE k.id = ?",
        knowledge_base_id,
    )
    if row is None:
        return None
    body = loaded(row["body"])
    metadata = body.get("metadataConfiguration") or {}
    return Index(
        arn=row["arn"],
        dimension=body["dimension"],
        non_filterable=tuple(metadata.get("nonFilterableMetadataKeys", ())),
    )
