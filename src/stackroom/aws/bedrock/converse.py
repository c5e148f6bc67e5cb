"""Answers that a model on Bedrock writes from given passages."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from stackroom.aws.bedrock.answer_prompt import DEFAULT, rendered
from stackroom.aws.bedrock.guardrail import Guardrail
from stackroom.aws.error_mapping import code_of, message_of, search_error
from stackroom.clock import utc_now
from stackroom.search.cited_answers import Hear, Mark, Written

if TYPE_CHECKING:
    from types_boto3_bedrock_runtime.client import BedrockRuntimeClient
    from types_boto3_bedrock_runtime.type_defs import (
        ContentBlockOutputTypeDef,
        ConverseRequestTypeDef,
        ConverseResponseTypeDef,
        ConverseStreamResponseTypeDef,
    )

T = TypeVar("T")

# The marks by which a model cites, `[1]` or `[1, 3]`, taken out of what it wrote.

# A mark with the spaces before it; brackets before a parenthesis are a link of Markdown.
_MARK = re.compile(r"[ \t]*\[([0-9]{1,3}(?:[ \t]*[,;][ \t]*[0-9]{1,3})*)\](?!\()")
_NUMBER = re.compile(r"[0-9]+")


def unmarked(answer: str, count: int) -> tuple[str, tuple[Mark, ...]]:
    """
    Return the answer without its marks, and the marks' places; `count` passages may be cited.

    A number that no passage has is text, and so is everything else in the same brackets. Each mark
    keeps its place: "see [1] and [2]." cites two things in one sentence.
    """
    text, places = _taken_out(answer.strip(), count)
    if not text.strip():
        return "", ()
    marks = (Mark(end=end, numbers=tuple(dict.fromkeys(each))) for end, each in places.items())
    return text, tuple(marks)


def _taken_out(answer: str, count: int) -> tuple[str, dict[int, list[int]]]:
    """Return the text without marks, and the numbers by the marks' places."""
    text, at = "", 0
    places: dict[int, list[int]] = {}
    for match in _MARK.finditer(answer):
        numbers = [int(number) for number in _NUMBER.findall(match[1])]
        if not all(1 <= number <= count for number in numbers):
            continue
        between = answer[at : match.start()]
        is_of_one_list = len(text) in places and between.strip(" \t") in {",", ";"}
        text += "" if is_of_one_list else between
        places.setdefault(len(text), []).extend(numbers)
        at = match.end()
    return text + answer[at:], places


# About 1,500 words: an answer that is longer would be no answer, and is cut with a mark of it.
MAX_TOKENS = 2000
_CUT = " …"


@dataclass
class ConverseWriter:
    """
    A `Writer` over Bedrock's `Converse`.

    It asks for the likeliest words (temperature 0), so that a question has one answer, except of a
    model that refuses a temperature: Claude Opus from 4.7 on answers a ValidationException,
    "`temperature` is deprecated for this model" [cline issue 10572, promptfoo 10307,
    opensearch-build 6330]. The refusal decides, because a list of such models is never complete.

    `model_arn` is that of a foundation model or an inference profile; `prompt` is a template as in
    aws/bedrock/answer_prompt.py, by default the one there. The guardrail checks the question and
    the answer, not the passages, which stand in the system prompt [GuardrailConfiguration in the
    API model of Converse: it operates on the messages].
    """

    client: "BedrockRuntimeClient"
    _: KW_ONLY
    model_arn: str
    prompt: str | None = None
    guardrail: Guardrail | None = None
    now: Callable[[], datetime] = utc_now
    _takes_temperature: bool = field(default=True, init=False)

    def write(self, question: str, passages: Sequence[str], *, hear: Hear | None = None) -> Written:
        """
        Write the answer. Under a guardrail nothing is streamed, because it may change or withhold
        the text.
        """
        heard = hear if self.guardrail is None else None
        try:
            if heard is None:
                response = self._response(self.client.converse, question, passages)
            else:
                stream = self._response(self.client.converse_stream, question, passages)
                response = _joined(stream, lambda text: heard(unmarked(text, len(passages))[0]))
        except (ClientError, BotoCoreError) as error:
            raise search_error(error, "Converse") from error
        text, marks = unmarked(_text(response), len(passages))
        is_guarded = response["stopReason"] == "guardrail_intervened"
        return Written(
            text=text,
            marks=marks,
            guardrail_action="INTERVENED" if is_guarded else "NONE",
            model=self.model_arn,
            input_tokens=response["usage"]["inputTokens"],
            output_tokens=response["usage"]["outputTokens"],
        )

    def _response(self, ask: Callable[..., T], question: str, passages: Sequence[str]) -> T:
        try:
            return ask(**self._request(question, passages))
        except ClientError as error:
            is_invalid = code_of(error) == "ValidationException"
            if not (is_invalid and "temperature" in message_of(error)):
                raise
        self._takes_temperature = False
        return ask(**self._request(question, passages))

    def _request(self, question: str, passages: Sequence[str]) -> "ConverseRequestTypeDef":
        prompt = self.prompt or DEFAULT
        system = rendered(prompt, question=question, passages=passages, now=self.now())
        request: ConverseRequestTypeDef = {
            "modelId": self.model_arn,
            "system": [{"text": system}],
            "messages": [{"role": "user", "content": [{"text": question}]}],
            "inferenceConfig": {"maxTokens": MAX_TOKENS},
        }
        if self._takes_temperature:
            request["inferenceConfig"]["temperature"] = 0.0
        if self.guardrail is not None:
            request["guardrailConfig"] = {
                "guardrailIdentifier": self.guardrail.id,
                "guardrailVersion": self.guardrail.version,
            }
        return request


def _joined(response: "ConverseStreamResponseTypeDef", hear: Hear) -> "ConverseResponseTypeDef":
    """
    Return the response of Converse to which a ConverseStream adds up, streaming its text meanwhile.

    Raises EventStreamError, a ClientError, if the stream breaks off.
    """
    text, stop_reason, usage = "", "", dict[str, Any]()
    events: Iterable[Any] = response["stream"]
    for event in events:
        if piece := event.get("contentBlockDelta", {}).get("delta", {}).get("text", ""):
            text += piece
            hear(text)
        stop_reason = event.get("messageStop", {}).get("stopReason", stop_reason)
        usage = event.get("metadata", {}).get("usage", usage)
    joined: Any = {
        "output": {"message": {"role": "assistant", "content": [{"text": text}]}},
        "stopReason": stop_reason,
        "usage": usage,
    }
    whole: ConverseResponseTypeDef = joined
    return whole


def _text(response: "ConverseResponseTypeDef") -> str:
    """Return the text of the response's text blocks; a model may show its reasoning in others."""
    blocks: Sequence[ContentBlockOutputTypeDef]
    blocks = response["output"].get("message", {}).get("content", [])
    text = "".join(block.get("text", "") for block in blocks)
    return text.rstrip() + _CUT if response["stopReason"] == "max_tokens" and text else text
