"""A cache for questions' vectors: nothing of it unless it is named, and no way in for others."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from cdk_nag import AwsSolutionsChecks

from infra.app import build_app
from infra.deployment import Deployment
from infra.search_rights import bundle_of_search
from stackroom.aws.redis_url import redis_url
from stackroom_constructs import packages
from tests.infra.assembly import Assembly, Resource
from tests.infra.test_app import RIGHT

URL = "rediss://cache.example.com:6379"
SUBNETS = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
GROUPS = ["sg-0123456789abcdef0"]
PASSWORD = "correct-horse"
WHERE = {"redis_subnet_ids": ",".join(SUBNETS), "redis_security_group_ids": GROUPS[0]}


@pytest.fixture(scope="module")
def cached(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """Everything, with a cache in a VPC: a finding of cdk-nag without acknowledgment fails it."""
    directory: Path = tmp_path_factory.mktemp("cached")
    app = build_app(str(directory), {"redis_url": URL, **WHERE})
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()
    return Assembly(directory)


def functions(assembly: Assembly) -> dict[str, Resource]:
    return {
        each.properties["FunctionName"].removeprefix("stackroom-"): each
        for each in assembly.all("gateway", "AWS::Lambda::Function")
        if "FunctionName" in each.properties
    }


def actions_of(assembly: Assembly, function: str) -> dict[str, set[str]]:
    """Of EC2, by resource."""
    allowed: dict[str, set[str]] = {}
    for policy in assembly.all("gateway", "AWS::IAM::Policy"):
        if f"stackroom-{function}-" not in json.dumps(policy.properties["Roles"]):
            continue
        for statement in policy.properties["PolicyDocument"]["Statement"]:
            for action in listed(statement["Action"]):
                for resource in listed(statement["Resource"]):
                    if action.startswith("ec2:"):
                        allowed.setdefault(resource, set()).add(action)
    return allowed


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_without_one_there_is_nothing_of_it(assembly: Assembly) -> None:
    for stack in assembly.stacks:
        text = json.dumps(assembly.template(stack))
        assert "REDIS_URL" not in text
        assert "VpcConfig" not in text


def test_it_changes_no_other_stack(assembly: Assembly, cached: Assembly) -> None:
    for stack in assembly.stacks - {"gateway", "console"}:
        assert cached.template(stack) == assembly.template(stack)


def test_the_console_stays_where_it_reaches_cognito_and_runs_of_agents_use_the_cache(
    cached: Assembly,
) -> None:
    functions = {
        each.properties["FunctionName"]: each.properties
        for each in cached.all("console", "AWS::Lambda::Function")
    }

    assert "VpcConfig" not in functions["stackroom-console"]
    assert "REDIS_URL" not in functions["stackroom-console"]["Environment"]["Variables"]
    assert "VpcConfig" in functions["stackroom-agent-runner"]
    assert "REDIS_URL" in functions["stackroom-agent-runner"]["Environment"]["Variables"]


def test_whoever_searches_for_somebody_is_told_of_it_and_stands_in_its_vpc(
    cached: Assembly,
) -> None:
    where = {"SubnetIds": SUBNETS, "SecurityGroupIds": GROUPS}
    interfaces = "arn:aws:ec2:{region}:{account}:*/*"
    on_interfaces = {
        f"ec2:{each}"
        for each in (
            "CreateNetworkInterface",
            "DeleteNetworkInterface",
            "AssignPrivateIpAddresses",
            "UnassignPrivateIpAddresses",
        )
    }
    for name, function in functions(cached).items():
        variables = function.properties["Environment"]["Variables"]
        searches = name in ("retrieve", "catalog-tools")
        assert variables.get("REDIS_URL") == (URL if searches else None), name
        assert function.properties.get("VpcConfig") == (where if searches else None), name
        assert actions_of(cached, name) == (
            {
                interfaces: on_interfaces,
                "*": {"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets"},
            }
            if searches
            else {}
        ), name
    assert redis_url({"REDIS_URL": URL}) == URL


def test_their_rights_are_there_before_they_are_and_as_long(cached: Assembly) -> None:
    # Lambda makes the interfaces with the function's role, and removes them with it.
    for name in ("retrieve", "catalog-tools"):
        waits_for = functions(cached)[name].raw["DependsOn"]
        policies = {each.logical_id for each in cached.all("gateway", "AWS::IAM::Policy")}
        assert policies & set(waits_for), name


def test_a_cache_that_needs_no_vpc_takes_no_rights(tmp_path: Path) -> None:
    build_app(str(tmp_path), {"redis_url": URL}).synth()
    made = Assembly(tmp_path)

    assert functions(made)["retrieve"].properties["Environment"]["Variables"]["REDIS_URL"] == URL
    assert "VpcConfig" not in functions(made)["retrieve"].properties
    assert actions_of(made, "retrieve") == {}


@pytest.mark.parametrize(
    "url",
    [
        f"redis://:{PASSWORD}@cache.example.com:6379",
        f"rediss://app:{PASSWORD}@cache.example.com:6379",
        f"rediss://{PASSWORD}@cache.example.com",
    ],
)
def test_a_password_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ValueError, match=r"^context redis_url .* must be without") as refused:
        Deployment.from_context(cdk.App(context={**RIGHT, "redis_url": url}))

    assert PASSWORD not in str(refused.value)
    assert "rediss://" in str(refused.value)  # what to do instead


@pytest.mark.parametrize("left_out", list(WHERE))
def test_subnets_and_security_groups_go_together(left_out: str) -> None:
    context = {**RIGHT, "redis_url": URL, **WHERE, left_out: ""}

    with pytest.raises(ValueError, match="must stand with the other of two"):
        Deployment.from_context(cdk.App(context=context))


def test_redis_is_in_the_zip_where_it_is_used() -> None:
    def shipped(**context: object) -> list[str]:
        group = bundle_of_search(Deployment.from_context(cdk.App(context={**RIGHT, **context})))
        return [each for each in packages.requirements(group.extras) if each.startswith("redis")]

    assert shipped() == []
    assert len(shipped(redis_url=URL)) == 1
