"""
Carries out a run once, however often it is delivered, and records each step as it comes.

A runner claims a run until a certain time. If the runner dies, no other takes the run over, because
its model has been paid once: from then on, the run counts as failed.
"""

import json
import logging
import math
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from stackroom.access.identity import Caller
from stackroom.access.tool import is_plain
from stackroom.clock import Deadline, utc_now
from stackroom.concurrency import chunks, random_pauses, retried
from stackroom.errors import (
    AgentUnfinished,
    LimitExceeded,
    ModelRefused,
    ModelThrottled,
    ModelUnavailable,
    ServiceRefused,
    StackroomError,
    Unavailable,
)
from stackroom.model.questions import QuestionMeter
from stackroom.model.usage import Used
from stackroom.search.excerpts import estimated_tokens
from stackroom_agents.user_agents.agent import LinkedTool
from stackroom_agents.user_agents.agent_repositories import (
    AgentBook,
    AgentRunBook,
    Brief,
    Conversations,
    Exchange,
    ModelTurn,
)
from stackroom_agents.user_agents.agent_run import (
    AgentRun,
    Draft,
    ModelStep,
    RunState,
    ShownPassage,
    ToolStep,
)
from stackroom_agents.user_agents.asking import Asking, Response, failure
from stackroom_agents.user_agents.chats import ChatBook
from stackroom_agents.user_agents.run_bounds import (
    MOST_BYTES_OF_A_STEP,
    MOST_MEMORY,
    MOST_SECONDS,
    MOST_TOKENS,
    MOST_TOOL_CALLS,
    MOST_TURNS,
    SECONDS_TO_END,
    begun_step,
    fitted,
)

logger = logging.getLogger(__name__)

_TRIES = 8
_pause = random_pauses(0.05, 0.5)


@dataclass(frozen=True, kw_only=True)
class Runner:
    agents: AgentBook
    book: AgentRunBook
    chats: ChatBook
    asking: Asking
    conversations: Conversations
    meter: QuestionMeter
    now: Callable[[], datetime] = utc_now

    def carry_out(
        self, user_id: str, run_id: str, *, seconds: float = MOST_SECONDS
    ) -> AgentRun | None:
        """
        Carry out a run and return it, or None if it was over, gone, or claimed by another runner.

        It has at most so many seconds, and SECONDS_TO_END to end. Raises StoreUnavailable if the
        end can't be recorded.
        """
        seconds = min(seconds, MOST_SECONDS)
        taken = self._taken(user_id, run_id, seconds)
        if taken is None:
            return None
        until = Deadline.after(seconds)
        course = Course(taken, book=self.book, asking=self.asking, deadline=until, now=self.now)
        ended = course.close(*self._held(taken, course))
        self.meter.count(user_id, course.used, model=course.model)
        return ended

    def _taken(self, user_id: str, run_id: str, seconds: float) -> AgentRun | None:
        def once() -> AgentRun | None:
            current, now = self.book.get(user_id, run_id), self.now()
            if current is None or current.seen_at(now).state is not RunState.ACCEPTED:
                return None
            until = now + timedelta(seconds=seconds + SECONDS_TO_END)
            return self.book.save(current.begun(now, until=until))

        return retried(once, tries=_TRIES, pause=_pause)

    def _held(self, run: AgentRun, course: "Course") -> tuple[RunState, str | None]:
        agent = None
        try:
            agent = self.agents.get(run.user_id, run.agent_id)
            if agent is None:
                return RunState.FAILED, _AGENT_GONE
            before = self._remembered(run, course)
            # Tools of other types nobody here carries out, so the model isn't told of them.
            brief = Brief(
                model=agent.model,
                system_prompt=agent.system_prompt,
                tools=agent.linked_tools,
                message=run.message,
                before=before,
            )
            self.meter.require_room(run.user_id)
            course.model = agent.model
            self.conversations.hold(brief, course)
        except StackroomError as error:
            logger.warning("run failed", extra={"error_type": type(error).__name__})
            model = agent.model if agent is not None else ""
            return course.over or (RunState.FAILED, reason_of(error, model))
        except Exception as error:
            # Its words may be the user's, or the model's.
            logger.error("run broke", extra={"error_type": type(error).__name__})
            return course.over or (RunState.FAILED, _BROKE)
        return course.over or (RunState.SUCCEEDED, None)

    def _remembered(self, run: AgentRun, course: "Course") -> list[Exchange]:
        """
        Return the earlier exchanges of its conversation as far as there is room; the oldest are
        dropped.
        """
        if run.conversation_id is None:
            return []
        chat = self.chats.get(run.user_id, run.agent_id, run.conversation_id)
        asked = chat.run_ids if chat is not None else ()
        earlier = asked[: asked.index(run.id)] if run.id in asked else asked
        exchanges: list[Exchange] = []
        left, forgotten = MOST_MEMORY, len(earlier)
        for some in chunks(reversed(earlier), of=_READ_AT_ONCE):
            for each in self.book.some(run.user_id, some):
                exchange = exchange_of(each)
                left -= 0 if exchange is None else tokens_of(exchange)
                if left < 0:
                    course.forgets(forgotten)
                    return exchanges[::-1]
                forgotten -= 1
                exchanges += [exchange] if exchange is not None else []
        return exchanges[::-1]


