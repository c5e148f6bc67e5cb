"""
Makes the Bedrock and S3 Vectors resources of a template in the simulator, through its real API.

CloudFormation's property names are the API's with a capital first letter, so a resource becomes one
create call. In our own stacks, an existing resource of that name is kept with everything ingested
into it; other stacks follow CloudFormation's rules (stackroom_local.deployment.simulated_types).
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from stackroom_local.deployment.intrinsics import REF, Attributes
from stackroom_local.deployment.localisation import Resource
from stackroom_local.local_errors import NotStabilised, OfAnotherType, UnknownResource

# How a resource of one CloudFormation type is made, changed and deleted through AWS's API.

Request = dict[str, Any]  # the members of an API call

_POLL_SECONDS = 0.02
# A MANAGED knowledge base takes two minutes to go, at AWS's own pace.
_DEADLINE_SECONDS = 300.0
_PASSING = ("CREATING", "UPDATING")
_POLICY = "Policy"


class Maker(Protocol):
    """
    Makes one type of resource, identified by its physical id, which is the value of `Ref`.

    Requests have the API's names, and errors are the API's, as boto3 raises them.
    """

    def create(self, request: Request) -> str:
        """Create a resource and return its physical id. AWS refuses a name that is taken."""

    def find(self, request: Request) -> str | None:
        """Return the physical id of an existing resource that matches the request."""

    def attributes(self, physical_id: str) -> Attributes:
        """Return the values of `Ref` and `Fn::GetAtt` [CloudFormation reference of each type]."""

    def update(self, physical_id: str, request: Request) -> None:
        """Update a resource in place. Changes that require a replacement never come here."""

    def delete(self, physical_id: str) -> None:
        """Delete a resource and wait until it is gone."""


def as_request(properties: Any) -> Any:
    """
    Convert properties to a request's names at every depth, except in a policy, which has IAM's
    names.
    """
    if isinstance(properties, list):
        return [as_request(item) for item in properties]
    if not isinstance(properties, dict):
        return properties
    return {
        name[0].lower() + name[1:]: value if name == _POLICY else as_request(value)
        for name, value in properties.items()
        if name != "Tags"  # shaped by the type: stackroom_local.deployment.simulated_resources
    }


def until_gone(what: str, get: Callable[[], dict[str, Any]], gone: type[Exception]) -> None:
    """
    Wait until `get` raises `gone`. Raises `NotStabilised` if the deletion ends otherwise.

    `get` returns the resource's description with its status and the reasons of a failure.
    """
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while True:
        try:
            found = get()
        except gone:
            return
        if found["status"] != "DELETING" or time.monotonic() > deadline:
            reasons = found.get("failureReasons", [])
            raise NotStabilised(what, "deleted", found["status"], reasons)
        time.sleep(_POLL_SECONDS)


def until_active(what: str, get: Callable[[], dict[str, Any]], *, active: str = "ACTIVE") -> None:
    """Wait until the resource has the status `active`. Raises `NotStabilised` if it fails."""
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while (found := get())["status"] != active:
        if found["status"] not in _PASSING or time.monotonic() > deadline:
            reasons = found.get("failureReasons", [])
            raise NotStabilised(what, "created", found["status"], reasons)
        time.sleep(_POLL_SECONDS)


def _id_of(
    request: Request, client: Any, operation: str, listed: str, id_: str, **within: str
) -> str | None:
    """Return the id of the resource that has the request's name."""
    pages = client.get_paginator(operation).paginate(**within)
    found = (each for page in pages for each in page[listed] if each["name"] == request["name"])
    return next((str(each[id_]) for each in found), None)


# The tags of a template's resources: a map or a list there, by type, and so in the API. A resource
# keeps those that it was created with.

_BASE, _GUARDRAIL = "AWS::Bedrock::KnowledgeBase", "AWS::Bedrock::Guardrail"


def requested(resource_type: str, tags: Any) -> Any:
    """Convert a type's `Tags` to the API's form [CloudFormation reference of each type]."""
    if resource_type == _BASE:
        return tags
    if resource_type == _GUARDRAIL:
        return [{"key": tag["Key"], "value": tag["Value"]} for tag in tags]
    return {tag["Key"]: tag["Value"] for tag in tags}


