"""Steps in a record that holds so many bytes: what doesn't fit is cut, and says that it is."""

from collections.abc import Sequence

from stackroom.agent_run import ModelStep, ShownPassage, ToolStep
from stackroom.agents.bounds import (
    LEAST_BYTES_OF_A_STEP,
    MOST_BYTES_OF_A_STEP,
    MOST_STEP_BYTES,
    MOST_STEPS,
)

_CUT = "..."
_SHARES = (4_000, 2_000, 1_000, 500, 200)  # characters of a passage, tried one after another


def fitted(
    step: ModelStep | ToolStep, before: Sequence[ModelStep | ToolStep]
) -> ModelStep | ToolStep:
    """The step as the record can hold it behind those, with room for all that may come after."""
    room = room_after(before)
    if isinstance(step, ModelStep):
        return _fitted_text(step, room)
    return _fitted_passages(step, room)


def room_after(before: Sequence[ModelStep | ToolStep]) -> int:
    """Bytes that the next step may have."""
    to_come = max(MOST_STEPS - len(before) - 1, 0) * LEAST_BYTES_OF_A_STEP
    left = MOST_STEP_BYTES - sum(map(size_of, before)) - to_come
    return max(min(left, MOST_BYTES_OF_A_STEP), LEAST_BYTES_OF_A_STEP)


def size_of(step: ModelStep | ToolStep) -> int:
    """Bytes of it in the record."""
    return len(step.model_dump_json().encode()) + 1


def _fitted_text(step: ModelStep, room: int) -> ModelStep:
    text = step.text
    while size_of(step) > room and text:
        # What JSON makes of a character has one to six bytes, so this takes a few turns.
        surplus = size_of(step) - room + len(_CUT)
        text = text[: len(text) - max(surplus // 6, 1)]
        step = step.model_copy(update={"text": text + _CUT, "is_cut": True})
    return step


def _fitted_passages(step: ToolStep, room: int) -> ToolStep:
    """All passages, each with its beginning; the last ones go if even those are too much."""
    whole = step
    for share in _SHARES:
        if size_of(step) <= room:
            return step
        step = _shortened(whole, share)
    while size_of(step) > room and step.passages:
        step = step.model_copy(update={"passages": step.passages[:-1], "is_cut": True})
    return step


def _shortened(step: ToolStep, share: int) -> ToolStep:
    passages = tuple(_beginning(each, share) for each in step.passages)
    return step.model_copy(update={"passages": passages, "is_cut": True})


def _beginning(passage: ShownPassage, share: int) -> ShownPassage:
    if len(passage.content) <= share:
        return passage
    return passage.model_copy(update={"content": passage.content[:share] + _CUT, "is_cut": True})
