"""
Deployments as the CDK's CLI makes them, by ministack's CloudFormation in this process.

Stacks are created, updated or rolled back in order, and exports in use are protected. The engine
itself covers intrinsic functions, the order of resources, rollbacks, DeletionPolicy and
UpdateReplacePolicy, a template's quotas, and that a stack isn't deleted while its exports are
imported.
"""

import asyncio
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Self
from unittest.mock import patch

from ministack.core.responses import request_scope
from ministack.services import cloudformation, s3, ssm
from ministack.services.cloudformation import handlers, provisioners, stacks

from tests.infra.assembly import Assembly
from tests.infra.rehearsal.stand_ins import NOBODY, ExistingResource, StandIns

# The CDK's order of deployment: exporting stacks before importing ones.
ORDER = ("data", "knowledge-base", "pipeline", "gateway", "console", "operations")
_SUCCESS = {"CREATE_COMPLETE", "UPDATE_COMPLETE", "DELETE_COMPLETE"}


class DeploymentFailed(Exception):
    """A stack's operation failed, for these reasons."""


@dataclass(frozen=True)
class Cloud:
    """An account in a region; `elsewhere` returns another one."""

    account: str = "123456789012"
    region: str = "us-east-1"
    types: StandIns = field(default_factory=StandIns)

    def elsewhere(self, *, account: str | None = None, region: str | None = None) -> Self:
        return replace(self, account=account or self.account, region=region or self.region)

    def deploy(self, assembly: Assembly, *, failing: str = NOBODY) -> None:
        """
        Deploy like `cdk deploy --all`; raise DeploymentFailed at the first stack that fails.

        `failing` is the logical id of a resource that AWS refuses.
        """
        self.types.failing = failing
        try:
            for kind in sorted(assembly.stacks, key=ORDER.index):
                self.deploy_stack(f"{assembly.project}-{kind}", assembly.template(kind))
        finally:
            self.types.failing = NOBODY

    def destroy(self, *stacks: str) -> None:
        for stack in stacks:
            self._request("DeleteStack", stack)

    def status(self, stack: str) -> str | None:
        with request_scope(self.account, self.region):
            found = cloudformation._stacks.get(stack)
            return str(found["StackStatus"]) if found else None

    def resources(self, stack: str = "") -> dict[tuple[str, str], ExistingResource]:
        """Return the resources by type and Ref, in order of creation: all, or one stack's."""
        return {
            (type_, ref): each
            for (account, region, type_, ref), each in self.types.resources.items()
            if (account, region) == (self.account, self.region) and stack in ("", each.stack)
        }

    def deploy_stack(self, stack: str, template: dict[str, Any]) -> None:
        status = self.status(stack)
        # A stack whose creation failed can't be updated; the CLI deletes it first.
        # https://github.com/aws/aws-cdk-cli/blob/main/packages/%40aws-cdk/toolkit-lib/lib/api/deployments/deploy-stack.ts
        if status == "ROLLBACK_COMPLETE":
            self._request("DeleteStack", stack)
        is_new = status in {None, "ROLLBACK_COMPLETE", "DELETE_COMPLETE"}
        try:
            self._request("CreateStack" if is_new else "UpdateStack", stack, template)
        except DeploymentFailed as error:
            if "No updates are to be performed" not in str(error):
                raise

    def _request(self, action: str, stack: str, template: dict[str, Any] | None = None) -> None:
        request = {"StackName": stack, "Capabilities.member.1": "CAPABILITY_NAMED_IAM"}
        if template is not None:
            request["TemplateURL"] = f"https://s3/assets/{stack}"
            for each in template["Resources"].values():
                type_ = each["Type"]
                provisioners._RESOURCE_HANDLERS[type_] = self.types.handlers(type_)

        async def run_to_end() -> tuple[int, bytes]:
            status, _, body = handlers._ACTION_HANDLERS[action](request)
            await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))
            return status, body

        body = json.dumps(template).encode()
        with (
            request_scope(self.account, self.region),
            patch.object(s3, "_get_object_data", lambda *_: body),
        ):
            code, answer = asyncio.run(run_to_end())
            if code != 200:
                raise DeploymentFailed(re.sub("<[^>]+>", " ", str(answer)))
            found = cloudformation._stacks[stack]
            if found["StackStatus"] not in _SUCCESS:
                raise DeploymentFailed(
                    f"{stack} {found['StackStatus']}: {self._reasons(found['StackId'])}"
                )

    @staticmethod
    def _reasons(stack_id: str) -> str:
        return "; ".join(
            f"{event['LogicalResourceId']}: {event['ResourceStatusReason']}"
            for event in cloudformation._stack_events[stack_id]
            if event["ResourceStatus"].endswith("_FAILED") and event.get("ResourceStatusReason")
        )


@contextmanager
def empty_cloud() -> Iterator[Cloud]:
    """
    Yield an empty cloud; only one at a time, because ministack keeps its state in its modules.
    """
    with ExitStack() as stack:
        for rules in (
            provisioners._RESOURCE_HANDLERS,
            provisioners._CUSTOM_NAME_REPLACEMENT,
            provisioners._REPLACING_PROPERTIES,
            provisioners._STACK_TAG_PROPERTY,
        ):
            stack.enter_context(patch.dict(rules, clear=True))
        for module, name, instead in (
            (stacks, "_runs_on_worker_thread", lambda _: False),
            (stacks, "_resolve_stack_outputs", _with_exports_in_use(stacks._resolve_stack_outputs)),
            # The version of the bootstrap stack, which the CDK's templates require.
            (ssm, "resolve_parameter_value", lambda _: "32"),
        ):
            stack.enter_context(patch.object(module, name, instead))
        stack.callback(cloudformation.reset)
        yield Cloud()


def _with_exports_in_use(resolve: Any) -> Any:
    """
    Return a resolver that protects exports, which ministack's updates don't.

    An export that another stack imports can be neither removed nor changed, and no two stacks
    export the same name.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
    """

    def resolved(*arguments: Any) -> Any:
        outputs, exports = resolve(*arguments)
        stack_id = arguments[-1]
        for name, known in list(cloudformation._exports.items()):
            if known["StackId"] != stack_id:
                if name in exports:
                    raise ValueError(f"Export {name} is exported by {known['StackId']} already")
            elif exports.get(name) != known:
                for other, its_stack in cloudformation._stacks.items():
                    if its_stack["StackStatus"] != "DELETE_COMPLETE" and (
                        name in handlers._imported_export_names(its_stack, other)
                    ):
                        raise ValueError(f"Export {name} can't go: it is in use by {other}")
                del cloudformation._exports[name]
        return outputs, exports

    return resolved
