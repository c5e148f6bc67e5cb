"""
What a data source is in Bedrock's words: by its own type, or in a MANAGED knowledge base by a
connector, the one type that such a knowledge base takes.
https://docs.aws.amazon.com/bedrock/latest/userguide/kb-managed-connect-ds.html
"""

import json
from collections.abc import Mapping
from typing import Any

from stackroom.model import DataSourceType

_CONNECTOR = "MANAGED_KNOWLEDGE_BASE_CONNECTOR"
_SETTINGS = "managedKnowledgeBaseConnectorConfiguration"
_PARAMETERS = "connectorParameters"


def over_prefix(bucket: str, prefix: str) -> dict[str, Any]:
    return {
        "type": "S3",
        "s3Configuration": {"bucketArn": f"arn:aws:s3:::{bucket}", "inclusionPrefixes": [prefix]},
    }


def managed_over_prefix(bucket: str, prefix: str, *, owner: str) -> dict[str, Any]:
    """
    `owner` is the AWS account that has the bucket.

    Deletion protection is off: with it a sync that finds more than 15 % of the documents gone,
    which a person may well have deleted, deletes none of them, and ends all the same.
    https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent_DeletionProtectionConfiguration.html
    https://docs.aws.amazon.com/bedrock/latest/userguide/kb-managed-ds-s3.html
    """
    return {
        "type": _CONNECTOR,
        _SETTINGS: {
            "deletionProtectionConfiguration": {"deletionProtectionStatus": "DISABLED"},
            _PARAMETERS: {
                "type": "S3",
                "version": "1",
                "connectionConfiguration": {"bucketName": bucket, "bucketOwnerAccountId": owner},
                "filterConfiguration": {"inclusionPrefixes": [prefix]},
            },
        },
    }


def type_in(configuration: Mapping[str, Any]) -> DataSourceType | None:
    """None for what is somebody else's: nothing here makes a data source of any other type."""
    named = configuration["type"]
    if named == _CONNECTOR:
        named = _parameters(configuration).get("type")
    return DataSourceType(named) if named in frozenset(DataSourceType) else None


def prefix_in(configuration: Mapping[str, Any]) -> str:
    """Below which it reads; empty for the whole bucket, and where it reads none."""
    if configuration["type"] == _CONNECTOR:
        chosen = _parameters(configuration).get("filterConfiguration", {})
    else:
        chosen = configuration.get("s3Configuration", {})
    prefixes = chosen.get("inclusionPrefixes") or [""]
    return str(prefixes[0])


def _parameters(configuration: Mapping[str, Any]) -> Mapping[str, Any]:
    """An object in the API model; users report that answers have a text of JSON in its place."""
    told = configuration.get(_SETTINGS, {}).get(_PARAMETERS, {})
    found: Mapping[str, Any] = json.loads(told) if isinstance(told, str) else told
    return found
