"""
Which resources of a template a stand-in of ours makes, or nobody; ministack makes the others.

What a Lambda function's resource policy forbids is refused by ministack's Lambda endpoint, root's
requests too; stackroom_local.resource_policies adds the type. The gateway's stand-in invokes
nothing there, since ministack passes no client context: it asks for the gateway's rights once, when
it is deployed (stackroom_local.deployment.invocation_rights), and runs the functions itself.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stackroom_local.deployment.assembly import Template
from stackroom_local.deployment.intrinsics import references

# Made by the simulator of Bedrock, and by the stand-in of the gateway.
IN_SIMULATOR = ("AWS::Bedrock::", "AWS::S3Vectors::")
IN_GATEWAY = ("AWS::BedrockAgentCore::",)
# Left out, since nothing here would obey it.
WITHOUT_EFFECT = {
    # Bedrock's service access to the S3 Vectors bucket: the simulator is that service.
    "AWS::S3Vectors::VectorBucketPolicy",
    # Questions kept for Logs Insights, which ministack doesn't have.
    "AWS::Logs::QueryDefinition",
    # How Cognito's sign-in pages look: the local issuer has a page of its own.
    "AWS::Cognito::ManagedLoginBranding",
    "AWS::CDK::Metadata",
}


@dataclass(frozen=True)
class Resource:
    logical_id: str
    type: str
    properties: dict[str, Any]


def made_by_stand_in(template: Template, prefixes: tuple[str, ...]) -> list[Resource]:
    """The resources of the types that begin so, each after those that it refers to."""
    return [
        Resource(logical_id, resource["Type"], resource.get("Properties", {}))
        for logical_id, resource in _dependencies_first(template["Resources"])
        if resource["Type"].startswith(prefixes) and resource["Type"] not in WITHOUT_EFFECT
    ]


def _dependencies_first(resources: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """A template may name a resource before the one it refers to; a cycle it may not have."""
    pending = dict(resources)
    while pending:
        ready = [
            name
            for name, resource in pending.items()
            if not (set(references(resource)) & pending.keys() - {name})
        ]
        assert ready, "a synthesised template has no cycles"
        for name in ready:
            yield name, pending.pop(name)
