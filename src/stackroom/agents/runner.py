"""
Carrying out a run: once, however often it is handed on.

Whoever takes it says until when they have it. One whose runner is gone is not taken by another, for
its model has been paid once: from then on it counts as failed, to whoever reads it.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from stackroom.agents.agent_repositories import AgentBook, AgentRunBook, Brief, Conversations
from stackroom.agents.agent_run import AgentRun, RunState
from stackroom.agents.asking import Asking
from stackroom.agents.run_recorder import Course
from stackroom.agents.runs import MOST_SECONDS, SECONDS_TO_END
from stackroom.clock import Deadline, utc_now
from stackroom.errors import (
    AgentUnfinished,
    ModelRefused,
    ModelThrottled,
    ModelUnavailable,
    ServiceRefused,
    StackroomError,
    Unavailable,
)
from stackroom.retries import random_pauses, retried

logger = logging.getLogger(__name__)

_TRIES = 8
_pause = random_pauses(0.05, 0.5)


@dataclass(frozen=True, kw_only=True)
class Runner:
    agents: AgentBook
    book: AgentRunBook
    asking: Asking
    conversations: Conversations
    now: Callable[[], datetime] = utc_now

    def carry_out(
        self, user_id: str, run_id: str, *, seconds: float = MOST_SECONDS
    ) -> AgentRun | None:
        """
        The run as it ended; None if it was over, gone, or somebody else's before it was begun.

        It has at most so many seconds, and SECONDS_TO_END beside. Raises StoreUnavailable if that
        can't be written down.
        """
        seconds = min(seconds, MOST_SECONDS)
        taken = self._taken(user_id, run_id, seconds)
        if taken is None:
            return None
        until = Deadline.after(seconds)
        course = Course(taken, book=self.book, asking=self.asking, deadline=until, now=self.now)
        return course.close(*self._held(taken, course))

    def _taken(self, user_id: str, run_id: str, seconds: float) -> AgentRun | None:
        def once() -> AgentRun | None:
            there, now = self.book.get(user_id, run_id), self.now()
            if there is None or there.seen_at(now).state is not RunState.ACCEPTED:
                return None
            until = now + timedelta(seconds=seconds + SECONDS_TO_END)
            return self.book.save(there.begun(now, until=until))

        return retried(once, tries=_TRIES, pause=_pause)

    def _held(self, run: AgentRun, course: Course) -> tuple[RunState, str | None]:
        agent = None
        try:
            agent = self.agents.get(run.user_id, run.agent_id)
            if agent is None:
                return RunState.FAILED, _AGENT_GONE
            # Tools of other types nobody here carries out, so the model isn't told of them.
            brief = Brief(
                model=agent.model,
                system_prompt=agent.system_prompt,
                tools=agent.linked_tools,
                message=run.message,
            )
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


# How a run ended, told to its user: a sentence, and what to do.

_BROKE = "Something broke that nobody expected; the operator finds where in the log. Try again."
_AGENT_GONE = "The agent was deleted before it could answer."
_LATER = {
    ModelThrottled: "The model {model!r} has too much to do. Try again in a minute.",
    ModelUnavailable: "The model {model!r} did not answer. Try again in a minute.",
    Unavailable: "A store did not answer. Try again in a minute.",
}


def reason_of(error: StackroomError, model: str) -> str:
    """`model` is the one that the agent was to talk to."""
    for kind, told in _LATER.items():
        if isinstance(error, kind):
            return told.format(model=model)
    match error:
        case ModelRefused():
            return (
                f"The model {model!r} did not take the request: {error.why} If no model is called"
                " that, or it can't use tools, choose another in the agent's settings."
            )
        case ServiceRefused():
            # Of Converse: no such model in this region, or none that the account may use.
            return (
                f"The model {model!r} can't be used here ({error.code}). Choose another in the"
                " agent's settings, or have the operator allow it."
            )
        case AgentUnfinished():
            return f"The agent has no answer: {error.why}. Ask for less at a time."
    return _BROKE
