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
    """A resource created with tags, and its service's tagging operations."""

    client: Any
    arn: str
    missing: str  # the ARN of one that there is none of
    member: str = "resourceArn"
    pairs: bool = False

    def shaped(self, tags: dict[str, str]) -> Any:
        return in_pairs(tags) if self.pairs else tags

    def tag(self, arn: str = "", **tags: str) -> None:
        self.client.tag_resource(**{self.member: arn or self.arn}, tags=self.shaped(tags))

    def untag(self, *keys: str) -> None:
        self.client.untag_resource(**{self.member: self.arn}, tagKeys=list(keys))

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
@holds("tags.changed")
@holds("tags.reserved", "request.not-found", "vector-bucket.not-found", "index.not-found")
def test_tags_are_changed_and_reserved_or_missing_refused(world: World, make: Make) -> None:
    resource = make(world, {"mcp-multirag-kb": "true", "team": "birds"})
    made_with = resource.listed()
    resource.tag(team="stones", stage="test")
    resource.untag("mcp-multirag-kb", "never-there")
    changed = resource.listed()

    at_making = invalid(lambda: make(world, {"AWS:mine": "value"}))
    reserved = invalid(lambda: resource.tag(**{"aws:mine": "value"}))
    elsewhere = resource.arn.replace("us-east-1", "eu-west-1")
    missing = [refused(resource.listed, arn=arn) for arn in (resource.missing, elsewhere)]
    missing.append(refused(lambda: resource.tag(resource.missing, team="stones")))

    assert made_with == {"mcp-multirag-kb": "true", "team": "birds"}
    assert changed == {"team": "stones", "stage": "test"}
    assert ("AWS:mine" in at_making, "aws:mine" in reserved) == (True, True)
    expected = "NotFoundException" if ":s3vectors:" in resource.arn else "ResourceNotFoundException"
    assert {error["Code"] for error in missing} == {expected}
    assert resource.listed() == changed


def test_new_bucket_or_index_of_a_deleted_name_has_no_tags(world: World) -> None:
    first = vector_index(world, {"team": "birds"})
    bucket_arn = first.arn.partition("/index/")[0]
    bucket = bucket_arn.rpartition("/")[2]
    world.s3vectors.tag_resource(resourceArn=bucket_arn, tags={"team": "birds"})
    world.s3vectors.delete_index(indexArn=first.arn)
    world.s3vectors.delete_vector_bucket(vectorBucketName=bucket)

    again = vector_index(world, {}, bucket)

    assert again.arn == first.arn
    assert first.listed() == first.listed(bucket_arn) == {}
