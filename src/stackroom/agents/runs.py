"""
A user's questions to their agents: asked, looked at, called off.

Each run stands alone: an agent is told nothing of what it was asked before.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from stackroom.agent_run import LONGEST_WAIT, AgentRun, RunState, id_from
from stackroom.agents.agents import Agents
from stackroom.agents.bounds import LONGEST_MESSAGE, MOST_AT_ONCE, MOST_SECONDS, SECONDS_TO_END
from stackroom.clock import utc_now
from stackroom.errors import AgentRunLimitReached, AgentRunNotFound, RecordChanged
from stackroom.gateway.plain_text import Text
from stackroom.model import Record
from stackroom.ports.agent_runs import AgentRunBook, AgentRunQueue
from stackroom.retries import random_pauses, retried

MOST_LISTED = 20
# None that is older can be unfinished.
_LONGEST = LONGEST_WAIT + timedelta(seconds=MOST_SECONDS + SECONDS_TO_END)
_NOT_QUEUED = "The run could not be handed on. Start it again."
_TRIES = 20
_pause = random_pauses(0.05, 1.0)

Message = Annotated[
    Text,
    AfterValidator(str.strip),
    Field(
        min_length=1,
        max_length=LONGEST_MESSAGE,
        description=f"a question of 1 to {LONGEST_MESSAGE:,} characters",
    ),
]


class NewRun(Record):
    """What a user asks an agent."""

    model_config = ConfigDict(strict=True)

    message: Message


@dataclass(frozen=True, kw_only=True)
class Runs:
    agents: Agents
    book: AgentRunBook
    queue: AgentRunQueue
    now: Callable[[], datetime] = utc_now

    def start(
        self, user_id: str, agent_id: str, wanted: NewRun, *, groups: tuple[str, ...] = ()
    ) -> AgentRun:
        """
        Accepted, and on its way to a runner. `groups` are the user's, from what was verified.

        Raises AgentNotFound, AgentRunLimitReached or StoreUnavailable.
        """
        self.agents.get(user_id, agent_id)
        now = self.now()
        recent = self.book.newest(user_id, since=now - _LONGEST)
        if sum(not each.seen_at(now).is_over for each in recent) >= MOST_AT_ONCE:
            raise AgentRunLimitReached(MOST_AT_ONCE)
        run = self.book.save(
            AgentRun(
                id=id_from(now) + secrets.token_hex(8),
                user_id=user_id,
                groups=groups,
                agent_id=agent_id,
                message=wanted.message,
                created_at=now,
            )
        )
        try:
            self.queue.put(user_id, run.id)
        except Exception:
            self.book.save(run.ended(RunState.FAILED, self.now(), reason=_NOT_QUEUED))
            raise
        return run

    def get(self, user_id: str, run_id: str) -> AgentRun:
        """Raises AgentRunNotFound."""
        return self._there(user_id, run_id).seen_at(self.now())

    def cancel(self, user_id: str, run_id: str) -> AgentRun:
        """
        One that nobody has begun is over at once; one at work ends soon, and one that is over
        stays as it ended. Raises AgentRunNotFound.
        """

        def once() -> AgentRun:
            there, now = self._there(user_id, run_id), self.now()
            if there.seen_at(now).is_over:
                return there.seen_at(now)
            if there.state is RunState.ACCEPTED:
                return self.book.save(there.ended(RunState.CANCELLED, now))
            return self.book.save(there.model_copy(update={"is_cancel_asked": True}))

        return retried(once, tries=_TRIES, pause=_pause, after=RecordChanged)

    def of_agent(self, user_id: str, agent_id: str) -> list[AgentRun]:
        """The newest first, at most 20. Raises AgentNotFound."""
        self.agents.get(user_id, agent_id)
        found = (each for each in self.book.newest(user_id) if each.agent_id == agent_id)
        return [each.seen_at(self.now()) for each in islice(found, MOST_LISTED)]

    def _there(self, user_id: str, run_id: str) -> AgentRun:
        found = self.book.get(user_id, run_id)
        if found is None:
            raise AgentRunNotFound
        return found
