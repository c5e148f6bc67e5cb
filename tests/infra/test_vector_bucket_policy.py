"""Who may read and change vectors: the roles that must, whatever other roles allow."""

from dataclasses import replace
from typing import Any

import pytest

from infra.app import build_app
from tests.campaigns.permissions.needs import Names, needs
from tests.campaigns.permissions.roles import roles
from tests.infra.assembly import Assembly, as_list
from tests.infra.synthesis import BREAK_GLASS, VECTORS, deployment

STACK = "knowledge-base"
POLICY = "AWS::S3Vectors::VectorBucketPolicy"
READING = ["s3vectors:GetVectors", "s3vectors:QueryVectors"]
CHANGING = ["s3vectors:DeleteVectors", "s3vectors:ListVectors", "s3vectors:PutVectors"]


@pytest.fixture(params=["as in cdk.json", "hierarchical"])
def each_deployment(request: pytest.FixtureRequest) -> Assembly:
    return deployment(request.param)


def denials(assembly: Assembly) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = assembly.one(STACK, POLICY).properties["Policy"]["Statement"]
    return found


def exempt(statement: dict[str, Any]) -> set[str]:
    return set(as_list(statement["Condition"]["ArnNotLike"]["aws:PrincipalArn"]))


def roles_that_may(assembly: Assembly, actions: list[str]) -> set[str]:
    """Return the ARNs of functions' and knowledge bases' roles that have one of these rights."""
    functions = {
        f"arn:aws:iam::{{account}}:role/{role}"
        for stack in assembly.stacks
        for policy in assembly.all(stack, "AWS::IAM::Policy")
        for statement in policy.properties["PolicyDocument"]["Statement"]
        if set(actions) & set(as_list(statement["Action"]))
        for role in policy.properties["Roles"]
    }
    return functions | knowledge_base_roles(assembly)


def knowledge_base_roles(assembly: Assembly) -> set[str]:
    bases = assembly.all(STACK, "AWS::Bedrock::KnowledgeBase")
    return {each.properties["RoleArn"] for each in bases}


def test_vectors_are_denied_to_all_but_roles_that_need_them(each_deployment: Assembly) -> None:
    read, changed = denials(each_deployment)

    roles = {each for each in exempt(read) if ":assumed-role/" not in each}
    sessions = exempt(read) - roles
    assert roles == roles_that_may(each_deployment, READING)
    assert exempt(changed) == roles_that_may(each_deployment, CHANGING)
    assert exempt(changed) == knowledge_base_roles(each_deployment)
    assert sessions == {
        f"{each.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/*"
        for each in roles - knowledge_base_roles(each_deployment)
    }
    assert "*" not in "".join(roles)


def test_campaign_denies_a_role_that_the_policy_does_not_exempt(assembly: Assembly) -> None:
    parameters = {"indexArn": f"{VECTORS}/index/Index1", "returnMetadata": True}
    called = {"service": "s3vectors", "operation": "QueryVectors", "parameters": parameters}
    names = Names(account="0" * 12, region="us-east-1")
    needed = needs({**called, "function": "retrieve", "wanted_by": ""}, names)
    role = roles(assembly)["retrieve"]

    assert [each.action for each in needed] == ["s3vectors:QueryVectors", "s3vectors:GetVectors"]
    assert all(role.allows(each) for each in needed)
    assert not any(replace(role, arn=f"{role.arn}-too").allows(each) for each in needed)


def test_break_glass_role_and_knowledge_bases_are_exempt() -> None:
    customised = deployment("customised")

    assert len(knowledge_base_roles(customised)) == 2
    for each in denials(customised):
        assert {BREAK_GLASS, *knowledge_base_roles(customised)} <= exempt(each)


def test_break_glass_role_without_a_full_arn_is_refused() -> None:
    with pytest.raises(ValueError, match=r"break_glass_role .* must be a role's ARN"):
        build_app(context={"break_glass_role": "arn:aws:iam::123456789012:role/*"})
