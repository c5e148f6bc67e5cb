"""The data source that a request names, and whether it takes the work."""

from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.knowledge_bases import knowledge_base
from bedrock_kb_simulator.rules import (
    DATA_SOURCE_BEING_DELETED,
    MANAGED_SOURCE_STATUS,
    NO_SUCH_RESOURCE,
)
from bedrock_kb_simulator.source_configurations import is_connector
from bedrock_kb_simulator.store import Row, Store, loaded


def data_source(store: Store, knowledge_base_id: str, data_source_id: str) -> Row:
    knowledge_base(store, knowledge_base_id)
    row = store.row(
        "SELECT * FROM data_sources WHERE id = ? AND knowledge_base_id = ?",
        data_source_id,
        knowledge_base_id,
    )
    if row is None:
        raise NO_SUCH_RESOURCE.broken(what="Data Source", id=data_source_id)
    return row


def open_data_source(store: Store, parameters: Parameters) -> Row:
    """The data source that a request names, unless it is on its way out."""
    row = data_source(store, parameters["knowledgeBaseId"], parameters["dataSourceId"])
    refuse_deleted(row)
    return row


def refuse_deleted(source: Row) -> None:
    """Raise ConflictException for a data source that is on its way out."""
    if source["status"] == "DELETING":
        raise DATA_SOURCE_BEING_DELETED.broken(id=source["id"])


def refuse_unavailable(row: Row) -> None:
    """Raise ValidationException for one of a managed knowledge base that takes no work now."""
    if is_connector(loaded(row["body"])) and row["status"] != "AVAILABLE":
        raise MANAGED_SOURCE_STATUS.broken(status=row["status"])