_READ_AT_ONCE = 10  # questions of a conversation: most remember no more
_CITED = re.compile(r"\s?\[\d{1,4}(?:\s{0,3},\s{0,3}\d{1,4}){0,20}\]")


def exchange_of(run: AgentRun) -> Exchange | None:
    """
    Return a run's exchange, or None if it has no answer.

    The numbers of its passages are left out, because they mean others in the next answer.
    """
    answer = _CITED.sub("", run.answer or "").strip()
    return Exchange(question=run.message, answer=answer) if answer else None


def tokens_of(exchange: Exchange) -> int:
    """Return an exchange's tokens as the budget of passages counts them: four characters each."""
    return math.ceil((len(exchange.question) + len(exchange.answer)) / 4)


# How a run ended, told to its user: a sentence, and what to do.

_BROKE = "Something went wrong. Try again; if it happens again, tell whoever runs Stackroom."
_AGENT_GONE = "The agent was deleted before it could answer."
_LATER = {
    ModelThrottled: "The model {model!r} is busy. Try again in a minute.",
    ModelUnavailable: "The model {model!r} did not answer. Try again in a minute.",
    Unavailable: "A store did not answer. Try again in a minute.",
}


def reason_of(error: StackroomError, model: str) -> str:
    """Return the reason for the user. `model` is the agent's."""
    for kind, reason in _LATER.items():
        if isinstance(error, kind):
            return reason.format(model=model)
    match error:
        case ModelRefused():
            return (
                f"The model {model!r} did not take the request: {error.reason} If no model is"
                " called that, or it can't use tools, choose another in the agent's settings."
            )
        case ServiceRefused():
            # Of Converse: no such model in this region, or none that the account may use.
            return (
                f"The model {model!r} can't be used here ({error.code}). Choose another in the"
                " agent's settings, or have the operator allow it."
            )
        case LimitExceeded():
            return f"{error}."
        case AgentUnfinished():
            return f"The agent has no answer: {error.reason}. Ask for less at a time."
    return _BROKE


# The run while it is carried out.

_LONGEST_QUERY = 500  # characters of one that are kept, and below of what was told
_LONGEST_TOLD = 300
_MOST_NOTICES = 4
_NO_MORE = "The run is over; no more is searched."
# A draft is written at most so often, in seconds; and so often for each 4 KB of it, so that a text
# costs 16 write units a second at most, however long it grows.
_DRAFT_SECONDS = 0.25
_DRAFT_BYTES = 4096


