"""The CDK's CLI finds its toolkit where nobody has bootstrapped."""

import pytest

from stackroom_local.deployment.cloudformation import ASSETS, STACK, CloudFormation, toolkit
from stackroom_local.state import Instance


def test_the_version_the_roles_and_the_bucket_are_where_the_cli_looks(instance: Instance) -> None:
    version = instance.client("ssm").get_parameter(Name="/cdk-bootstrap/hnb659fds/version")
    role = "arn:aws:iam::000000000000:role/cdk-hnb659fds-{}-role-000000000000-us-east-1"

    assumed = [
        instance.client("sts").assume_role(RoleArn=role.format(purpose), RoleSessionName="cli")
        for purpose in ("deploy", "file-publishing", "lookup")
    ]

    assert int(version["Parameter"]["Value"]) >= 6
    assert all(each["Credentials"]["AccessKeyId"] for each in assumed)
    assert instance.client("s3").head_bucket(Bucket=ASSETS)


@pytest.mark.processes
def test_toolkit_recognises_a_deployed_stack(instance: Instance) -> None:
    cloudformation = CloudFormation.of(instance.client)

    assert cloudformation.stands(STACK)
    assert not cloudformation.stands("nobody-made-it")


def test_only_cloudformation_actions_are_allowed_on_all_resources() -> None:
    roles = {
        name: each["Properties"]
        for name, each in toolkit()["Resources"].items()
        if each["Type"] == "AWS::IAM::Role"
    }

    wide = {
        (name, action)
        for name, role in roles.items()
        for policy in role.get("Policies", [])
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Resource"] == "*"
        for action in statement["Action"]
    }

    assert wide == {
        ("DeploymentActionRole", "cloudformation:*"),
        ("DeploymentActionRole", "sts:GetCallerIdentity"),
    }