# The guardrails of a template and their versions, made in the simulator.


@dataclass(frozen=True)
class Guardrails:
    """`AWS::Bedrock::Guardrail`; `bedrock` is a boto3 client of the simulator's control plane."""

    bedrock: Any

    def create(self, request: Request) -> str:
        return str(self.bedrock.create_guardrail(**_with_key_id(request))["guardrailArn"])

    def find(self, request: Request) -> str | None:
        return _id_of(request, self.bedrock, "list_guardrails", "guardrails", "arn")

    def attributes(self, physical_id: str) -> Attributes:
        found = self.bedrock.get_guardrail(guardrailIdentifier=physical_id)
        return {
            REF: physical_id,
            "GuardrailArn": physical_id,
            "GuardrailId": found["guardrailId"],
            "Version": found["version"],
        }

    def update(self, physical_id: str, request: Request) -> None:
        self.bedrock.update_guardrail(guardrailIdentifier=physical_id, **_with_key_id(request))

    def delete(self, physical_id: str) -> None:
        self.bedrock.delete_guardrail(guardrailIdentifier=physical_id)


@dataclass(frozen=True)
class GuardrailVersions:
    """
    `AWS::Bedrock::GuardrailVersion`; it never changes, and a new description makes another one.
    """

    bedrock: Any

    def create(self, request: Request) -> str:
        created = self.bedrock.create_guardrail_version(**request)
        return f"{created['guardrailId']}|{created['version']}"

    def find(self, request: Request) -> str | None:
        same = [
            each
            for each in self._listed(request["guardrailIdentifier"])
            if each["version"] != "DRAFT" and each.get("description") == request.get("description")
        ]
        return f"{same[-1]['id']}|{same[-1]['version']}" if same else None

    def attributes(self, physical_id: str) -> Attributes:
        id_, _, version = physical_id.partition("|")
        found = self.bedrock.get_guardrail(guardrailIdentifier=id_, guardrailVersion=version)
        return {
            REF: physical_id,
            "GuardrailArn": found["guardrailArn"],
            "GuardrailId": id_,
            "Version": version,
        }

    def update(self, physical_id: str, request: Request) -> None:
        pass

    def delete(self, physical_id: str) -> None:
        id_, _, version = physical_id.partition("|")
        self.bedrock.delete_guardrail(guardrailIdentifier=id_, guardrailVersion=version)

    def _listed(self, identifier: str) -> list[dict[str, Any]]:
        pages = self.bedrock.get_paginator("list_guardrails").paginate(
            guardrailIdentifier=identifier
        )
        return [each for page in pages for each in page["guardrails"]]


def _with_key_id(request: Request) -> Request:
    """Rename the one property whose name differs in the API."""
    kept = {name: value for name, value in request.items() if name != "kmsKeyArn"}
    return {**kept, "kmsKeyId": request["kmsKeyArn"]} if "kmsKeyArn" in request else kept


# The knowledge bases and data sources of a template, made in the simulator.


@dataclass(frozen=True)
class KnowledgeBases:
    """`AWS::Bedrock::KnowledgeBase`."""

    bedrock_agent: Any

    def create(self, request: Request) -> str:
        """Create a knowledge base that others can use. Raises `NotStabilised` if they can't."""
        created = self.bedrock_agent.create_knowledge_base(**request)["knowledgeBase"]
        physical_id = str(created["knowledgeBaseId"])
        self._wait(physical_id)
        return physical_id

    def find(self, request: Request) -> str | None:
        """
        Return its id. Raises OfAnotherType for another type, in which searches would find nothing.
        """
        of = ("list_knowledge_bases", "knowledgeBaseSummaries", "knowledgeBaseId")
        found = _id_of(request, self.bedrock_agent, *of)
        if found is not None:
            current_type = self._get(found)["knowledgeBaseConfiguration"]["type"]
            declared_type = request["knowledgeBaseConfiguration"]["type"]
            if current_type != declared_type:
                raise OfAnotherType(request["name"], current_type, declared_type)
        return found

    def attributes(self, physical_id: str) -> Attributes:
        return {
            REF: physical_id,
            "KnowledgeBaseId": physical_id,
            "KnowledgeBaseArn": str(self._get(physical_id)["knowledgeBaseArn"]),
        }

    def update(self, physical_id: str, request: Request) -> None:
        self.bedrock_agent.update_knowledge_base(knowledgeBaseId=physical_id, **request)
        self._wait(physical_id)

    def delete(self, physical_id: str) -> None:
        self.bedrock_agent.delete_knowledge_base(knowledgeBaseId=physical_id)
        gone = self.bedrock_agent.exceptions.ResourceNotFoundException
        until_gone(f"knowledge base {physical_id}", lambda: self._get(physical_id), gone)

    def _wait(self, physical_id: str) -> None:
        until_active(f"knowledge base {physical_id}", lambda: self._get(physical_id))

    def _get(self, physical_id: str) -> dict[str, Any]:
        found = self.bedrock_agent.get_knowledge_base(knowledgeBaseId=physical_id)
        return dict(found["knowledgeBase"])


