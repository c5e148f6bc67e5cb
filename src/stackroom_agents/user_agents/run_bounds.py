"""The limits of an agent's run, and of the texts and passages that its record holds."""

from collections.abc import Sequence
from datetime import datetime

from stackroom_agents.user_agents.agent_run import ModelStep, ShownPassage, ToolStep

# No agent talks on for ever, at its operator's expense.

# Input and output together, as models bill them; each turn is told all that was said before. Ten
# turns over passages of some 4,000 tokens each come to about this. A turn is not broken off, so
# that a run may take one turn more.
MOST_TOKENS = 250_000
# Of them what was said before in a conversation may take, counted as four characters each. It is
# told in each turn anew: ten turns with all of it leave more than half for passages and answers.
MOST_MEMORY = 10_000
# The agents that anybody has shown us ask less than ten times for an answer.
MOST_TOOL_CALLS = 20
# Of the model. Each turn but the last calls a tool, unless it calls one that it hasn't got.
MOST_TURNS = 25
# A person waits for it. A function has 15 minutes at most:
# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
MOST_SECONDS = 300.0
# To end what is at work when its time is over, and to write down how it ended. After that time
# nobody ends it any more: whoever began it is gone.
SECONDS_TO_END = 30.0

# An item of DynamoDB has 400 KB at most, with its names [DynamoDB: Quotas]. What is above this in
# it, the message and the rest, takes below 50 KB.
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
MOST_STEP_BYTES = 340_000
# Of one step, so that one alone doesn't leave the others short.
MOST_BYTES_OF_A_STEP = 64_000
# What every step needs though nothing is left of its texts: names, times, what was asked.
LEAST_BYTES_OF_A_STEP = 5_000
MOST_STEPS = MOST_TURNS + MOST_TOOL_CALLS


# Steps in a record that holds so many bytes: what doesn't fit is cut, and says that it is.

_CUT = "..."
_SHARES = (4_000, 2_000, 1_000, 500, 200)  # characters of a passage, tried one after another


def fitted(
    step: ModelStep | ToolStep, before: Sequence[ModelStep | ToolStep]
) -> ModelStep | ToolStep:
    """
    Return the step as it fits the record after those before, with room for all that may follow.
    """
    to_come = max(MOST_STEPS - len(before) - 1, 0) * LEAST_BYTES_OF_A_STEP
    left = MOST_STEP_BYTES - sum(map(_size_of, before)) - to_come
    room = max(min(left, MOST_BYTES_OF_A_STEP), LEAST_BYTES_OF_A_STEP)
    if isinstance(step, ModelStep):
        return _fitted_text(step, room)
    return _fitted_passages(step, room)


def begun_step(
    text: str, before: Sequence[ModelStep | ToolStep], at: datetime
) -> tuple[ModelStep | ToolStep, ...]:
    """
    Return the step that a model was writing when it was interrupted; none if it had written
    nothing.
    """
    if not text.strip():
        return ()
    step = ModelStep(text=text, at=at, seconds=0, input_tokens=0, output_tokens=0, is_cut=True)
    return (fitted(step, before),)


def _size_of(step: ModelStep | ToolStep) -> int:
    """Return the bytes of a step in the record."""
    return len(step.model_dump_json().encode()) + 1


def _fitted_text(step: ModelStep, room: int) -> ModelStep:
    text = step.text
    while _size_of(step) > room and text:
        # What JSON makes of a character has one to six bytes, so this takes a few turns.
        surplus = _size_of(step) - room + len(_CUT)
        text = text[: len(text) - max(surplus // 6, 1)]
        step = step.model_copy(update={"text": text + _CUT, "is_cut": True})
    return step


def _fitted_passages(step: ToolStep, room: int) -> ToolStep:
    """
    Return the step with the beginning of each passage; if even those are too much, the last ones
    go.
    """
    whole = step
    for share in _SHARES:
        if _size_of(step) <= room:
            return step
        passages = tuple(_beginning(each, share) for each in whole.passages)
        step = whole.model_copy(update={"passages": passages, "is_cut": True})
    while _size_of(step) > room and step.passages:
        step = step.model_copy(update={"passages": step.passages[:-1], "is_cut": True})
    return step


def _beginning(passage: ShownPassage, share: int) -> ShownPassage:
    if len(passage.content) <= share:
        return passage
    return passage.model_copy(update={"content": passage.content[:share] + _CUT, "is_cut": True})
