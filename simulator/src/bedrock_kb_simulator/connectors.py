"""
The connector of a data source of a managed knowledge base.

The API model leaves connectorParameters open, so they are validated here.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.bucket_objects import Objects, S3Object

TYPE = "MANAGED_KNOWLEDGE_BASE_CONNECTOR"
_CONFIGURATION = "managedKnowledgeBaseConnectorConfiguration"
_PARAMETERS = "connectorParameters"
_SIMULATED = ("S3", "CUSTOM")


def kind_in(configuration: Mapping[str, Any]) -> str:
    """Return S3 or CUSTOM, with or without a connector."""
    if configuration["type"] != TYPE:
        return str(configuration["type"])
    return str(parameters_of(configuration)["type"])


def parameters_of(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return the connectorParameters of a data source."""
    found: dict[str, Any] = (configuration.get(_CONFIGURATION) or {})[_PARAMETERS]
    return found


def with_defaults(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration with the service's defaults; raises ValidationException."""
    given = configuration.get(_CONFIGURATION) or {}
    parameters = given.get(_PARAMETERS)
    if not isinstance(parameters, dict) or not parameters.get("type"):
        raise rules.CONNECTOR_TYPE_MISSING.broken()
    _check(parameters)
    for member in ("syncSchedule", "mediaExtractionConfiguration"):
        if given.get(member):
            raise rules.NOT_SIMULATED.broken(what=f"{member} of a data source")
    parameters = {"aclEnabled": False, **parameters}
    if parameters["type"] == "S3":
        chosen = parameters.get("filterConfiguration") or {}
        _check_filters(chosen)
        parameters["filterConfiguration"] = {"maxFileSizeInMegaBytes": "500", **chosen}
    return {**configuration, _CONFIGURATION: {**given, _PARAMETERS: parameters}}


def echoed_configuration(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration as responses have it: rule managed.connector-echo."""
    parameters = json.dumps(parameters_of(configuration))
    return {
        **configuration,
        _CONFIGURATION: {**configuration[_CONFIGURATION], _PARAMETERS: parameters},
    }


def failure(configuration: Mapping[str, Any]) -> str | None:
    """Return why an accepted data source becomes FAILED, or None if it becomes AVAILABLE."""
    parameters = parameters_of(configuration)
    if parameters["type"] != "S3":
        return None
    connection = parameters.get("connectionConfiguration")
    if connection is None:
        return rules.CONNECTOR_CONNECTION.message.format(at="connectionConfiguration")
    if not (isinstance(connection, dict) and connection.get("bucketName")):
        return rules.CONNECTOR_CONNECTION.message.format(at="connectionConfiguration.bucketName")
    return None


def _check(parameters: Mapping[str, Any]) -> None:
    if parameters.get("version") is None:
        raise rules.CONNECTOR_VERSION_MISSING.broken()
    if parameters["version"] != "1":
        raise rules.CONNECTOR_VERSION.broken(version=parameters["version"])
    kind = parameters["type"]
    if kind not in rules.CONNECTOR_KINDS.split(", "):
        raise rules.CONNECTOR_TYPE.broken(type=kind)
    if kind not in _SIMULATED:
        raise rules.NOT_SIMULATED.broken(what=f"connectors of type {kind}")
    for member in ("metadataFilesPrefix", "aclEnabled"):
        if parameters.get(member):
            raise rules.NOT_SIMULATED.broken(what=f"{member} of a connector")


def _check_filters(chosen: Mapping[str, Any]) -> None:
    for member in chosen:
        if member != "inclusionPrefixes":
            raise rules.NOT_SIMULATED.broken(what=f"{member} of a connector")
    prefixes = chosen.get("inclusionPrefixes") or []
    if not (isinstance(prefixes, list) and all(isinstance(each, str) for each in prefixes)):
        at, must = "inclusionPrefixes", "Member must be a list of strings"
        raise rules.MODEL_CONSTRAINT.broken(at=at, must=must)


def _most_deleted(configuration: Mapping[str, Any]) -> float | None:
    given = (configuration.get(_CONFIGURATION) or {}).get("deletionProtectionConfiguration") or {}
    if given.get("deletionProtectionStatus") == "DISABLED":
        return None
    percent = given.get("deletionProtectionThreshold")
    return (rules.DELETION_PROTECTION.value if percent is None else percent) / 100


# The objects of a bucket that are a data source's documents, and the vanished ones to delete.


@dataclass(frozen=True, kw_only=True)
class Source:
    """
    The bucket and prefixes of an S3 data source.

    `most_deleted` is the share of its documents that a job may delete; None means unlimited.
    """

    bucket: str
    prefixes: Sequence[str]
    most_deleted: float | None = None

    @staticmethod
    def from_configuration(configuration: dict[str, Any]) -> "Source":
        """Return the source of a stored dataSourceConfiguration."""
        if configuration["type"] != TYPE:  # the model allows one prefix
            s3 = configuration["s3Configuration"]
            prefixes = (s3.get("inclusionPrefixes") or [""])[:1]
            return Source(bucket=s3["bucketArn"].rpartition(":")[2], prefixes=prefixes)
        parameters = parameters_of(configuration)
        return Source(
            bucket=parameters["connectionConfiguration"]["bucketName"],
            prefixes=parameters["filterConfiguration"].get("inclusionPrefixes") or [""],
            most_deleted=_most_deleted(configuration),
        )

    def objects(self, objects: Objects) -> Iterator[S3Object]:
        """Yield all objects under the prefixes, each once, including sidecars."""
        seen: set[str] = set()
        for prefix in self.prefixes:
            for found in objects.under(self.bucket, prefix):
                if found.key not in seen:
                    seen.add(found.key)
                    yield found

    def deletable(self, vanished: list[str], *, total: int) -> list[str]:
        """Return all vanished of the total documents, or none under deletion protection."""
        most = self.most_deleted
        return [] if most is not None and len(vanished) > most * total else vanished
