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

from stackroom.access.plain_text import Text
from stackroom.agents.agent_repositories import AgentRunBook, AgentRunQueue
from stackroom.agents.agent_run import LONGEST_WAIT, AgentRun, RunState, id_from
from stackroom.agents.agents import Agents
from stackroom.clock import utc_now
from stackroom.concurrency import random_pauses, retried
from stackroom.documents.model import Record
from stackroom.errors import AgentRunLimitReached, AgentRunNotFound

# What a run may take: no agent talks on for ever, at its operator's expense.

# Input and output together, as models bill them; each turn is told all that was said before. Ten
# turns over passages of some 4,000 tokens each come to about this. A turn is not broken off, so
# that a run may take one turn more.
MOST_TOKENS = 250_000
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

# Of a user's at the same time: what somebody starts by a loop, or by holding a key down.
MOST_AT_ONCE = 5
LONGEST_MESSAGE = 10_000  # characters

# An item of DynamoDB has 400 KB at most, with its names [DynamoDB: Quotas]. What is above this in
# it, the message and the rest, takes below 50 KB.
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
MOST_STEP_BYTES = 340_000
# Of one step, so that one alone doesn't leave the others short.
MOST_BYTES_OF_A_STEP = 64_000
# What every step needs though nothing is left of its texts: names, times, what was asked.
LEAST_BYTES_OF_A_STEP = 5_000
MOST_STEPS = MOST_TURNS + MOST_TOOL_CALLS


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

        return retried(once, tries=_TRIES, pause=_pause)

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
