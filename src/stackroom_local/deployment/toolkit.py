"""
What `cdk bootstrap` makes on AWS, so that the CDK's CLI deploys anybody's stacks here at once.

As little of it as the CLI asks for: the bucket for assets, the roles that it assumes, and the
version. Left out are the repository for container images and its role, which need docker. Whoever
runs `cdk bootstrap` gets the CLI's own, in place of this.
https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html#bootstrapping-env-contract
"""

from typing import Any

from stackroom_local.deployment.assembly import Template
from stackroom_local.deployment.cloudformation import ASSETS
from stackroom_local.state import ACCOUNT, REGION

# Of the bootstrap template in aws-cdk 2.1148.1. The library wants 6 at least, or it won't deploy.
_VERSION = "33"
STACK = "CDKToolkit"
_QUALIFIER = "hnb659fds"
_BUCKET = f"arn:aws:s3:::{ASSETS}"
_LOOKS_AT_BUCKET = ["s3:GetBucketLocation", "s3:GetEncryptionConfiguration", "s3:ListBucket"]
_PARAMETER = f"/cdk-bootstrap/{_QUALIFIER}/version"


def toolkit() -> Template:
    """The template of the stack `CDKToolkit`."""
    execution = _role("cfn-exec", "cloudformation.amazonaws.com", managed="AdministratorAccess")
    return {
        "Description": "What the CDK's CLI needs to deploy into the local mode",
        "Resources": {
            "StagingBucket": {
                "Type": "AWS::S3::Bucket",
                "DeletionPolicy": "Retain",
                "UpdateReplacePolicy": "Retain",
                "Properties": {"BucketName": ASSETS},
            },
            "CloudFormationExecutionRole": execution,
            "FilePublishingRole": _role(
                "file-publishing",
                ACCOUNT,
                _allow(["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"], f"{_BUCKET}/*"),
                _allow(_LOOKS_AT_BUCKET, _BUCKET),
            ),
            "LookupRole": _role("lookup", ACCOUNT, managed="ReadOnlyAccess"),
            "DeploymentActionRole": _role(
                "deploy",
                ACCOUNT,
                _allow(["cloudformation:*", "sts:GetCallerIdentity"], "*"),
                _allow(["iam:PassRole"], {"Fn::GetAtt": ["CloudFormationExecutionRole", "Arn"]}),
                _allow(["s3:GetObject"], f"{_BUCKET}/*"),
                _allow(_LOOKS_AT_BUCKET, _BUCKET),
                _allow(
                    ["ssm:GetParameter", "ssm:GetParameters"],
                    f"arn:aws:ssm:{REGION}:{ACCOUNT}:parameter{_PARAMETER}",
                ),
            ),
            "CdkBootstrapVersion": {
                "Type": "AWS::SSM::Parameter",
                "Properties": {"Type": "String", "Name": _PARAMETER, "Value": _VERSION},
            },
        },
        "Outputs": {
            "BucketName": {"Value": {"Ref": "StagingBucket"}},
            "BucketDomainName": {"Value": {"Fn::GetAtt": ["StagingBucket", "RegionalDomainName"]}},
            "BootstrapVersion": {"Value": _VERSION},
        },
    }


def _allow(actions: list[str], resource: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": actions, "Resource": resource}


def _role(
    purpose: str, trusted: str, *statements: dict[str, Any], managed: str | None = None
) -> dict[str, Any]:
    """`trusted` is an account, or a service by its name."""
    principal = {"AWS": trusted} if trusted.isdigit() else {"Service": trusted}
    actions = ["sts:AssumeRole", "sts:TagSession"] if trusted.isdigit() else ["sts:AssumeRole"]
    properties: dict[str, Any] = {
        "RoleName": f"cdk-{_QUALIFIER}-{purpose}-role-{ACCOUNT}-{REGION}",
        "AssumeRolePolicyDocument": {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Action": actions, "Principal": principal}],
        },
    }
    if managed:
        properties["ManagedPolicyArns"] = [f"arn:aws:iam::aws:policy/{managed}"]
    if statements:
        document = {"Version": "2012-10-17", "Statement": list(statements)}
        properties["Policies"] = [{"PolicyName": "default", "PolicyDocument": document}]
    return {"Type": "AWS::IAM::Role", "Properties": properties}
