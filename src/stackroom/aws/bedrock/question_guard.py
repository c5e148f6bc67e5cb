"""A guardrail over questions, for ways to search that know of none."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stackroom.aws.bedrock.guardrail import Guardrail
from stackroom.aws.error_mapping import direct_search_errors

if TYPE_CHECKING:
    from types_boto3_bedrock_runtime.client import BedrockRuntimeClient


@dataclass(frozen=True, kw_only=True)
class QuestionGuard:
    """
    By ApplyGuardrail, what Retrieve does with a guardrail by itself: it looks at the question, and
    never at what is found.

    https://docs.aws.amazon.com/bedrock/latest/userguide/guardrails-use-independent-api.html
    """

    client: "BedrockRuntimeClient"
    guardrail: Guardrail

    def lets_through(self, question: str) -> bool:
        """
        False also where it would only mask something: a question that is to be changed is not
        searched for as it is.

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
