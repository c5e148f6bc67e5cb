"""
The gateway's policy engine: Cedar's own evaluator over the policies of the template.

Principal, action, resource and context are those of .../devguide/policy-authorization-flow.html
(under https://docs.aws.amazon.com/bedrock-agentcore/latest/): the token's subject with its claims
as tags, the tool, the gateway, and the arguments as `context.input`. A call needs a policy that
permits it, and one `forbid` overrides them all. How AWS writes a claim that is no text into a tag
is not documented; here it is the claim's JSON.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cached_property
from typing import Any

import cedarpy

from stackroom_local.gateway.gateway_configuration import (
    PolicyEngineConfiguration,
    SchemaDefinition,
    TargetConfiguration,
)

# What the service checks of a policy when it is made: one statement, about tools that exist.

_TYPES = {"string": "String", "integer": "Long", "number": "decimal", "boolean": "Bool"}


def parsed(statement: str) -> dict[str, Any]:
    """
    Return a statement in Cedar's JSON. Raises ValueError with Cedar's reason if it is invalid.
    """
    document = json.loads(cedarpy.policies_to_json_str(statement))
    policies: list[dict[str, Any]] = list(document["staticPolicies"].values())
    if len(policies) != 1 or document["templates"]:
        raise ValueError("a statement is exactly one policy")
    return policies[0]


def findings(statement: str, targets: Iterable[TargetConfiguration]) -> list[str]:
    """Return the findings of validation, such as a tool or an argument that no target has."""
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


# A call's arguments as Cedar sees them, `context.input`: by the tool's schema an `integer` is a
# Long and a `number` a Decimal (.../devguide/policy-schema-constraints.html, under
# https://docs.aws.amazon.com/bedrock-agentcore/latest/).
#
# Cedar knows less than JSON. A null is left out, as if it had not been sent. A number beyond
# Cedar's is the nearest that it has, so that every comparison comes out as it should; four of its
# decimals are kept. Names that Cedar's JSON gives a meaning (`__entity`, `__extn`) lose it: an
# argument is a value and nothing else.

_LARGEST = 2**63 - 1
_LEAST = -(2**63)
_STEP = Decimal("0.0001")  # a Decimal is a Long of these


def context_input(arguments: Mapping[str, Any], schema: SchemaDefinition | None) -> dict[str, Any]:
    known = (schema.properties if schema else None) or {}
    return {
        _inert(name): _value(value, known.get(name))
        for name, value in arguments.items()
        if value is not None
    }


def _value(value: Any, schema: SchemaDefinition | None) -> Any:
    match value:
        case bool() | str():
            return value
        case int() if schema is None or schema.type != "number":
            return min(max(value, _LEAST), _LARGEST)
        case int() | float():
            return _decimal(value)
        case dict():
            return context_input(value, schema)
        case list():
            items = schema.items if schema else None
            return [_value(member, items) for member in value if member is not None]
        case _:
            raise TypeError(f"JSON has no {type(value).__name__}")


def _decimal(value: float) -> dict[str, Any]:
    steps = int((Decimal(value) / _STEP).to_integral_value(ROUND_HALF_EVEN))
    exact = min(max(steps, _LEAST), _LARGEST) * _STEP
    return {"__extn": {"fn": "decimal", "arg": f"{exact:.4f}"}}


def _inert(name: str) -> str:
    return f"argument {name}" if name.startswith("__") else name


Claims = Mapping[str, Any]

_USER = "AgentCore::OAuthUser"
_ACTION = "AgentCore::Action"
_GATEWAY = "AgentCore::Gateway"


@dataclass(frozen=True)
class PolicyEngine:
    """Decides calls by policies. The first decision raises ValueError for an invalid statement."""

    configuration: PolicyEngineConfiguration

    def denial(
        self, claims: Claims, tool: str, arguments: Mapping[str, Any], schema: SchemaDefinition
    ) -> str | None:
        """Return why the caller may not make this call, in AWS's words, or None if they may."""
        request = {
            "principal": {"type": _USER, "id": _subject(claims)},
            "action": {"type": _ACTION, "id": tool},
            "resource": {"type": _GATEWAY, "id": self.configuration.gateway_arn},
            "context": {"input": context_input(arguments, schema)},
        }
        result = cedarpy.is_authorized(request, self._policies, [_user(claims)])
        if result.decision is cedarpy.Decision.Allow:
            return None
        if forbidding := ", ".join(sorted(result.diagnostics.reasons)):
            return f"Policy evaluation denied due to {forbidding}"
        return "No policy applies to the request (denied by default)."

    def shows(self, claims: Claims, tool: str) -> bool:
        """
        Return whether some call of the tool could be permitted, since its arguments aren't known
        yet.
        """
        request = {
            "principal": _named(_USER, _subject(claims)),
            "action": _named(_ACTION, tool),
            "resource": _named(_GATEWAY, self.configuration.gateway_arn),
        }
        result = cedarpy.is_authorized_partial(request, self._policies, [_user(claims)])
        if result.decision is cedarpy.Decision.NoDecision:
            return bool(result.residuals)  # without any, the question itself was at fault
        return result.allowed

    @cached_property
    def _policies(self) -> cedarpy.PolicySet:
        statements = {
            policy.policy_id: parsed(policy.statement) for policy in self.configuration.policies
        }
        return cedarpy.PolicySet.from_json_str(
            json.dumps({"staticPolicies": statements, "templates": {}, "templateLinks": []})
        )


def _subject(claims: Claims) -> str:
    return str(claims.get("sub", ""))


def _user(claims: Claims) -> dict[str, Any]:
    tags = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in claims.items()
    }
    uid = {"type": _USER, "id": _subject(claims)}
    return {"uid": uid, "attrs": {}, "parents": [], "tags": tags}


def _named(kind: str, name: str) -> str:
    return f"{kind}::{json.dumps(name, ensure_ascii=False)}"
