"""
Deployments as the CDK's CLI makes them, through ministack's CloudFormation in this process: stacks
in their order, each created, updated, or rolled back, with exports that others hold on to.

What the engine knows by itself is not repeated here: intrinsic functions, the order of resources,
rollbacks, what DeletionPolicy and UpdateReplacePolicy keep, quotas of a template, and that a stack
isn't deleted while its exports are imported.
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
from tests.infra.rehearsal.stand_ins import NOBODY, Standing, StandIns

# As the CDK deploys them: what exports before what imports.
ORDER = ("data", "knowledge-base", "pipeline", "gateway", "console", "operations")
_ENDS_WELL = {"CREATE_COMPLETE", "UPDATE_COMPLETE", "DELETE_COMPLETE"}


class Failed(Exception):
    """A stack's operation, with its reasons."""


@dataclass(frozen=True)
class Cloud:
    """One account in one region; `elsewhere` is another beside it."""

    account: str = "123456789012"
    region: str = "us-east-1"
    types: StandIns = field(default_factory=StandIns)

    def elsewhere(self, *, account: str | None = None, region: str | None = None) -> Self:
        return replace(self, account=account or self.account, region=region or self.region)

    def deploy(self, assembly: Assembly, *, failing: str = NOBODY) -> None:
        """
        As `cdk deploy --all`: raises Failed at the first stack that fails, and makes no other then.

        failing: the logical id of a resource that AWS refuses.
        """
        self.types.failing = failing
        try:
            for kind in sorted(assembly.stacks, key=ORDER.index):
                self.deploy_stack(f"{assembly.project}-{kind}", assembly.template(kind))
        finally:
            self.types.failing = NOBODY

    def destroy(self, *stacks: str) -> None:
        for stack in stacks:
            self._ask("DeleteStack", stack)

    def status(self, stack: str) -> str | None:
        with request_scope(self.account, self.region):
            found = cloudformation._stacks.get(stack)
            return str(found["StackStatus"]) if found else None

    def standing(self, stack: str = "") -> dict[tuple[str, str], Standing]:
        """By type and Ref, in the order they were made: all here, or one stack's."""
        return {
            (type_, ref): each
            for (account, region, type_, ref), each in self.types.standing.items()
            if (account, region) == (self.account, self.region) and stack in ("", each.stack)
        }

    def deploy_stack(self, stack: str, template: dict[str, Any]) -> None:
        status = self.status(stack)
        # What failed to be created can't be updated; the CLI deletes it first.
        # https://github.com/aws/aws-cdk-cli/blob/main/packages/%40aws-cdk/toolkit-lib/lib/api/deployments/deploy-stack.ts
        if status == "ROLLBACK_COMPLETE":
            self._ask("DeleteStack", stack)
        is_new = status in {None, "ROLLBACK_COMPLETE", "DELETE_COMPLETE"}
        try:
            self._ask("CreateStack" if is_new else "UpdateStack", stack, template)
        except Failed as error:
            if "No updates are to be performed" not in str(error):
                raise

    def _ask(self, action: str, stack: str, template: dict[str, Any] | None = None) -> None:
        asked = {"StackName": stack, "Capabilities.member.1": "CAPABILITY_NAMED_IAM"}
        if template is not None:
            asked["TemplateURL"] = f"https://s3/assets/{stack}"
            for each in template["Resources"].values():
                type_ = each["Type"]
                provisioners._RESOURCE_HANDLERS[type_] = self.types.handlers(type_)

        async def until_over() -> tuple[int, bytes]:
            status, _, body = handlers._ACTION_HANDLERS[action](asked)
            await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))
            return status, body

        body = json.dumps(template).encode()
        with (
            request_scope(self.account, self.region),
            patch.object(s3, "_get_object_data", lambda *_: body),
        ):
            code, answer = asyncio.run(until_over())
            if code != 200:
                raise Failed(re.sub("<[^>]+>", " ", str(answer)))
            found = cloudformation._stacks[stack]
            if found["StackStatus"] not in _ENDS_WELL:
                raise Failed(f"{stack} {found['StackStatus']}: {self._reasons(found['StackId'])}")

    @staticmethod
    def _reasons(stack_id: str) -> str:
        return "; ".join(
            f"{event['LogicalResourceId']}: {event['ResourceStatusReason']}"
            for event in cloudformation._stack_events[stack_id]
            if event["ResourceStatus"].endswith("_FAILED") and event.get("ResourceStatusReason")
        )


@contextmanager
def rehearsed() -> Iterator[Cloud]:
    """With nothing in it; one at a time, for ministack keeps what it knows in its modules."""
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
            # The version of the bootstrap stack, which the CDK's templates ask for.
            (ssm, "resolve_parameter_value", lambda _: "32"),
        ):
            stack.enter_context(patch.object(module, name, instead))
        stack.callback(cloudformation.reset)
        yield Cloud()


def _with_exports_in_use(resolve: Any) -> Any:
    """
    What ministack's updates leave out: an export that another stack imports can be neither removed
    nor changed, and no two stacks export the same name.
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
                for other, its in cloudformation._stacks.items():
                    if its["StackStatus"] != "DELETE_COMPLETE" and (
                        name in handlers._imported_export_names(its, other)
                    ):
                        raise ValueError(f"Export {name} can't go: it is in use by {other}")
                del cloudformation._exports[name]
        return outputs, exports

    return resolved
