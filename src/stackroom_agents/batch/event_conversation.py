"""An event's conversation with a model: one question, tool calls as needed, one answer."""

import json
import math
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from strands import Agent
from strands.agent import AgentResult
from strands.models import Model
from strands.types.content import Message
from strands.types.exceptions import (
    ContextWindowOverflowException,
    EventLoopException,
    MaxTokensReachedException,
    ModelThrottledException,
)

from stackroom.access.tool import is_encodable
from stackroom.aws.error_mapping import model_errors
from stackroom.errors import AgentUnfinished, ModelRefused, ModelThrottled, Rejected
from stackroom_agents.batch.agent_events import Messages, Task
from stackroom_agents.batch.run_limits import TOOL_CALLS, TURNS, RunDeadline, ToolCalls, within
from stackroom_agents.tool_context import caller_of

Json = dict[str, Any] | list[Any]
_OPERATION = "Converse"
# Of these the text is the answer, be it a guardrail's or a filter's word [StopReason in the API
# model of bedrock-runtime].
ENDS = frozenset({"end_turn", "stop_sequence", "guardrail_intervened", "content_filtered"})
_AGAIN = (
    "Your answer was not JSON: {problem}. Answer again, with JSON alone: one object or one array,"
    " and nothing before or after it."
)


class AnswerNotJson(Rejected):
    """
    The answer is not JSON. The model is told `problem`, too, which repeats nothing of the answer.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(f"the model's answer is not JSON: {problem}")
        self.problem = problem


@dataclass(frozen=True, kw_only=True)
class EventConversation:
    """
    Answers events. It is safe to use from several threads: no event leaves anything for another.
    """

    model: Model
    system_prompt: str
    tools: Sequence[Any]
    messages: Messages
    expect_json: bool = False

    def answer(self, task: Task, deadline: RunDeadline) -> str | Json:
        """
        Return the model's final text, or the JSON in it; malformed JSON gets one more attempt.

        Raises errors under `Rejected` that the sender can change; ModelThrottled, ModelUnavailable
        and StoreUnavailable for temporary failures, and ServiceRefused.
        """
        if task.identity:
            caller_of(task.identity)  # raises MissingIdentity before anything is paid for
        content = self.messages.of(task)
        return within(deadline, lambda stop: self._converse(content, task, stop))

    def _converse(self, content: list[Any], task: Task, stop: threading.Event) -> str | Json:
        agent = self._agent(calls := ToolCalls(stop))
        text = _ask(agent, content, task, calls)
        if not self.expect_json:
            return text
        try:
            return parsed(text)
        except AnswerNotJson as error:
            again = _AGAIN.format(problem=error.problem)
        return parsed(_ask(agent, [{"text": again}], task, calls))

    def _agent(self, calls: ToolCalls) -> Agent:
        return Agent(
            model=self.model,
            system_prompt=self.system_prompt,
            tools=list(self.tools),
            callback_handler=None,  # the default prints what the model says
            hooks=[calls],
            # boto3 tries again within seconds; what lasts longer is for Lambda and Step Functions,
            # so that nobody pays for a function that sleeps.
            retry_strategy=None,
        )


def _ask(agent: Agent, content: list[Any], task: Task, calls: ToolCalls) -> str:
    try:
        result = agent(
            content,
            invocation_state=dict(task.identity),
            limits={"turns": TURNS},
            cancel_signal=calls.stop,
        )
    except Exception as error:
        raise_anew(error)
    return text_of(result, calls)


def raise_anew(error: Exception) -> NoReturn:
    """Raise our own error for a model's error from Strands, and any other error as it is."""
    while isinstance(error, EventLoopException):  # from the second turn on
        error = error.original_exception
    match error:
        case MaxTokensReachedException():
            raise AgentUnfinished("the model's answer was cut at its limit of tokens") from error
        case ContextWindowOverflowException():
            raise ModelRefused("ValidationException", "the input is too long") from error
        case ModelThrottledException():
            raise ModelThrottled(_OPERATION) from error
        case _:
            with model_errors(_OPERATION):
                raise error


def text_of(result: AgentResult, calls: ToolCalls) -> str:
    """Return the model's final text. Raises AgentUnfinished."""
    if calls.are_too_many:
        raise AgentUnfinished(f"it called tools more than {TOOL_CALLS} times")
    if result.stop_reason == "limit_turns":
        raise AgentUnfinished(f"the model took more than {TURNS} turns")
    if result.stop_reason not in ENDS:
        raise AgentUnfinished(f"the model stopped with {result.stop_reason}")
    text = "\n".join(texts(result.message))
    if not text.strip():
        raise AgentUnfinished(f"the model gave no answer ({result.stop_reason})")
    return text


def texts(message: Message) -> list[str]:
    """
    Return the texts of a message, including those with citations, without the model's reasoning.
    """
    found = []
    for block in message["content"]:
        if "text" in block:
            found.append(block["text"])
        elif "citationsContent" in block:
            parts = block["citationsContent"].get("content", ())
            found.append("".join(str(each["text"]) for each in parts if "text" in each))
    return found


# An answer that must be JSON, by rules that need no schema.
#
# The whole answer is JSON, or it has exactly one fenced block (three backticks, with or without
# the word json) and that is. It is an object or an array: a lone number or text is what a model
# says when it has no answer. What JSON can't say is refused: NaN, Infinity, a number too large
# for a double, half of a surrogate pair; and an object with one name twice, of which nobody knows
# the value.

_FENCED = re.compile(
    r"^[ \t]*```[ \t]*(\w*)[ \t\r]*\n(.*?)^[ \t]*```[ \t\r]*$", re.MULTILINE | re.DOTALL
)


def parsed(answer: str) -> Json:
    """Parse the answer. Raises AnswerNotJson with a problem that the model can be told."""
    text = answer.strip().removeprefix("\ufeff")
    if not text:
        raise AnswerNotJson("it is empty")
    if text[0] in "{[":
        return _object_or_array(text)
    blocks = _FENCED.findall(text)
    if len(blocks) != 1:
        found = "no block" if not blocks else f"{len(blocks)} blocks"
        raise AnswerNotJson(
            "allowed is one object or array and nothing else, or one block of it between lines of"
            f" three backticks; there is {found}"
        )
    [(_, inside)] = blocks
    return _object_or_array(inside)


def _object_or_array(text: str) -> Json:
    try:
        value = json.loads(
            text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_distinct
        )
    except json.JSONDecodeError as error:
        # Its message has no text of the answer, but where it stands.
        raise AnswerNotJson(f"{error.msg}, line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise AnswerNotJson("it is nested too deeply") from None
    except ValueError as error:  # an integer of more digits than Python reads
        raise AnswerNotJson(
            f"it has a number that can't be read ({type(error).__name__})"
        ) from None
    if not isinstance(value, dict | list):
        raise AnswerNotJson("allowed is an object or an array")
    if not is_encodable(value):
        raise AnswerNotJson("it has half of a surrogate pair, or is nested too deeply")
    return value


def _no_number(constant: str) -> NoReturn:
    raise AnswerNotJson(f"{constant} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise AnswerNotJson("it has a number that is too large")
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise AnswerNotJson("an object has one name twice")
    return found
