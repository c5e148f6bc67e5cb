"""
The Bedrock and S3 Vectors resources of a template, made in the simulator through its real API.

CloudFormation's property names are the API's with a capital first letter, so a resource becomes
one create call; what exists under its name already is kept, with everything ingested into it.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stackroom_local.deployment.guardrails import Guardrails
from stackroom_local.deployment.intrinsics import REF, Attributes
from stackroom_local.deployment.stand_ins import Resource
from stackroom_local.problems import UnknownResource


@dataclass(frozen=True)
class Simulator:
    """Makes resources; its fields are boto3 clients of the simulator."""

    bedrock: Any
    bedrock_agent: Any
    s3vectors: Any

    def make(self, stack: str, resource: Resource, properties: dict[str, Any]) -> Attributes:
        """What Ref and Fn::GetAtt of the resource answer; `properties` has no references left."""
        makers: dict[str, Callable[[str, dict[str, Any]], Attributes]] = {
            "AWS::S3Vectors::VectorBucket": self._vector_bucket,
            "AWS::S3Vectors::Index": self._index,
            "AWS::Bedrock::KnowledgeBase": self._knowledge_base,
            "AWS::Bedrock::DataSource": self._data_source,
            "AWS::Bedrock::Guardrail": self._guardrails.guardrail,
            "AWS::Bedrock::GuardrailVersion": self._guardrails.version,
        }
        if resource.type not in makers:
            raise UnknownResource(stack, resource.logical_id, resource.type)
        # CloudFormation makes a name up where the template gives none.
        fallback = f"{stack}-{resource.logical_id}".lower()[:63]
        return makers[resource.type](fallback, _as_request(properties))

    @property
    def _guardrails(self) -> Guardrails:
        return Guardrails(self.bedrock)

    def _vector_bucket(self, fallback: str, request: dict[str, Any]) -> Attributes:
        request.setdefault("vectorBucketName", fallback)
        # a conflict means that it is there from an earlier start
        with contextlib.suppress(self.s3vectors.exceptions.ConflictException):
            self.s3vectors.create_vector_bucket(**request)
        bucket = self.s3vectors.get_vector_bucket(vectorBucketName=request["vectorBucketName"])
        arn = bucket["vectorBucket"]["vectorBucketArn"]
        return {REF: arn, "VectorBucketArn": arn}

    def _index(self, fallback: str, request: dict[str, Any]) -> Attributes:
        request.setdefault("indexName", fallback)
        # a template names the bucket by name or by ARN, GetIndex only by name
        bucket = request.get("vectorBucketName") or request["vectorBucketArn"].split("/")[-1]
        with contextlib.suppress(self.s3vectors.exceptions.ConflictException):
            self.s3vectors.create_index(**request)
        found = self.s3vectors.get_index(vectorBucketName=bucket, indexName=request["indexName"])
        arn = found["index"]["indexArn"]
        return {REF: arn, "IndexArn": arn}

    def _knowledge_base(self, fallback: str, request: dict[str, Any]) -> Attributes:
        request.setdefault("name", fallback)
        known = self._named("list_knowledge_bases", "knowledgeBaseSummaries", request["name"])
        id_ = known["knowledgeBaseId"] if known else self._create_knowledge_base(request)
        found = self.bedrock_agent.get_knowledge_base(knowledgeBaseId=id_)["knowledgeBase"]
        return {
            REF: id_,
            "KnowledgeBaseId": id_,
            "KnowledgeBaseArn": found["knowledgeBaseArn"],
        }

    def _create_knowledge_base(self, request: dict[str, Any]) -> str:
        made = self.bedrock_agent.create_knowledge_base(**request)
        return str(made["knowledgeBase"]["knowledgeBaseId"])

    def _data_source(self, fallback: str, request: dict[str, Any]) -> Attributes:
        request.setdefault("name", fallback)
        base = request["knowledgeBaseId"]
        known = (
            self._named(
                "list_data_sources", "dataSourceSummaries", request["name"], knowledgeBaseId=base
            )
            or self.bedrock_agent.create_data_source(**request)["dataSource"]
        )
        return {REF: f"{base}|{known['dataSourceId']}", "DataSourceId": known["dataSourceId"]}

    def _named(self, operation: str, key: str, name: str, **scope: str) -> dict[str, Any] | None:
        pages = self.bedrock_agent.get_paginator(operation).paginate(**scope)
        return next((item for page in pages for item in page[key] if item["name"] == name), None)


def _as_request(properties: Any) -> Any:
    """CloudFormation's `VectorBucketName` is the API's `vectorBucketName`, at every depth."""
    if isinstance(properties, list):
        return [_as_request(item) for item in properties]
    if not isinstance(properties, dict):
        return properties
    return {
        name[0].lower() + name[1:]: _as_request(value)
        for name, value in properties.items()
        if name != "Tags"  # shaped differently there, and nothing here reads them
    }