@dataclass(frozen=True)
class DataSourceMaker:
    """`AWS::Bedrock::DataSource`; its physical id is `{knowledge base's id}|{its own}`."""

    bedrock_agent: Any

    def create(self, request: Request) -> str:
        """Create a data source that takes documents. Raises `NotStabilised` if it doesn't."""
        created = self.bedrock_agent.create_data_source(**request)["dataSource"]
        names = {name: created[name] for name in ("knowledgeBaseId", "dataSourceId")}
        until_active(
            f"data source {names['dataSourceId']}",
            lambda: dict(self.bedrock_agent.get_data_source(**names)["dataSource"]),
            active="AVAILABLE",
        )
        return "|".join(names.values())

    def find(self, request: Request) -> str | None:
        base = request["knowledgeBaseId"]
        of = ("list_data_sources", "dataSourceSummaries", "dataSourceId")
        found = _id_of(request, self.bedrock_agent, *of, knowledgeBaseId=base)
        return None if found is None else f"{base}|{found}"

    def attributes(self, physical_id: str) -> Attributes:
        return {REF: physical_id, "DataSourceId": physical_id.partition("|")[2]}

    def update(self, physical_id: str, request: Request) -> None:
        self.bedrock_agent.update_data_source(**{**request, **_names(physical_id)})

    def delete(self, physical_id: str) -> None:
        names = _names(physical_id)
        self.bedrock_agent.delete_data_source(**names)
        until_gone(
            f"data source {names['dataSourceId']}",
            lambda: dict(self.bedrock_agent.get_data_source(**names)["dataSource"]),
            self.bedrock_agent.exceptions.ResourceNotFoundException,
        )


def _names(physical_id: str) -> dict[str, str]:
    base, _, source = physical_id.partition("|")
    return {"knowledgeBaseId": base, "dataSourceId": source}


# The vector buckets and vector indexes of a template, made in the simulator.


@dataclass(frozen=True)
class VectorBuckets:
    """`AWS::S3Vectors::VectorBucket`; none of its properties can be changed."""

    s3vectors: Any

    def create(self, request: Request) -> str:
        self.s3vectors.create_vector_bucket(**request)
        return self._arn(vectorBucketName=request["vectorBucketName"])

    def find(self, request: Request) -> str | None:
        try:
            return self._arn(vectorBucketName=request["vectorBucketName"])
        except self.s3vectors.exceptions.NotFoundException:
            return None

    def attributes(self, physical_id: str) -> Attributes:
        return {REF: physical_id, "VectorBucketArn": physical_id}

    def update(self, physical_id: str, request: Request) -> None:
        pass

    def delete(self, physical_id: str) -> None:
        self.s3vectors.delete_vector_bucket(vectorBucketArn=physical_id)

    def _arn(self, **name: str) -> str:
        found = self.s3vectors.get_vector_bucket(**name)
        return str(found["vectorBucket"]["vectorBucketArn"])


