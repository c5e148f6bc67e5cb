"""
The Bedrock and S3 Vectors resources of a template, made in the simulator through its real API.

CloudFormation's property names are the API's with a capital first letter, so a resource becomes
one create call. For our own stacks what exists under its name already is kept, with everything
ingested into it; stacks of others go by CloudFormation's rules (stackroom_local.simulated_types).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stackroom_local.deployment import tags
from stackroom_local.deployment.guardrails import Guardrails, GuardrailVersions
from stackroom_local.deployment.intrinsics import Attributes
from stackroom_local.deployment.knowledge_bases import DataSources, KnowledgeBases
from stackroom_local.deployment.making import Maker, Request, as_request
from stackroom_local.deployment.stand_ins import Resource
from stackroom_local.deployment.vector_stores import VectorBuckets, VectorIndexes
from stackroom_local.problems import UnknownResource

# The name of each type that a template may leave out, and the most characters of it.
_NAMES = {
    "AWS::S3Vectors::VectorBucket": ("vectorBucketName", 63),
    "AWS::S3Vectors::Index": ("indexName", 63),
    "AWS::Bedrock::KnowledgeBase": ("name", 63),
    "AWS::Bedrock::DataSource": ("name", 63),
    "AWS::Bedrock::Guardrail": ("name", 50),
}
# The attribute of each type that can be tagged by which that is done.
_ARNS = {
    "AWS::S3Vectors::VectorBucket": "VectorBucketArn",
    "AWS::S3Vectors::Index": "IndexArn",
    "AWS::Bedrock::KnowledgeBase": "KnowledgeBaseArn",
    "AWS::Bedrock::Guardrail": "GuardrailArn",
}


@dataclass(frozen=True)
class Simulator:
    """Makes resources; its fields are boto3 clients of the simulator."""

    bedrock: Any
    bedrock_agent: Any
    s3vectors: Any

    @property
    def makers(self) -> Mapping[str, Maker]:
        return {
            "AWS::S3Vectors::VectorBucket": VectorBuckets(self.s3vectors),
            "AWS::S3Vectors::Index": VectorIndexes(self.s3vectors),
            "AWS::Bedrock::KnowledgeBase": KnowledgeBases(self.bedrock_agent),
            "AWS::Bedrock::DataSource": DataSources(self.bedrock_agent),
            "AWS::Bedrock::Guardrail": Guardrails(self.bedrock),
            "AWS::Bedrock::GuardrailVersion": GuardrailVersions(self.bedrock),
        }

    def make(self, stack: str, resource: Resource, properties: dict[str, Any]) -> Attributes:
        """What Ref and Fn::GetAtt of the resource answer; `properties` has no references left."""
        maker = self.makers.get(resource.type)
        if maker is None:
            raise UnknownResource(stack, resource.logical_id, resource.type)
        # CloudFormation makes a name up where the template gives none.
        request = named(resource.type, f"{stack}-{resource.logical_id}".lower(), properties)
        made = maker.known(request)
        if made is None:
            made = maker.create(request)
        elif isinstance(maker, Guardrails):
            self.update(resource.type, made, request)
        else:
            self._retag(resource.type, made, request)
        settle(maker, made)
        return maker.attributes(made)

    def update(self, resource_type: str, physical_id: str, request: Request) -> None:
        """In place, and its tags with it, which no update of the API takes."""
        untagged = {name: value for name, value in request.items() if name != "tags"}
        self.makers[resource_type].update(physical_id, untagged)
        self._retag(resource_type, physical_id, request)

    def _retag(self, resource_type: str, physical_id: str, request: Request) -> None:
        if resource_type in _ARNS:
            arn = self.makers[resource_type].attributes(physical_id)[_ARNS[resource_type]]
            tags.retag(self._client(resource_type), resource_type, arn, request.get("tags") or {})

    def _client(self, resource_type: str) -> Any:
        if resource_type.startswith("AWS::S3Vectors::"):
            return self.s3vectors
        return self.bedrock if resource_type.endswith("::Guardrail") else self.bedrock_agent


def settle(maker: Maker, physical_id: str) -> None:
    """Wait for what takes a while, as a MANAGED knowledge base does: what needs it comes next."""
    if isinstance(maker, KnowledgeBases | DataSources):
        maker.wait(physical_id)


def named(resource_type: str, fallback: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The API's request for these properties, with a name where they give none."""
    request: dict[str, Any] = as_request(dict(properties))
    if properties.get("Tags"):
        request["tags"] = tags.requested(resource_type, properties["Tags"])
    if resource_type in _NAMES:
        name, most = _NAMES[resource_type]
        request.setdefault(name, fallback[:most])
    return request
