"""A cache for questions' vectors: nothing of it unless it is named, and no way in for others."""

import json

import aws_cdk as cdk
import pytest

from infra.deployment import Deployment
from infra.search_rights import bundle_of_search
from stackroom.aws.redis_url import redis_url
from stackroom_constructs import packages
from tests.infra.assembly import Assembly
from tests.infra.synthesis import REDIS, deployment
from tests.infra.test_app import RIGHT

SUBNETS = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
GROUPS = ["sg-0123456789abcdef0"]
PASSWORD = "correct-horse"
WHERE = {"redis_subnet_ids": ",".join(SUBNETS), "redis_security_group_ids": GROUPS[0]}


@pytest.fixture
def cached() -> Assembly:
    """Everything, with a cache in a VPC."""
    return deployment("cached")


def test_without_one_there_is_nothing_of_it(assembly: Assembly) -> None:
    for stack in assembly.stacks:
        text = json.dumps(assembly.template(stack))
        assert "REDIS_URL" not in text
        assert "VpcConfig" not in text


def test_it_changes_no_other_stack(assembly: Assembly, cached: Assembly) -> None:
    for stack in assembly.stacks - {"gateway", "console"}:
        assert cached.template(stack) == assembly.template(stack)


def test_who_embeds_is_told_of_it_and_stands_in_its_vpc_but_the_console_that_needs_cognito(
    cached: Assembly,
) -> None:
    where = {"SubnetIds": SUBNETS, "SecurityGroupIds": GROUPS}
    names = ("retrieve", "catalog-tools", "agent-runner", "identity-interceptor", "console")

    told = {name: cached.variables(name).get("REDIS_URL") for name in names}
    inside = {name: cached.function(name).get("VpcConfig") for name in names}

    searching = dict.fromkeys(names[:3])
    nobody = dict.fromkeys(names[3:])
    assert told == {**dict.fromkeys(searching, REDIS), **nobody}
    assert inside == {**dict.fromkeys(searching, where), **nobody}
    assert redis_url({"REDIS_URL": REDIS}) == REDIS


def test_whoever_stands_there_may_have_interfaces_and_nobody_else(cached: Assembly) -> None:
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

    granted = {name: of_ec2(cached, name) for name in ("retrieve", "catalog-tools")}

    assert granted == dict.fromkeys(granted, interfaces | looking)
    assert of_ec2(cached, "identity-interceptor") == set()


def test_their_rights_are_there_before_they_are_and_as_long(cached: Assembly) -> None:
    # Lambda makes the interfaces with the function's role, and removes them with it.
    policies = {each.logical_id for each in cached.all("gateway", "AWS::IAM::Policy")}
    for function in ("Retrieve", "CatalogTools"):
        made = cached.one("gateway", "AWS::Lambda::Function", function)
        assert policies & set(made.raw["DependsOn"]), function


def test_a_cache_that_needs_no_vpc_takes_no_rights(otherwise: Assembly) -> None:
    assert otherwise.variables("retrieve")["REDIS_URL"] == REDIS
    assert "VpcConfig" not in otherwise.function("retrieve")
    assert of_ec2(otherwise, "retrieve") == set()


def of_ec2(assembly: Assembly, function: str) -> set[tuple[str, str]]:
    return {each for each in assembly.granted(function) if each[0].startswith("ec2:")}


def test_a_password_is_refused_and_not_repeated() -> None:
    url = f"rediss://app:{PASSWORD}@cache.example.com:6379"

    with pytest.raises(ValueError, match=r"^context redis_url .* must be without") as refused:
        Deployment.from_context(cdk.App(context={**RIGHT, "redis_url": url}))

    assert PASSWORD not in str(refused.value)
    assert "rediss://" in str(refused.value)  # what to do instead


@pytest.mark.parametrize("left_out", list(WHERE))
def test_subnets_and_security_groups_go_together(left_out: str) -> None:
    context = {**RIGHT, "redis_url": REDIS, **WHERE, left_out: ""}

    with pytest.raises(ValueError, match="must stand with the other of two"):
        Deployment.from_context(cdk.App(context=context))


def test_redis_is_in_the_zip_where_it_is_used() -> None:
    def shipped(**context: object) -> list[str]:
        group = bundle_of_search(Deployment.from_context(cdk.App(context={**RIGHT, **context})))
        return [each for each in packages.requirements(group.extras) if each.startswith("redis")]

    assert shipped() == []
    assert len(shipped(redis_url=REDIS)) == 1
