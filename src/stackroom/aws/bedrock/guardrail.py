"""A guardrail on Bedrock, which blocks questions, passages and answers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types_boto3_bedrock_agent_runtime.type_defs import GuardrailConfigurationTypeDef


@dataclass(frozen=True, kw_only=True)
class Guardrail:
    id: str
    version: str  # a number, or DRAFT

    @property
    def configuration(self) -> "GuardrailConfigurationTypeDef":
        return {"guardrailId": self.id, "guardrailVersion": self.version}
