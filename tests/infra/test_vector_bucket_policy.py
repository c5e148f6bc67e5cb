"""Who may read and change vectors: those who must, whatever the roles of others allow."""

from dataclasses import replace
from typing import Any

import pytest

from infra.app import build_app
from tests.campaigns.permissions.needs import Names, needs
from tests.campaigns.permissions.roles import roles
from tests.infra.assembly import KEPT, Assembly, listed
from tests.infra.synthesis import BREAK_GLASS, VECTORS, deployment

STACK = "knowledge-base"
POLICY = "AWS::S3Vectors::VectorBucketPolicy"
READING = ["s3vectors:GetVectors", "s3vectors:QueryVectors"]
CHANGING = ["s3vectors:DeleteVectors", "s3vectors:ListVectors", "s3vectors:PutVectors"]


@pytest.fixture(params=["as in cdk.json", "by Retrieve", "console off"])
def each_deployment(request: pytest.FixtureRequest) -> Assembly:
    return deployment(request.param)


def refusals(assembly: Assembly) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = assembly.one(STACK, POLICY).properties["Policy"]["Statement"]
    return found


def spared(statement: dict[str, Any]) -> set[str]:
    return set(listed(statement["Condition"]["ArnNotLike"]["aws:PrincipalArn"]))


def roles_that_may(assembly: Assembly, actions: list[str]) -> set[str]:
    """ARNs of the roles of functions and of knowledge bases that are allowed one of these."""
    functions = {
        f"arn:aws:iam::{{account}}:role/{role}"
        for stack in assembly.stacks
        for policy in assembly.all(stack, "AWS::IAM::Policy")
        for statement in policy.properties["PolicyDocument"]["Statement"]
        if set(actions) & set(listed(statement["Action"]))
        for role in policy.properties["Roles"]
    }
    return functions | of_bedrock(assembly)


def of_bedrock(assembly: Assembly) -> set[str]:
    bases = assembly.all(STACK, "AWS::Bedrock::KnowledgeBase")
    return {each.properties["RoleArn"] for each in bases}


def test_vectors_are_denied_to_all_but_roles_that_need_them(each_deployment: Assembly) -> None:
    read, changed = refusals(each_deployment)

    roles = {each for each in spared(read) if ":assumed-role/" not in each}
    sessions = spared(read) - roles
    assert roles == roles_that_may(each_deployment, READING)
    assert spared(changed) == roles_that_may(each_deployment, CHANGING)
    assert spared(changed) == of_bedrock(each_deployment)
    assert sessions == {
        f"{each.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/*"
        for each in roles - of_bedrock(each_deployment)
    }
    assert "*" not in "".join(roles)


def test_policy_denies_use_of_vectors_and_no_administration(assembly: Assembly) -> None:
    made = assembly.one(STACK, POLICY)

    assert made.raw["DeletionPolicy"] == KEPT
    assert made.properties["VectorBucketArn"] == VECTORS
    assert [each["Action"] for each in refusals(assembly)] == [READING, CHANGING]
    for each in refusals(assembly):
        assert (each["Effect"], each["Principal"]) == ("Deny", {"AWS": "*"})
        assert each["Resource"] == f"{VECTORS}/index/*"


def test_campaign_denies_a_role_that_the_policy_does_not_spare(assembly: Assembly) -> None:
    parameters = {"indexArn": f"{VECTORS}/index/Index1", "returnMetadata": True}
    called = {"service": "s3vectors", "operation": "QueryVectors", "parameters": parameters}
    names = Names(account="0" * 12, region="us-east-1")
    needed = needs({**called, "function": "retrieve", "wanted_by": ""}, names)
    role = roles(assembly)["retrieve"]

    assert [each.action for each in needed] == ["s3vectors:QueryVectors", "s3vectors:GetVectors"]
    assert all(role.allows(each) for each in needed)
    assert not any(replace(role, arn=f"{role.arn}-too").allows(each) for each in needed)


def test_break_glass_role_and_each_knowledge_base_of_a_pool_are_spared() -> None:
    otherwise = deployment("otherwise")

    assert len(of_bedrock(otherwise)) == 2
    for each in refusals(otherwise):
        assert {BREAK_GLASS, *of_bedrock(otherwise)} <= spared(each)


@pytest.mark.parametrize("wrong", ["Auditors", "arn:aws:iam::123456789012:role/*", "*"])
def test_break_glass_role_without_a_full_arn_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"break_glass_role .* must be a role's ARN"):
        build_app(context={"break_glass_role": wrong})


def test_managed_pool_has_no_vector_bucket_policy() -> None:
    assert deployment("managed").all(STACK, POLICY) == []
