"""The rights and variables that searching needs, and the cache of questions' vectors."""

import json
from pathlib import Path

import aws_cdk as cdk
import pytest

from infra.deployment import Deployment
from infra.search_rights import search_bundle
from infra.shared_knowledge_bases import SharedKnowledgeBases
from stackroom.aws.redis.redis_url import redis_url
from stackroom_constructs import bundling
from tests.infra.assembly import Assembly
from tests.infra.synthesis import CONTEXTS, REDIS, RIGHT, deployment

SEARCHING = ("retrieve", "catalog-tools", "console", "agent-runner")
MODEL = "foundation-model/amazon.titan-embed-text-v2:0"
RETRIEVE = ("bedrock:Retrieve", "knowledge-base/KnowledgeBase1")
INDEX = "bucket/stackroom-vectors-{account}-{region}/index/Index1"
DIRECTLY = {
    ("s3vectors:QueryVectors", INDEX),
    ("s3vectors:GetVectors", INDEX),
    ("s3vectors:GetIndex", INDEX),
    ("bedrock:InvokeModel", MODEL),
}


@pytest.fixture
def cached() -> Assembly:
    """A deployment with a cache in a VPC."""
    return deployment("cached and sharing")


def test_searching_functions_may_query_the_index_only_if_they_search_it(
    assembly: Assembly,
) -> None:
    by_retrieve = deployment("hierarchical")

    for function in SEARCHING:
        assert {RETRIEVE, *DIRECTLY} <= assembly.granted(function)
    for function in ("retrieve", "catalog-tools"):
        granted = by_retrieve.granted(function)
        assert RETRIEVE in granted
        assert granted.isdisjoint(DIRECTLY)


@pytest.mark.parametrize(
    ("function", "embeds"),
    [
        *dict.fromkeys(("retrieve", "catalog-tools", "agent-runner"), True).items(),
        ("identity-interceptor", False),
        ("console", False),  # it needs Cognito, which the VPC can't reach
    ],
)
def test_only_embedding_functions_have_the_cache_url_and_join_its_vpc(
    cached: Assembly, function: str, embeds: bool
) -> None:
    subnets, groups = (
        str(CONTEXTS["cached and sharing"][name])
        for name in ("redis_subnet_ids", "redis_security_group_ids")
    )
    interfaces = {
        (f"ec2:{action}", "*/*")
        for action in (
            "CreateNetworkInterface",
            "DeleteNetworkInterface",
            "AssignPrivateIpAddresses",
            "UnassignPrivateIpAddresses",
        )
    }
    looking = {("ec2:DescribeNetworkInterfaces", "*"), ("ec2:DescribeSubnets", "*")}

    url = redis_url(cached.variables(function))
    inside = cached.function(function).get("VpcConfig")

    where = {"SubnetIds": subnets.split(","), "SecurityGroupIds": [groups]}
    assert (url, inside) == ((REDIS, where) if embeds else (None, None))
    assert of_ec2(cached, function) == (interfaces | looking if embeds else set())


def of_ec2(assembly: Assembly, function: str) -> set[tuple[str, str]]:
    return {each for each in assembly.granted(function) if each[0].startswith("ec2:")}


def test_redis_url_with_a_password_is_refused_without_repeating_it() -> None:
    url = "rediss://app:correct-horse@cache.example.com:6379"

    with pytest.raises(ValueError, match=r"^context redis_url must have no user") as refused:
        Deployment.from_context(cdk.App(context={**RIGHT, "redis_url": url}))

    assert "correct-horse" not in str(refused.value)
    assert "rediss://" in str(refused.value)  # what to do instead


def test_zip_contains_redis_only_with_a_cache() -> None:
    def redis_requirements(**context: object) -> list[str]:
        group = search_bundle(Deployment.from_context(cdk.App(context={**RIGHT, **context})))
        return [each for each in bundling.requirements(group.extras) if each.startswith("redis")]

    assert redis_requirements() == []
    assert len(redis_requirements(redis_url=REDIS)) == 1


LAWS = {"name": "Laws", "description": "All laws in force", "knowledge_base_id": "ABCDE12345"}


def test_only_the_runner_may_search_shared_knowledge_bases(
    cached: Assembly, assembly: Assembly
) -> None:
    added = cached.granted("agent-runner") - assembly.granted("agent-runner")

    assert {each for each in added if not each[0].startswith("ec2:")} == {  # of its cache
        ("bedrock:Retrieve", "knowledge-base/ABCDE12345"),
        ("bedrock:Retrieve", "knowledge-base/FGHIJ67890"),
    }
    assert cached.granted("console") == assembly.granted("console")
    for stack in ("gateway", "pipeline"):
        assert "knowledge-base/ABCDE12345" not in json.dumps(cached.template(stack))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('["ABCDE12345"]', "must be a JSON list of objects"),
        (json.dumps([{**LAWS, "generation": True}]), "without create and generation"),
        (json.dumps([LAWS, LAWS]), "ABCDE12345"),
    ],
)
def test_invalid_file_of_shared_knowledge_bases_is_refused(
    tmp_path: Path, text: str, reason: str
) -> None:
    file = tmp_path / "shared.json"
    file.write_text(text)

    with pytest.raises(ValueError, match=reason):
        described(str(file))
    with pytest.raises(ValueError, match=r"'nowhere\.json' must be a file of JSON"):
        described("nowhere.json")


def described(name: str) -> None:
    app = cdk.App(context={"shared_knowledge_bases_file": name})
    SharedKnowledgeBases.from_context(app).resolve(cdk.Stack(app, "Stack"))