class Course:
    """
    The listener to a run's conversation.

    `over` is how the run ends if its conversation is to stop, else None. `used` counts the tokens
    of its `model`, and of the one that embeds.
    """

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
        self.used, self.model = Used(), ""
        self._run = run
        self._book, self._asking, self._deadline, self._now = book, asking, deadline, now
        self._turns = self._calls = 0
        self._numbers: dict[object, int] = {}  # of passages, by what they say and where
        self._text, self._drafted, self._next_draft = "", "", 0.0
        self._lock = threading.Lock()

    def forgets(self, questions: int) -> None:
        with self._lock:
            self._write({"forgotten": questions}, None)

    def writes(self, text: str) -> None:
        with self._lock:
            self._text += text
            self._draft_text()

    def end_turn(self, turn: ModelTurn) -> None:
        with self._lock:
            self._text = self._drafted = ""
            self._turns += 1
            self.used += Used(
                questions=int(self._turns == 1),
                model_input_tokens=turn.input_tokens,
                model_output_tokens=turn.output_tokens,
            )
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
                self._check_budget()

    def call(self, tool: LinkedTool, arguments: object) -> Mapping[str, Any]:
        with self._lock:
            if self.over is None and self._calls >= MOST_TOOL_CALLS:
                self._spend(f"It searched {MOST_TOOL_CALLS} times")
            if self.over is not None:
                return failure(_NO_MORE)
            self._calls += 1
            name = tool.config.knowledge_base_name
            self._keep_draft(query=_query_of(arguments), knowledge_base_name=name)
        started = time.perf_counter()
        response = self._numbered(self._asked(tool, arguments))
        step = _step_of(tool, arguments, response, at=self._now(), started=started)
        with self._lock:
            if step.is_success and not step.is_cached:
                self.used += Used(question_tokens=estimated_tokens(step.query))
            self._write({"tool_calls": self._run.tool_calls + 1}, step)
        return response

    def is_called_off(self) -> bool:
        """Return whether the user, the budget or the deadline has ended the run."""
        with self._lock:
            if self.over is None and self._deadline.has_passed:
                self._spend("Its time was over")
            if self.over is None:
                with suppress(Unavailable):  # it is asked again soon
                    self._run = self._current()
                    self._take_note()
                    self._draft_text()
            return self.over is not None

    def close(self, state: RunState, reason: str | None) -> AgentRun:
        """
        Record the end with the text that the model was writing; an end that came first is kept.
        """

        def once() -> AgentRun:
            current, now = self._current(), self._now()
            seen = current.seen_at(now)
            if seen.is_over:
                return seen
            steps = (*current.steps, *begun_step(self._text, current.steps, now))
            ended = current.model_copy(update={"steps": steps}).ended(state, now, reason=reason)
            return self._book.save(ended)

        with self._lock:
            self.over = self.over or (state, reason)  # whoever still talks is not written down
            ended = retried(once, tries=_TRIES, pause=_pause, after=Unavailable)
            with suppress(Unavailable):  # else it goes by itself
                self._book.keep_draft(ended.user_id, ended.id, None)
            return ended

    def _draft_text(self) -> None:
        """Save the draft soon after it has grown, but not too often."""
        if self._text == self._drafted or time.monotonic() < self._next_draft:
            return
        shown = self._text.encode()[:MOST_BYTES_OF_A_STEP].decode(errors="ignore")
        self._keep_draft(text=shown)
        self._drafted = self._text
        often = max(1.0, len(shown.encode()) / _DRAFT_BYTES)
        self._next_draft = time.monotonic() + _DRAFT_SECONDS * often

    def _keep_draft(self, **of: str) -> None:
        """Save the draft for readers; a store that doesn't take it does not affect the answer."""
        if self.over is None:
            with suppress(Unavailable):
                draft = Draft(steps=len(self._run.steps), **of)
                self._book.keep_draft(self._run.user_id, self._run.id, draft)

    def _numbered(self, response: Response) -> Response:
        """
        Give each passage the number that the model cites it by; a repeated passage keeps its
        number.
        """
        if not response.get("results"):
            return response
        with self._lock:
            results = []
            for each in response["results"]:
                key = (each["content"], json.dumps(each["source"], sort_keys=True, default=str))
                number = self._numbers.setdefault(key, len(self._numbers) + 1)
                results.append({**each, "metadata": {**each["metadata"], "citation": number}})
        return {**response, "results": results}

    def _asked(self, tool: LinkedTool, arguments: object) -> Response:
        caller = Caller(self._run.user_id, self._run.groups)
        try:
            return self._asking.answer(
                tool, arguments, caller, within=self._run.within, deadline=self._deadline
            )
        except Exception as error:
            # Its words may be the user's.
            logger.error("search broke", extra={"error_type": type(error).__name__})
            return failure("The search failed; the operator finds the reason in the log.")

    def _write(self, changes: Mapping[str, object], step: ModelStep | ToolStep | None) -> None:
        def once() -> AgentRun:
            current = self._current()
            if current.seen_at(self._now()).is_over:
                return current
            steps = current.steps if step is None else (*current.steps, fitted(step, current.steps))
            return self._book.save(current.model_copy(update={**changes, "steps": steps}))

        if self.over is None:
            self._run = retried(once, tries=_TRIES, pause=_pause, after=Unavailable)
            self._take_note()

    def _take_note(self) -> None:
        seen = self._run.seen_at(self._now())
        if seen.is_over:
            self.over = self.over or (seen.state, seen.reason)
        elif seen.is_cancel_asked:
            self.over = self.over or (RunState.CANCELLED, None)

    def _check_budget(self) -> None:
        tokens = self._run.input_tokens + self._run.output_tokens
        if tokens >= MOST_TOKENS:
            self._spend(f"It took {tokens:,} tokens, and a run has {MOST_TOKENS:,}")
        elif self._turns >= MOST_TURNS:
            self._spend(f"The model took {MOST_TURNS} turns")

    def _spend(self, what: str) -> None:
        reason = f"{what}; an answer may take no more. Ask for less at a time."
        self.over = self.over or (RunState.OUT_OF_BUDGET, reason)

    def _current(self) -> AgentRun:
        """Return the current run. One that its user has removed is over."""
        found = self._book.get(self._run.user_id, self._run.id)
        return found or self._run.ended(RunState.CANCELLED, self._now())


