"""
Resource policies of functions, `AWS::Lambda::ResourcePolicy`, which ministack 1.5.33 doesn't know.

Its IAM obeys a function's policy, also a Deny in it; what is missing is the way in, since
AddPermission only ever adds an Allow. `install` adds the resource type to its CloudFormation. It
also lets a Deny hold for the account's root, whose requests ministack never checks; on AWS an
explicit deny is stronger than any right, root's too:
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
As on AWS, the policy of a function says nothing of `function:$LATEST`, which has an ARN of its own
and can have no policy: access/identity.py refuses whoever invokes a tool's function that way.
"""

import copy
import functools
import inspect
from typing import Any

from ministack.core import iam_evaluator
from ministack.core.iam_evaluator import EvalContext

TYPE = "AWS::Lambda::ResourcePolicy"
_INVOKE = "lambda:InvokeFunction"


def denies(policy: Any, principal_arn: str, function_arn: str) -> bool:
    """Return whether a function's policy forbids the principal with this ARN to invoke it."""
    context = EvalContext(
        principal_arn=principal_arn,
        principal_type="AssumedRole" if ":assumed-role/" in principal_arn else "Root",
        principal_account=principal_arn.split(":")[4],
        action=_INVOKE,
        resource_arn=function_arn,
        region=function_arn.split(":")[3],
    )
    decision: str = iam_evaluator.evaluate_resource_policy(policy, context).decision
    return decision == "Deny"


def install() -> None:
    from ministack.services.cloudformation import provisioners  # noqa: PLC0415 - ministack's alone

    provisioners._RESOURCE_HANDLERS[TYPE] = {
        "create": _create,
        "update": _update,
        "delete": _delete,
    }
    checked = iam_evaluator.enforce
    signature = inspect.signature(checked)

    @functools.wraps(checked)
    def enforce(*arguments: Any, **named: Any) -> Any:
        request = signature.bind(*arguments, **named).arguments
        refusal = checked(*arguments, **named)
        if refusal is None and request["iam_action"] == _INVOKE:
            return _denial_of_root(request["access_key_id"], request.get("resource_arn", "*"))
        return refusal

    iam_evaluator.enforce = enforce


def _denial_of_root(access_key_id: str, function_arn: str) -> Any:
    """
    Return ministack's denial for the account's root, or None for others, whom ministack has
    checked.
    """
    found = iam_evaluator._resource_policy("lambda", function_arn)
    if found is None:
        return None
    policy, account = found
    principal = iam_evaluator.resolve_principal(access_key_id, account)
    if principal.policies is not None or not denies(policy, principal.arn, function_arn):
        return None
    return iam_evaluator.EvalResult(
        "Deny", principal_arn=principal.arn, resource_policy_arn=function_arn
    )


def _create(_id: str, properties: dict[str, Any], _stack: str) -> tuple[str, dict[str, str]]:
    _function(properties)["policy"] = copy.deepcopy(properties["PolicyDocument"])
    return properties["ResourceArn"], {}


def _update(
    physical_id: str, old: dict[str, Any], new: dict[str, Any], stack: str
) -> tuple[str, dict[str, str]]:
    if old["ResourceArn"] != new["ResourceArn"]:
        _delete(physical_id, old)
    return _create(physical_id, new, stack)


def _delete(_physical_id: str, properties: dict[str, Any]) -> None:
    from ministack.services import lambda_svc  # noqa: PLC0415 - ministack's alone

    if function := lambda_svc._functions.get(_name(properties)):  # deleted before its policy
        function["policy"] = {"Version": "2012-10-17", "Id": "default", "Statement": []}


def _function(properties: dict[str, Any]) -> dict[str, Any]:
    from ministack.services import lambda_svc  # noqa: PLC0415 - ministack's alone

    function: dict[str, Any] | None = lambda_svc._functions.get(_name(properties))
    if function is None:
        raise ValueError(f"{TYPE}: no function {properties['ResourceArn']}")
    return function


def _name(properties: dict[str, Any]) -> str:
    return str(properties["ResourceArn"].rpartition(":")[2])
