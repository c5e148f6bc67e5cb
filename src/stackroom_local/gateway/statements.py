"""What the service checks of a policy when it is made: one statement, about tools that exist."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import cedarpy

from stackroom_local.gateway.configuration import SchemaDefinition, TargetConfiguration

_TYPES = {"string": "String", "integer": "Long", "number": "decimal", "boolean": "Bool"}


def parsed(statement: str) -> dict[str, Any]:
    """A statement as Cedar's JSON has it. Raises ValueError, with Cedar's reason, if it is none."""
    document = json.loads(cedarpy.policies_to_json_str(statement))
    policies: list[dict[str, Any]] = list(document["staticPolicies"].values())
    if len(policies) != 1 or document["templates"]:
        raise ValueError("a statement is exactly one policy")
    return policies[0]


def findings(statement: str, targets: Iterable[TargetConfiguration]) -> list[str]:
    """What validation finds, such as a tool or an argument that no target has."""
    result = cedarpy.validate_policies(statement, _schema(targets))
    return [error.error for error in result.errors]


def _schema(targets: Iterable[TargetConfiguration]) -> str:
    actions = [
        f"action {json.dumps(f'{target.name}___{tool.name}')} appliesTo {{ "
        "principal: [OAuthUser], resource: [Gateway], "
        f"context: {{ input: {_type(tool.inputSchema)} }} }};"
        for target in targets
        for tool in target.tools
    ]
    kinds = "entity OAuthUser tags String; entity Gateway;"
    return f"namespace AgentCore {{ {kinds} {' '.join(actions)} }}"


def _type(schema: SchemaDefinition) -> str:
    if schema.type == "array":
        return f"Set<{_type(schema.items) if schema.items else 'String'}>"
    if schema.type == "object":
        return _record(schema.properties or {}, required=schema.required or [])
    return _TYPES[schema.type]


def _record(properties: Mapping[str, SchemaDefinition], *, required: Iterable[str]) -> str:
    members = [
        f"{json.dumps(name)}{'' if name in set(required) else '?'}: {_type(member)}"
        for name, member in properties.items()
    ]
    return f"{{ {', '.join(members)} }}"