def _step_of(
    tool: LinkedTool, arguments: object, response: Response, *, at: datetime, started: float
) -> ToolStep:
    summary = str(response.get("summary") or response["message"])
    metadata = response.get("metadata", {})
    return ToolStep(
        tool_id=tool.id,
        tool_name=tool.name,
        knowledge_base_name=tool.config.knowledge_base_name,
        query=_query_of(arguments),
        is_success=response["success"],
        told=summary[:_LONGEST_TOLD],
        passages=tuple(
            ShownPassage(
                rank=each["rank"],
                number=each["metadata"].get("citation"),
                content=each["content"],
                source=each["source"],
                similarity=each["similarity"],
                is_cut=bool(each["metadata"].get("truncated")),
                gaps=tuple(each["metadata"].get("gaps", ())),
            )
            for each in response.get("results", ())
        ),
        notices=tuple(
            str(each)[:_LONGEST_TOLD] for each in metadata.get("notices", ())[:_MOST_NOTICES]
        ),
        not_searched=str(metadata.get("notSearched", "")),
        tokens=metadata.get("totalTokensUsed", 0),
        is_cached=metadata.get("cached", False),
        at=at,
        seconds=time.perf_counter() - started,
    )


def _query_of(arguments: object) -> str:
    query = arguments.get("query", "") if isinstance(arguments, Mapping) else ""
    return "".join(each for each in str(query)[:_LONGEST_QUERY] if is_plain(each))
