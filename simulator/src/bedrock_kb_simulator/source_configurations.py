"""What CreateDataSource and UpdateDataSource are told, and what they refuse of it."""

from typing import Any

from bedrock_kb_simulator import connectors, managed_ingestion, vector_ingestion
from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.indexes import is_managed
from bedrock_kb_simulator.rules import (
    CHUNKING_IMMUTABLE,
    CONNECTOR_OF_VECTOR,
    MANAGED_DELETION_POLICY,
    MANAGED_SOURCE_TYPE,
    NOT_SIMULATED,
)
from bedrock_kb_simulator.store import Row, loaded

_KEPT = (
    "description",
    "dataSourceConfiguration",
    "dataDeletionPolicy",
    "serverSideEncryptionConfiguration",
    "vectorIngestionConfiguration",
)


def body_of(home: Row, parameters: Parameters) -> dict[str, Any]:
    """What is kept of the request, in a knowledge base; raises ServiceError for what is refused."""
    body = {member: parameters[member] for member in _KEPT if parameters.get(member) is not None}
    body = {"dataDeletionPolicy": "DELETE", **body}
    if is_managed(home):
        return _of_managed(home, body)
    kind = body["dataSourceConfiguration"]["type"]
    if kind == connectors.TYPE:
        raise CONNECTOR_OF_VECTOR.broken()
    if kind not in ("S3", "CUSTOM"):
        raise NOT_SIMULATED.broken(what=f"data sources of type {kind}")
    vector_ingestion.check(body.get("vectorIngestionConfiguration") or {})
    return body


def described(body: dict[str, Any]) -> dict[str, Any]:
    """What is kept, as answers have it."""
    if not is_connector(body):
        return body
    return {**body, "dataSourceConfiguration": connectors.told(body["dataSourceConfiguration"])}


def is_connector(body: dict[str, Any]) -> bool:
    """Whether it is of a managed knowledge base."""
    return bool(body["dataSourceConfiguration"]["type"] == connectors.TYPE)


def failure_of(body: dict[str, Any]) -> str | None:
    """Why one that was accepted ends as FAILED; None for one that will do."""
    return connectors.failure(body["dataSourceConfiguration"]) if is_connector(body) else None


def refuse_changed(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Raise ValidationException for an update of what can't change."""
    member = "vectorIngestionConfiguration"
    if (after.get(member) or None) != (before.get(member) or None):
        raise CHUNKING_IMMUTABLE.broken()


def _of_managed(home: Row, body: dict[str, Any]) -> dict[str, Any]:
    if not is_connector(body):
        raise MANAGED_SOURCE_TYPE.broken()
    if body["dataDeletionPolicy"] != "DELETE":
        raise MANAGED_DELETION_POLICY.broken()
    managed_ingestion.check(loaded(home["body"]), body.get("vectorIngestionConfiguration") or {})
    return {**body, "dataSourceConfiguration": connectors.filled(body["dataSourceConfiguration"])}
