"""Tags of knowledge bases, guardrails, vector buckets and indexes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from simulator.tests.holding import holds
from simulator.tests.world import World, guardrail_request, invalid, knowledge_base_request, refused


@dataclass(frozen=True)
class Tagged:
    """A resource created with tags, and its service's client."""

    client: Any
    arn: str
    missing: str  # the ARN of one that there is none of
    member: str = "resourceArn"
    pairs: bool = False

    def listed(self, arn: str = "") -> dict[str, str]:
        tags = self.client.list_tags_for_resource(**{self.member: arn or self.arn})["tags"]
        return {tag["key"]: tag["value"] for tag in tags} if self.pairs else tags


def in_pairs(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in tags.items()]


def knowledge_base(world: World, tags: dict[str, str]) -> Tagged:
    request = knowledge_base_request(world.index())
    made = world.agent.create_knowledge_base(**request, tags=tags)["knowledgeBase"]
    arn = made["knowledgeBaseArn"]
    return Tagged(world.agent, arn, arn.replace(made["knowledgeBaseId"], "NOSUCHBASE"))


def guardrail(world: World, tags: dict[str, str]) -> Tagged:
    request = guardrail_request(words=["gravel"])
    arn = world.bedrock.create_guardrail(**request, tags=in_pairs(tags))["guardrailArn"]
    missing = f"{arn.rpartition('/')[0]}/abcdefabcdef"
    return Tagged(world.bedrock, arn, missing, member="resourceARN", pairs=True)


def vector_bucket(world: World, tags: dict[str, str]) -> Tagged:
    name = f"vectors-{uuid4().hex}"
    made = world.s3vectors.create_vector_bucket(vectorBucketName=name, tags=tags)
    arn = made["vectorBucketArn"]
    return Tagged(world.s3vectors, arn, arn.replace(name, "no-such-bucket"))


def vector_index(world: World, tags: dict[str, str], bucket: str = "") -> Tagged:
    name = bucket or f"vectors-{uuid4().hex}"
    world.s3vectors.create_vector_bucket(vectorBucketName=name)
    arn = world.s3vectors.create_index(
        vectorBucketName=name,
        indexName="passages",
        dataType="float32",
        dimension=4,
        distanceMetric="cosine",
        tags=tags,
    )["indexArn"]
    return Tagged(world.s3vectors, arn, arn.replace("passages", "no-such-index"))


MAKE = [knowledge_base, guardrail, vector_bucket, vector_index]
Make = Callable[[World, dict[str, str]], Tagged]


@pytest.mark.parametrize("make", MAKE, ids=lambda make: make.__name__)
@holds("tags.reserved", "request.not-found", "vector-bucket.not-found", "index.not-found")
def test_tags_are_listed_and_reserved_or_missing_refused(world: World, make: Make) -> None:
    resource = make(world, {"mcp-multirag-kb": "true", "team": "birds"})

    reserved = invalid(lambda: make(world, {"AWS:mine": "value"}))
    elsewhere = resource.arn.replace("us-east-1", "eu-west-1")
    missing = [refused(resource.listed, arn=arn) for arn in (resource.missing, elsewhere)]

    assert resource.listed() == {"mcp-multirag-kb": "true", "team": "birds"}
    assert "AWS:mine" in reserved
    expected = "NotFoundException" if ":s3vectors:" in resource.arn else "ResourceNotFoundException"
    assert {error["Code"] for error in missing} == {expected}


@holds("tags.kept")
def test_new_index_of_a_deleted_name_has_no_tags(world: World) -> None:
    first = vector_index(world, {"team": "birds"})
    bucket = first.arn.partition("/index/")[0].rpartition("/")[2]
    world.s3vectors.delete_index(indexArn=first.arn)
    world.s3vectors.delete_vector_bucket(vectorBucketName=bucket)

    again = vector_index(world, {}, bucket)

    assert again.arn == first.arn
    assert first.listed() == {}
