"""
A run while it is carried out: what was said and found is written down as it comes, and whoever
talks to the model learns when to stop.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from stackroom.access.identity import Caller
from stackroom.access.plain_text import is_plain
from stackroom.agents.agent import LinkedTool
from stackroom.agents.agent_repositories import AgentRunBook, ModelTurn
from stackroom.agents.agent_run import AgentRun, ModelStep, RunState, ShownPassage, ToolStep
from stackroom.agents.asking import Asking, Response, failure
from stackroom.agents.runs import (
    LEAST_BYTES_OF_A_STEP,
    MOST_BYTES_OF_A_STEP,
    MOST_STEP_BYTES,
    MOST_STEPS,
    MOST_TOKENS,
    MOST_TOOL_CALLS,
    MOST_TURNS,
)
from stackroom.clock import Deadline
from stackroom.errors import RecordChanged, Unavailable
from stackroom.retries import random_pauses, retried

logger = logging.getLogger(__name__)

_TRIES = 8
_pause = random_pauses(0.05, 0.5)
_LONGEST_QUERY = 500  # characters of one that are kept, and below of what was told
_LONGEST_TOLD = 300
_MOST_NOTICES = 4
_NO_MORE = "The run is over; no more is searched."


class Course:
    """A `Listener`. `over` is how the run ends if its conversation is not to go on; else None."""

    def __init__(
        self,
        run: AgentRun,
        *,
        book: AgentRunBook,
        asking: Asking,
        deadline: Deadline,
        now: Callable[[], datetime],
    ) -> None:
        self.over: tuple[RunState, str | None] | None = None
        self._run = run
        self._book, self._asking, self._deadline, self._now = book, asking, deadline, now
        self._turns = self._calls = 0
        self._lock = threading.Lock()

    def said(self, turn: ModelTurn) -> None:
        with self._lock:
            self._turns += 1
            tokens = {
                "input_tokens": self._run.input_tokens + turn.input_tokens,
                "output_tokens": self._run.output_tokens + turn.output_tokens,
            }
            step = None
            if turn.text.strip():
                step = ModelStep(
                    text=turn.text,
                    at=self._now(),
                    seconds=turn.seconds,
                    input_tokens=turn.input_tokens,
                    output_tokens=turn.output_tokens,
                )
            self._write(tokens, step)
            if not turn.is_last:
                self._look_at_budget()

    def call(self, tool: LinkedTool, arguments: object) -> Mapping[str, Any]:
        with self._lock:
            if self.over is None and self._calls >= MOST_TOOL_CALLS:
                self._spend(f"It asked its knowledge bases {MOST_TOOL_CALLS} times")
            if self.over is not None:
                return failure(_NO_MORE)
            self._calls += 1
        started = time.perf_counter()
        response = self._asked(tool, arguments)
        step = _step_of(tool, arguments, response, at=self._now(), started=started)
        with self._lock:
            self._write({"tool_calls": self._run.tool_calls + 1}, step)
        return response

    def is_called_off(self) -> bool:
        """By its user, as the record says now; by its budget, or by time."""
        with self._lock:
            if self.over is None and self._deadline.has_passed:
                self._spend("Its time was over")
            if self.over is None:
                with suppress(Unavailable):  # it is asked again soon
                    self._run = self._there()
                    self._take_note()
            return self.over is not None

    def close(self, state: RunState, reason: str | None) -> AgentRun:
        """As it is to be read from now on; as somebody else ended it, if that came first."""

        def once() -> AgentRun:
            there = self._there()
            seen = there.seen_at(self._now())
            if seen.is_over:
                return seen
            return self._book.save(there.ended(state, self._now(), reason=reason))

        with self._lock:
            self.over = self.over or (state, reason)  # whoever still talks is not written down
            return retried(once, tries=_TRIES, pause=_pause, after=Unavailable)

    def _asked(self, tool: LinkedTool, arguments: object) -> Response:
        caller = Caller(self._run.user_id, self._run.groups)
        try:
            return self._asking.answer(tool, arguments, caller, deadline=self._deadline)
        except Exception as error:
            # Its words may be the user's.
            logger.error("search broke", extra={"error_type": type(error).__name__})
            return failure("The search broke; the operator finds where in the log.")

    def _write(self, changes: Mapping[str, object], step: ModelStep | ToolStep | None) -> None:
        def once() -> AgentRun:
            there = self._there()
            if there.seen_at(self._now()).is_over:
                return there
            steps = there.steps if step is None else (*there.steps, fitted(step, there.steps))
            return self._book.save(there.model_copy(update={**changes, "steps": steps}))

        if self.over is None:
            self._run = retried(once, tries=_TRIES, pause=_pause, after=Unavailable)
            self._take_note()

    def _take_note(self) -> None:
        seen = self._run.seen_at(self._now())
        if seen.is_over:
            self.over = self.over or (seen.state, seen.reason)
        elif seen.is_cancel_asked:
            self.over = self.over or (RunState.CANCELLED, None)

    def _look_at_budget(self) -> None:
        tokens = self._run.input_tokens + self._run.output_tokens
        if tokens >= MOST_TOKENS:
            self._spend(f"It took {tokens:,} tokens, and a run has {MOST_TOKENS:,}")
        elif self._turns >= MOST_TURNS:
            self._spend(f"The model took {MOST_TURNS} turns")

    def _spend(self, what: str) -> None:
        told = f"{what}; that is all that a run is given. Ask for less at a time."
        self.over = self.over or (RunState.OUT_OF_BUDGET, told)

    def _there(self) -> AgentRun:
        found = self._book.get(self._run.user_id, self._run.id)
        if found is None:
            raise RecordChanged(self._run.id)
        return found


def _step_of(
    tool: LinkedTool, arguments: object, response: Response, *, at: datetime, started: float
) -> ToolStep:
    told = str(response.get("summary") or response["message"])
    metadata = response.get("metadata", {})
    return ToolStep(
        tool_id=tool.id,
        tool_name=tool.name,
        knowledge_base_name=tool.config.knowledge_base_name,
        query=_query_of(arguments),
        is_success=response["success"],
        told=told[:_LONGEST_TOLD],
        passages=tuple(
            ShownPassage(
                rank=each["rank"],
                content=each["content"],
                source=each["source"],
                similarity=each["similarity"],
                is_cut=bool(each["metadata"].get("truncated")),
            )
            for each in response.get("results", ())
        ),
        notices=tuple(
            str(each)[:_LONGEST_TOLD] for each in metadata.get("notices", ())[:_MOST_NOTICES]
        ),
        tokens=metadata.get("totalTokensUsed", 0),
        is_cached=metadata.get("cached", False),
        at=at,
        seconds=time.perf_counter() - started,
    )


def _query_of(arguments: object) -> str:
    said = arguments.get("query", "") if isinstance(arguments, Mapping) else ""
    return "".join(each for each in str(said)[:_LONGEST_QUERY] if is_plain(each))


# Steps in a record that holds so many bytes: what doesn't fit is cut, and says that it is.

_CUT = "..."
_SHARES = (4_000, 2_000, 1_000, 500, 200)  # characters of a passage, tried one after another


def fitted(
    step: ModelStep | ToolStep, before: Sequence[ModelStep | ToolStep]
) -> ModelStep | ToolStep:
    """The step as the record can hold it behind those, with room for all that may come after."""
    to_come = max(MOST_STEPS - len(before) - 1, 0) * LEAST_BYTES_OF_A_STEP
    left = MOST_STEP_BYTES - sum(map(_size_of, before)) - to_come
    room = max(min(left, MOST_BYTES_OF_A_STEP), LEAST_BYTES_OF_A_STEP)
    if isinstance(step, ModelStep):
        return _fitted_text(step, room)
    return _fitted_passages(step, room)


def _size_of(step: ModelStep | ToolStep) -> int:
    """Bytes of it in the record."""
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
    """All passages, each with its beginning; the last ones go if even those are too much."""
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
