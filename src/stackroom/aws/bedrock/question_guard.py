"""Apply a guardrail to questions, for stores without guardrails."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stackroom.aws.bedrock.guardrail import Guardrail
from stackroom.aws.error_mapping import direct_search_errors

if TYPE_CHECKING:
    from types_boto3_bedrock_runtime.client import BedrockRuntimeClient


@dataclass(frozen=True, kw_only=True)
class QuestionGuard:
    """
    Checks questions by ApplyGuardrail, as Retrieve does with a guardrail by itself: it checks the
    question, and never the results.

    https://docs.aws.amazon.com/bedrock/latest/userguide/guardrails-use-independent-api.html
    """

    client: "BedrockRuntimeClient"
    guardrail: Guardrail

    def lets_through(self, question: str) -> bool:
        """
        Return False also if the guardrail would only mask something, because a question that is to
        be changed may not be searched for as it is.

        Raises KnowledgeBaseThrottled, KnowledgeBaseUnavailable or SearchRefused, but never lets a
        question through that the guardrail hasn't seen.
        """
        with direct_search_errors("ApplyGuardrail"):
            verdict = self.client.apply_guardrail(
                guardrailIdentifier=self.guardrail.id,
                guardrailVersion=self.guardrail.version,
                source="INPUT",
                content=[{"text": {"text": question}}],
            )
        return verdict["action"] == "NONE"
