"""
Whether the gateway's role may invoke the functions behind it, as AWS tries when a target is made.

Policies change with a deployment and at no other time, so the stand-in asks here and not at every
call. Whoever invokes such a function directly asks ministack's Lambda, which answers for itself.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from stackroom_local.problems import DeploymentFailed
from stackroom_local.resource_policies import denies

_INVOKE = "lambda:InvokeFunction"


@dataclass(frozen=True, kw_only=True)
class InvocationRights:
    """By ministack's IAM and Lambda, whose clients these are."""

    iam: Any
    aws_lambda: Any

    def require(self, stack: str, role_arn: str, function_arns: Iterable[str]) -> None:
        """Raises `DeploymentFailed` naming every function that the role may not invoke."""
        refusals = [
            f"Gateway execution role lacks permission to invoke Lambda function {arn}: {reason}"
            for arn in function_arns
            if (reason := self._refusal(role_arn, arn))
        ]
        if refusals:
            raise DeploymentFailed(stack, "refused", refusals)

    def _refusal(self, role_arn: str, function_arn: str) -> str | None:
        [identity] = self.iam.simulate_principal_policy(
            PolicySourceArn=role_arn, ActionNames=[_INVOKE], ResourceArns=[function_arn]
        )["EvaluationResults"]
        if identity["EvalDecision"] != "allowed":
            return f"no identity-based policy allows the {_INVOKE} action"
        policy = json.loads(self.aws_lambda.get_policy(FunctionName=function_arn)["Policy"])
        account, _, name = role_arn.removeprefix("arn:aws:iam::").partition(":role/")
        session = f"arn:aws:sts::{account}:assumed-role/{name}/gateway"
        if denies(policy, session, function_arn):
            return "an explicit deny in a resource-based policy"
        return None
