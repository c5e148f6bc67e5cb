"""The guardrail that the questions of a knowledge base go through."""

import re
from dataclasses import dataclass
from typing import Any

import aws_cdk as cdk
from constructs import Construct, IConstruct

from stackroom_constructs.model import Right
from stackroom_constructs.refusals import InvalidArgument

# GuardrailConfiguration in the API model of bedrock-agent-runtime, botocore 1.44.5.
_GUARDRAIL = re.compile(r"[a-z0-9]{1,64}")
_VERSION = re.compile(r"[1-9][0-9]{0,4}|DRAFT")


@dataclass(frozen=True, kw_only=True)
class Guarding:
    """`id` None for no guardrail; `version` is a number, as text, or DRAFT."""

    id: str | None
    version: str

    def check(self, owner: Construct) -> None:
        """Raises InvalidArgument, which names guardrail_id or guardrail_version."""
        if self.id is not None:
            _check_pattern(owner, "guardrail_id", self.id, _GUARDRAIL)
        _check_pattern(owner, "guardrail_version", self.version, _VERSION)

    def exported(self) -> dict[str, Any]:
        """Members of the entry in KNOWLEDGE_BASES_CONFIG."""
        return {"guardrailId": self.id, "guardrailVersion": self.version}

    def rights(self, scope: IConstruct) -> tuple[Right, ...]:
        """To ask exactly this guardrail."""
        if self.id is None:
            return ()
        arn = cdk.Stack.of(scope).format_arn(
            service="bedrock", resource="guardrail", resource_name=self.id
        )
        return (Right(actions=("bedrock:ApplyGuardrail",), resources=(arn,)),)


def _check_pattern(owner: Construct, argument: str, value: Any, pattern: re.Pattern[str]) -> None:
    if cdk.Token.is_unresolved(value):
        return
    # A version is a number, and yet a text.
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise InvalidArgument(owner, argument, value, f"a text like {pattern.pattern}")
