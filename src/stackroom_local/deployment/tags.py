"""
The tags of a template's resources: a map or a list there, by type, and so in the API; and made
right in the simulator where a resource is there already.
"""

from collections.abc import Mapping
from typing import Any

_BASE, _GUARDRAIL = "AWS::Bedrock::KnowledgeBase", "AWS::Bedrock::Guardrail"


def requested(resource_type: str, tags: Any) -> Any:
    """What the API is asked for of a type's `Tags` [CloudFormation reference of each type]."""
    if resource_type == _BASE:
        return tags
    if resource_type == _GUARDRAIL:
        return [{"key": tag["Key"], "value": tag["Value"]} for tag in tags]
    return {tag["Key"]: tag["Value"] for tag in tags}


def retag(client: Any, resource_type: str, arn: str, wanted: Any) -> None:
    """Its tags are those that are `requested`, and no others."""
    is_guardrail = resource_type == _GUARDRAIL
    name = {"resourceARN" if is_guardrail else "resourceArn": arn}
    listed = client.list_tags_for_resource(**name)["tags"]
    gone = sorted(set(_keys(listed)) - set(_keys(wanted)))
    if gone:
        client.untag_resource(**name, tagKeys=gone)
    if wanted and wanted != listed:
        client.tag_resource(**name, tags=wanted)


def _keys(tags: Any) -> list[str]:
    return list(tags) if isinstance(tags, Mapping) else [tag["key"] for tag in tags]
