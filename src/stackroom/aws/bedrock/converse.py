"""Answers that a model of Bedrock's writes from passages that it is given."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from stackroom.aws.bedrock.answer_prompt import DEFAULT, rendered
from stackroom.aws.bedrock.citation_marks import unmarked
from stackroom.aws.bedrock.guardrail import Guardrail
from stackroom.aws.error_mapping import search_error
from stackroom.clock import utc_now
from stackroom.retrieval.cited_answers import Written

if TYPE_CHECKING:
    from types_boto3_bedrock_runtime.client import BedrockRuntimeClient
    from types_boto3_bedrock_runtime.type_defs import (
        ContentBlockOutputTypeDef,
        ConverseRequestTypeDef,
        ConverseResponseTypeDef,
    )

# About 1,500 words: an answer that is longer would be no answer, and is cut with a mark of it.
MAX_TOKENS = 2000
_CUT = " …"


class ConverseWriter:
    """
    A `Writer` over Bedrock's `Converse`; it always takes the likeliest word (temperature 0).

    `model_arn` is that of a foundation model or an inference profile, `prompt` a template as in
    aws/bedrock/answer_prompt.py, and without one the template there. The guardrail looks at the
    question and at the answer; not at the passages, which stand in the system prompt
    [GuardrailConfiguration in the API model of Converse: it operates on the messages].
    """

    def __init__(
        self,
        client: "BedrockRuntimeClient",
        *,
        model_arn: str,
        prompt: str | None = None,
        guardrail: Guardrail | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._client = client
        self._model_arn = model_arn
        self._prompt = prompt or DEFAULT
        self._guardrail = guardrail
        self._now = now

    def write(self, question: str, passages: Sequence[str]) -> Written:
        try:
            response = self._client.converse(**self._request(question, passages))
        except (ClientError, BotoCoreError) as error:
            raise search_error(error, "Converse") from error
        text, marks = unmarked(_text(response), len(passages))
        is_guarded = response["stopReason"] == "guardrail_intervened"
        return Written(
            text=text, marks=marks, guardrail_action="INTERVENED" if is_guarded else "NONE"
        )

    def _request(self, question: str, passages: Sequence[str]) -> "ConverseRequestTypeDef":
        system = rendered(self._prompt, question=question, passages=passages, now=self._now())
        request: ConverseRequestTypeDef = {
            "modelId": self._model_arn,
            "system": [{"text": system}],
            "messages": [{"role": "user", "content": [{"text": question}]}],
            "inferenceConfig": {"temperature": 0.0, "maxTokens": MAX_TOKENS},
        }
        if self._guardrail is not None:
            request["guardrailConfig"] = {
                "guardrailIdentifier": self._guardrail.id,
                "guardrailVersion": self._guardrail.version,
            }
        return request


def _text(response: "ConverseResponseTypeDef") -> str:
    """Of its blocks of text alone: a model may tell its reasoning in others."""
    blocks: Sequence[ContentBlockOutputTypeDef]
    blocks = response["output"].get("message", {}).get("content", [])
    text = "".join(block.get("text", "") for block in blocks)
    return text.rstrip() + _CUT if response["stopReason"] == "max_tokens" and text else text
