"""Creates and updates stacks in ministack's CloudFormation, and reads their outputs."""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Self

from botocore.exceptions import ClientError

from stackroom_local.deployment.assembly import Template
from stackroom_local.local_errors import DeploymentFailed
from stackroom_local.state import ACCOUNT, REGION

# The name that `cdk bootstrap` gives its bucket; templates refer to it.
# https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html
ASSETS = f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"

_POLL_SECONDS = 0.02
_DEADLINE_SECONDS = 60.0
_DONE = {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
# It stands as it was before an update that failed, and takes another.
_STANDS = _DONE | {"UPDATE_ROLLBACK_COMPLETE"}


@dataclass(frozen=True, kw_only=True)
class CloudFormation:
    """
    A client of CloudFormation that sends templates through a bucket for assets, as the CDK's CLI
    does.

    A request itself has room for a template of 51,200 bytes [CloudFormation quotas], and a pool of
    five fills more.
    """

    client: Any
    s3: Any

    @classmethod
    def of(cls, client: Callable[[str], Any]) -> Self:
        """Return one that uses the clients of these services."""
        return cls(client=client("cloudformation"), s3=client("s3"))

    def deploy(self, stack: str, template: Template) -> None:
        """
        Deploy a stack and wait until it is as `template` says. Raises `DeploymentFailed` with
        reasons.
        """
        key = f"{stack}.template.json"
        body = json.dumps(template, separators=(",", ":")).encode()
        self.s3.put_object(Bucket=ASSETS, Key=key, Body=body)
        request = {
            "StackName": stack,
            "TemplateURL": f"{self.s3.meta.endpoint_url}/{ASSETS}/{key}",
            "Capabilities": ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"],
        }
        try:
            if self._status(stack) in _STANDS:
                if not self._update(request):
                    return
            else:
                self._create(stack, request)
        except ClientError as error:
            raise DeploymentFailed(stack, "refused", [str(error)]) from error
        status = self._settled(stack)
        if status not in _DONE:
            raise DeploymentFailed(stack, str(status), self._reasons(stack))

    def stands(self, stack: str) -> bool:
        """Return whether the stack is deployed and no operation is in progress."""
        return self._status(stack) in _STANDS

    def _update(self, request: dict[str, Any]) -> bool:
        """Update the stack. Returns False if it already is as the template says."""
        try:
            self.client.update_stack(**request)
        except ClientError as error:
            if "No updates are to be performed" not in str(error):
                raise
            return False
        return True

    def _create(self, stack: str, request: dict[str, Any]) -> None:
        """
        Create the stack through a change set, which can take over retained resources.

        After a power cut ministack has every object of the bucket, and no record of the stack.
        """
        self._delete(stack)  # whatever half of a stack a failed deployment left
        names = {"StackName": stack, "ChangeSetName": "create"}
        self.client.create_change_set(
            **request,
            ChangeSetName="create",
            ChangeSetType="CREATE",
            ImportExistingResources=True,
            DisableValidation=True,  # ministack's would refuse the very bucket to be taken over
        )
        described = self.client.describe_change_set(**names)
        if described["ExecutionStatus"] != "AVAILABLE":
            raise DeploymentFailed(stack, described["Status"], [described["StatusReason"]])
        self.client.execute_change_set(**names)

    def exports(self) -> dict[str, str]:
        pages = self.client.get_paginator("list_exports").paginate()
        return {export["Name"]: export["Value"] for page in pages for export in page["Exports"]}

    def outputs(self, stacks: Iterable[str]) -> dict[str, str]:
        """
        Return the outputs of these stacks by name. Only other people's stacks may repeat a name.
        """
        pages = self.client.get_paginator("describe_stacks").paginate()
        wanted = set(stacks)
        return {
            output["OutputKey"]: output["OutputValue"]
            for page in pages
            for stack in page["Stacks"]
            if stack["StackName"] in wanted
            for output in stack.get("Outputs", [])
        }

    def physical_ids(self, stack: str) -> dict[str, tuple[str, str]]:
        """Return the type and physical id of every resource, by logical id."""
        resources = self.client.describe_stack_resources(StackName=stack)["StackResources"]
        return {
            resource["LogicalResourceId"]: (
                resource["ResourceType"],
                resource["PhysicalResourceId"],
            )
            for resource in resources
        }

    def _status(self, stack: str) -> str | None:
        try:
            [described] = self.client.describe_stacks(StackName=stack)["Stacks"]
        except ClientError as error:
            if "does not exist" in str(error):
                return None
            raise
        return str(described["StackStatus"])

    def _settled(self, stack: str) -> str | None:
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while (status := self._status(stack)) and status.endswith("IN_PROGRESS"):
            if time.monotonic() > deadline:
                return f"{status} for {_DEADLINE_SECONDS:g} s"
            time.sleep(_POLL_SECONDS)
        return status

    def _delete(self, stack: str) -> None:
        if self._status(stack) not in {None, "DELETE_COMPLETE"}:
            self.client.delete_stack(StackName=stack)
            self._settled(stack)

    def _reasons(self, stack: str) -> list[str]:
        events = self.client.describe_stack_events(StackName=stack)["StackEvents"]
        return [
            f"{event['LogicalResourceId']}: {event['ResourceStatusReason']}"
            for event in reversed(events)
            if event["ResourceStatus"].endswith("_FAILED") and event.get("ResourceStatusReason")
        ]


# What `cdk bootstrap` makes on AWS, so that the CDK's CLI deploys anybody's stacks here at once.
#
# As little of it as the CLI asks for: the bucket for assets, the roles that it assumes, and the
# version. Left out are the repository for container images and its role, which need docker.
# Whoever runs `cdk bootstrap` gets the CLI's own, in place of this.
# https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html#bootstrapping-env-contract

# Of the bootstrap template in aws-cdk 2.1148.1. The library wants 6 at least, or it won't deploy.
_VERSION = "33"
STACK = "CDKToolkit"
_QUALIFIER = "hnb659fds"
_BUCKET = f"arn:aws:s3:::{ASSETS}"
_LOOKS_AT_BUCKET = ["s3:GetBucketLocation", "s3:GetEncryptionConfiguration", "s3:ListBucket"]
_PARAMETER = f"/cdk-bootstrap/{_QUALIFIER}/version"


def toolkit() -> Template:
    """Return the template of the stack `CDKToolkit`."""
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
    """Return a role. `trusted` is an account, or a service by its name."""
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
