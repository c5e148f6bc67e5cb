"""
The gateway's policy engine: Cedar, by Cedar's own evaluator, over the policies of the template.

Principal, action, resource and context are those of .../devguide/policy-authorization-flow.html
(under https://docs.aws.amazon.com/bedrock-agentcore/latest/): the token's subject with its claims
as tags, the tool, the gateway, and the arguments as `context.input`. Nothing is permitted that no
policy permits, and one `forbid` outweighs them all. How AWS writes a claim that is no text into a
tag is documented nowhere; here it is the claim's JSON.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cedarpy

from stackroom_local.gateway.arguments import context_input
from stackroom_local.gateway.configuration import PolicyEngineConfiguration, SchemaDefinition
from stackroom_local.gateway.statements import parsed

Claims = Mapping[str, Any]

_USER = "AgentCore::OAuthUser"
_ACTION = "AgentCore::Action"
_GATEWAY = "AgentCore::Gateway"


@dataclass(frozen=True)
class PolicyEngine:
    """Raises ValueError, at the first question, for a statement that is no policy."""

    configuration: PolicyEngineConfiguration

    @property
    def enforces(self) -> bool:
        return self.configuration.mode == "ENFORCE"

    def denial(
        self, claims: Claims, tool: str, arguments: Mapping[str, Any], schema: SchemaDefinition
    ) -> str | None:
        """Why the caller may not make this call, in AWS's words; None if they may."""
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
        """Whether some call of the tool could be permitted: its arguments aren't known yet."""
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
