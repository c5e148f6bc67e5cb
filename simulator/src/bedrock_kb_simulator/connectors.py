"""
The connector of a data source of a managed knowledge base: its connectorParameters, which the API
model leaves open, so that all that is checked of them is checked here.
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
    """S3 or CUSTOM, whether by a connector or without one."""
    if configuration["type"] != TYPE:
        return str(configuration["type"])
    return str(parameters_of(configuration)["type"])


def parameters_of(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The connectorParameters that a data source has."""
    found: dict[str, Any] = (configuration.get(_CONFIGURATION) or {})[_PARAMETERS]
    return found


def filled(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The dataSourceConfiguration with what the service fills in; raises ValidationException."""
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


def told(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """As answers have it: rule managed.connector-echo."""
    parameters = json.dumps(parameters_of(configuration))
    return {
        **configuration,
        _CONFIGURATION: {**configuration[_CONFIGURATION], _PARAMETERS: parameters},
    }


def failure(configuration: Mapping[str, Any]) -> str | None:
    """Why a data source that was accepted ends as FAILED; None for one that will do."""
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


# Which objects of a bucket are a data source's documents, and which of those that vanished go.


@dataclass(frozen=True, kw_only=True)
class Source:
    """
    The bucket of an S3 data source and what lies there for it. `most_deleted` is a share, None
    without a bound.
    """

    bucket: str
    prefixes: Sequence[str]
    most_deleted: float | None = None

    @staticmethod
    def configured(configuration: dict[str, Any]) -> "Source":
        """From what is kept of a dataSourceConfiguration."""
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
        """All under the prefixes, each once, sidecars too."""
        seen: set[str] = set()
        for prefix in self.prefixes:
            for found in objects.under(self.bucket, prefix):
                if found.key not in seen:
                    seen.add(found.key)
                    yield found

    def deletable(self, vanished: list[str], *, of: int) -> list[str]:
        """All that vanished of so many, or nothing: rule managed.deletion-protection."""
        most = self.most_deleted
        return [] if most is not None and len(vanished) > most * of else vanished
