"""Deploys all stacks once: the stand-ins' resources first, the rest through CloudFormation."""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from stackroom_local.clients import Clients
from stackroom_local.deployment import agentcore, cloudformation
from stackroom_local.deployment.assembly import Stack, stacks
from stackroom_local.deployment.cloudformation import ASSETS, CloudFormation
from stackroom_local.deployment.function_packages import bootstrap_archive, bootstrap_key
from stackroom_local.deployment.intrinsics import REF, Attributes, TemplateScope
from stackroom_local.deployment.localisation import (
    IN_GATEWAY,
    IN_SIMULATOR,
    localised,
    made_by_stand_in,
)
from stackroom_local.deployment.simulated_resources import Simulator
from stackroom_local.gateway.gateway_configuration import GatewayConfiguration
from stackroom_local.project_files import task_root
from stackroom_local.state import ACCOUNT, REGION


@dataclass(frozen=True)
class Deployed:
    """The result of a deployment: every stack's outputs, the gateway, and the functions' names."""

    outputs: Mapping[str, str]
    gateway: GatewayConfiguration
    functions: Mapping[str, str]  # by handler: "functions.ingest.handler.handler"


@dataclass(frozen=True, kw_only=True)
class Deployer:
    """Deploys an assembly; `before_simulator` returns once the simulator answers."""

    clients: Clients
    gateway_endpoint: str
    speed: float  # of the simulator's clock
    before_simulator: Callable[[], None]
    announce: Callable[[str], None]
    _made: dict[str, dict[str, Attributes]] = field(default_factory=dict)

    def deploy(self, assembly: Path) -> Deployed:
        all_stacks = stacks(assembly)
        self._upload_assets(all_stacks)
        for stack in all_stacks:
            self._deploy_stack(stack)
            self.announce(f"deployed {stack.name}")
        return Deployed(
            outputs=self._cloudformation.outputs(stack.name for stack in all_stacks),
            gateway=self._gateway(all_stacks),
            functions=_functions(all_stacks),
        )

    @cached_property
    def _cloudformation(self) -> CloudFormation:
        return CloudFormation.of(self.clients)

    def _upload_assets(self, all_stacks: list[Stack]) -> None:
        s3 = self.clients("s3")
        with contextlib.suppress(s3.exceptions.BucketAlreadyOwnedByYou):
            s3.create_bucket(Bucket=ASSETS)
        bootstrap = bootstrap_archive(task_root())
        s3.put_object(Bucket=ASSETS, Key=bootstrap_key(bootstrap), Body=bootstrap)
        if not self._cloudformation.stands(cloudformation.STACK):
            self._cloudformation.deploy(cloudformation.STACK, cloudformation.toolkit())
        for asset in {asset for stack in all_stacks for asset in stack.assets}:
            s3.put_object(Bucket=ASSETS, Key=asset.key, Body=asset.source.read_bytes())

    def _deploy_stack(self, stack: Stack) -> None:
        made = self._make_in_simulator(stack)
        for resource in made_by_stand_in(stack.template, IN_GATEWAY):
            made[resource.logical_id] = agentcore.attributes_of(stack.name, resource)
        self._made[stack.name] = made
        template = localised(
            stack.template, made, ASSETS, speed=self.speed, issuer_url=self.gateway_endpoint
        )
        self._cloudformation.deploy(stack.name, template)
        self._restore_buckets(stack)

    def _restore_buckets(self, stack: Stack) -> None:
        """
        Restore the notifications of a bucket that CloudFormation took over after a power cut.

        CloudFormation leaves them out, and without them no upload would be noticed.
        """
        ids = self._cloudformation.physical_ids(stack.name)
        s3 = self.clients("s3")
        for logical_id, resource in stack.template["Resources"].items():
            if resource["Type"] != "AWS::S3::Bucket":
                continue
            _, bucket = ids[logical_id]
            properties = resource["Properties"]
            if "NotificationConfiguration" in properties:
                s3.put_bucket_notification_configuration(
                    Bucket=bucket, NotificationConfiguration={"EventBridgeConfiguration": {}}
                )
            if "VersioningConfiguration" in properties:
                s3.put_bucket_versioning(
                    Bucket=bucket, VersioningConfiguration=properties["VersioningConfiguration"]
                )

    def _make_in_simulator(self, stack: Stack) -> dict[str, Attributes]:
        wanted = made_by_stand_in(stack.template, IN_SIMULATOR)
        made: dict[str, Attributes] = {}
        if not wanted:
            return made
        self.before_simulator()
        simulator = Simulator(
            bedrock=self.clients("bedrock"),
            bedrock_agent=self.clients("bedrock-agent"),
            s3vectors=self.clients("s3vectors"),
        )
        exports = self._cloudformation.exports()
        for resource in wanted:
            known = {**_roles_to_come(stack), **made}
            scope = TemplateScope(stack=stack.name, resources=known, exports=exports)
            properties = scope.value(resource.properties)
            made[resource.logical_id] = simulator.make(stack.name, resource, properties)
        return made

    def _gateway(self, all_stacks: list[Stack]) -> GatewayConfiguration:
        """Build the gateway last, because it names functions that CloudFormation makes first."""
        [stack] = [stack for stack in all_stacks if made_by_stand_in(stack.template, IN_GATEWAY)]
        resources = {
            logical_id: _attributes(resource_type, physical_id)
            for logical_id, (resource_type, physical_id) in self._cloudformation.physical_ids(
                stack.name
            ).items()
        }
        scope = TemplateScope(
            stack=stack.name,
            resources={**resources, **self._made[stack.name]},
            exports=self._cloudformation.exports(),
        )
        return agentcore.gateway_of(stack.template, scope, issuer_url=self.gateway_endpoint)


def _roles_to_come(stack: Stack) -> dict[str, Attributes]:
    """
    Return attributes of roles that CloudFormation makes later; the simulator never assumes them.
    """
    return {
        logical_id: {REF: logical_id, "Arn": f"arn:aws:iam::{ACCOUNT}:role/{logical_id}"}
        for logical_id, resource in stack.template["Resources"].items()
        if resource["Type"] == "AWS::IAM::Role"
    }


def _attributes(resource_type: str, physical_id: str) -> Attributes:
    arns = {
        "AWS::Lambda::Function": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{physical_id}",
        "AWS::IAM::Role": f"arn:aws:iam::{ACCOUNT}:role/{physical_id}",
    }
    arn = arns.get(resource_type)
    return {REF: physical_id, "Arn": arn} if arn else {REF: physical_id}


def _functions(all_stacks: list[Stack]) -> dict[str, str]:
    resources: list[dict[str, Any]] = [
        resource for stack in all_stacks for resource in stack.template["Resources"].values()
    ]
    return {
        resource["Properties"]["Handler"]: resource["Properties"]["FunctionName"]
        for resource in resources
        if resource["Type"] == "AWS::Lambda::Function"
    }