@dataclass(frozen=True)
class VectorBucketPolicies:
    """`AWS::S3Vectors::VectorBucketPolicy`; its physical id is the bucket's ARN."""

    s3vectors: Any

    def create(self, request: Request) -> str:
        name = request.get("vectorBucketName")
        bucket = (
            {"vectorBucketName": name} if name else {"vectorBucketArn": request["vectorBucketArn"]}
        )
        found = self.s3vectors.get_vector_bucket(**bucket)["vectorBucket"]
        self.update(found["vectorBucketArn"], request)
        return str(found["vectorBucketArn"])

    def find(self, request: Request) -> str | None:
        """Return None, since a new policy replaces an existing one."""

    def attributes(self, physical_id: str) -> Attributes:
        return {REF: physical_id}

    def update(self, physical_id: str, request: Request) -> None:
        policy = request["policy"]  # CloudFormation takes it as JSON or as text
        text = policy if isinstance(policy, str) else json.dumps(policy)
        self.s3vectors.put_vector_bucket_policy(vectorBucketArn=physical_id, policy=text)

    def delete(self, physical_id: str) -> None:
        self.s3vectors.delete_vector_bucket_policy(vectorBucketArn=physical_id)


@dataclass(frozen=True)
class VectorIndexes:
    """`AWS::S3Vectors::Index`; none of its properties can be changed."""

    s3vectors: Any

    def create(self, request: Request) -> str:
        self.s3vectors.create_index(**request)
        return self._arn(request)

    def find(self, request: Request) -> str | None:
        try:
            return self._arn(request)
        except self.s3vectors.exceptions.NotFoundException:
            return None

    def attributes(self, physical_id: str) -> Attributes:
        return {REF: physical_id, "IndexArn": physical_id}

    def update(self, physical_id: str, request: Request) -> None:
        pass

    def delete(self, physical_id: str) -> None:
        self.s3vectors.delete_index(indexArn=physical_id)

    def _arn(self, request: Request) -> str:
        # a template names the bucket by name or by ARN, GetIndex by name
        bucket = request.get("vectorBucketName") or request["vectorBucketArn"].split("/")[-1]
        found = self.s3vectors.get_index(vectorBucketName=bucket, indexName=request["indexName"])
        return str(found["index"]["indexArn"])


# The name of each type that a template may leave out, and the most characters of it.
_NAMES = {
    "AWS::S3Vectors::VectorBucket": ("vectorBucketName", 63),
    "AWS::S3Vectors::Index": ("indexName", 63),
    "AWS::Bedrock::KnowledgeBase": ("name", 63),
    "AWS::Bedrock::DataSource": ("name", 63),
    "AWS::Bedrock::Guardrail": ("name", 50),
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
            "AWS::S3Vectors::VectorBucketPolicy": VectorBucketPolicies(self.s3vectors),
            "AWS::S3Vectors::Index": VectorIndexes(self.s3vectors),
            "AWS::Bedrock::KnowledgeBase": KnowledgeBases(self.bedrock_agent),
            "AWS::Bedrock::DataSource": DataSourceMaker(self.bedrock_agent),
            "AWS::Bedrock::Guardrail": Guardrails(self.bedrock),
            "AWS::Bedrock::GuardrailVersion": GuardrailVersions(self.bedrock),
        }

    def make(self, stack: str, resource: Resource, properties: dict[str, Any]) -> Attributes:
        """
        Make a resource and return its Ref and Fn::GetAtt values; `properties` has no references
        left.
        """
        maker = self.makers.get(resource.type)
        if maker is None:
            raise UnknownResource(stack, resource.logical_id, resource.type)
        # CloudFormation makes a name up where the template gives none.
        request = named(resource.type, f"{stack}-{resource.logical_id}".lower(), properties)
        physical_id = maker.find(request)
        if physical_id is None:
            physical_id = maker.create(request)
        elif isinstance(maker, Guardrails):
            self.update(resource.type, physical_id, request)
        return maker.attributes(physical_id)

    def update(self, resource_type: str, physical_id: str, request: Request) -> None:
        """Update a resource in place, but for its tags, which no update of the API includes."""
        untagged = {name: value for name, value in request.items() if name != "tags"}
        self.makers[resource_type].update(physical_id, untagged)


def named(resource_type: str, fallback: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the API's request for these properties, with a name if they give none."""
    request: dict[str, Any] = as_request(dict(properties))
    if properties.get("Tags"):
        request["tags"] = requested(resource_type, properties["Tags"])
    if resource_type in _NAMES:
        name, most = _NAMES[resource_type]
        request.setdefault(name, fallback[:most])
    return request
