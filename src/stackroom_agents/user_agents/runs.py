"""
A user's questions to their agents: ask, read and cancel them.

A run is the next question of a conversation, or stands alone: then its agent knows no earlier
questions.
"""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field

from stackroom.access.tool import Text
from stackroom.clock import utc_now
from stackroom.concurrency import random_pauses, retried
from stackroom.errors import (
    Conflict,
    LimitReached,
    NotFound,
)
from stackroom.model.records import Record
from stackroom_agents.user_agents.agent_repositories import AgentRunBook, AgentRunQueue
from stackroom_agents.user_agents.agent_run import (
    LONGEST_WAIT,
    AgentRun,
    Draft,
    RunState,
    SearchedPart,
    Step,
    ToolStep,
    id_from,
)
from stackroom_agents.user_agents.agents import Agents
from stackroom_agents.user_agents.chats import Chat, ChatBook, begun
from stackroom_agents.user_agents.run_bounds import MOST_SECONDS, SECONDS_TO_END, begun_step

# Of a user's at the same time: what somebody starts by a loop, or by holding a key down.
MOST_AT_ONCE = 5
LONGEST_MESSAGE = 10_000  # characters

MOST_LISTED = 20
# None that is older can be unfinished.
_LONGEST = LONGEST_WAIT + timedelta(seconds=MOST_SECONDS + SECONDS_TO_END)
_NOT_QUEUED = "The question could not be sent. Ask again."
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


NEW = "new"  # in place of a conversation's id: one that begins with this question


class NewRun(Record):
    """A user's question to an agent: in a conversation, in a new one, or alone."""

    model_config = ConfigDict(strict=True, validate_by_name=True)

    message: Message
    conversation_id: Annotated[
        str | None,
        Field(
            alias="conversationId",
            pattern=r"^(new|chat-[0-9a-f]{11,12}[0-9a-f]{16})$",
            description='the id of a conversation, or "new"',
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Runs:
    agents: Agents
    book: AgentRunBook
    chats: ChatBook
    queue: AgentRunQueue
    now: Callable[[], datetime] = utc_now

    def start(
        self,
        user_id: str,
        agent_id: str,
        new_run: NewRun,
        *,
        groups: tuple[str, ...] = (),
        within: SearchedPart | None = None,
        is_test: bool = False,
    ) -> AgentRun:
        """
        Accept a question and hand it to a runner.

        `groups` are the user's, from a verified token; `within` limits a search of all catalogs. If
        `is_test`, a conversation that begins with it is a test. Raises NotFound, LimitReached,
        Conflict or StoreUnavailable.
        """
        self.agents.require_kept(user_id, agent_id)
        now = self.now()
        recent = self.book.newest(user_id, since=now - _LONGEST)
        if sum(not each.seen_at(now).is_over for each in recent) >= MOST_AT_ONCE:
            raise LimitReached(
                "AgentRun",
                MOST_AT_ONCE,
                f"{MOST_AT_ONCE} of your runs are not over yet. Wait for one of them, or stop it",
            )
        chat_id, new = new_run.conversation_id, None
        if chat_id == NEW:
            new = begun(user_id, agent_id, new_run.message, now, is_test=is_test)
            chat_id = new.id
        run = self.book.save(
            AgentRun(
                id=id_from(now) + secrets.token_hex(8),
                user_id=user_id,
                groups=groups,
                agent_id=agent_id,
                conversation_id=chat_id,
                message=new_run.message,
                within=within,
                created_at=now,
            )
        )
        if chat_id is not None:
            self._enter(run, chat_id, new)
        try:
            self.queue.put(user_id, run.id)
        except Exception:
            self.book.save(run.ended(RunState.FAILED, self.now(), reason=_NOT_QUEUED))
            raise
        return run

    def begin_with(
        self,
        user_id: str,
        agent_id: str,
        message: str,
        steps: tuple[Step, ...],
        *,
        within: SearchedPart | None = None,
    ) -> AgentRun:
        """
        Begin a conversation with a question that was answered elsewhere, in these steps.

        Raises NotFound or StoreUnavailable.
        """
        self.agents.require_kept(user_id, agent_id)
        now = self.now()
        new = begun(user_id, agent_id, message, now)
        run = AgentRun(
            id=id_from(now) + secrets.token_hex(8),
            user_id=user_id,
            agent_id=agent_id,
            conversation_id=new.id,
            message=message,
            within=within,
            steps=steps,
            tool_calls=sum(isinstance(each, ToolStep) for each in steps),
            created_at=now,
        )
        run = self.book.save(run.ended(RunState.SUCCEEDED, now))
        self.chats.save(new.asked(run.id, now))
        return run

    def _enter(self, run: AgentRun, chat_id: str, new: Chat | None) -> None:
        """
        Add a run to its conversation. The run is saved first, so that each id in a conversation
        exists.

        Raises NotFound or Conflict, and then the run is removed.
        """

        def once() -> None:
            current = new or self.chats.get(run.user_id, run.agent_id, chat_id)
            if current is None:
                raise NotFound("Chat", "Conversation")
            for last in self.book.some(run.user_id, current.run_ids[-1:]):
                if not last.seen_at(run.created_at).is_over:
                    raise Conflict("ChatBusy", "The agent is still answering your last question")
            self.chats.save(current.asked(run.id, run.created_at))

        try:
            retried(once, tries=_TRIES, pause=_pause)
        except Exception:
            self.book.remove(run.user_id, run.id)
            raise

    def get(self, user_id: str, run_id: str) -> AgentRun:
        """Return a run. Raises NotFound."""
        return self._current(user_id, run_id).seen_at(self.now())

    def watched(self, user_id: str, run_id: str) -> tuple[AgentRun, Draft | None]:
        """Return a run, and the draft of its current step if it is at work. Raises NotFound."""
        # Before the run: what has become a step meanwhile is seen there, and never in neither.
        draft = self.book.draft(user_id, run_id)
        run = self.get(user_id, run_id)
        is_current = run.state is RunState.RUNNING and draft and draft.steps == len(run.steps)
        return run, draft if is_current else None

    def cancel(self, user_id: str, run_id: str) -> AgentRun:
        """
        End a run at once, with the text written so far; its runner stops within a second.

        A run that is over stays as it ended. Raises NotFound.
        """

        def once() -> AgentRun:
            current, now = self._current(user_id, run_id), self.now()
            if current.seen_at(now).is_over:
                return current.seen_at(now)
            _, draft = self.watched(user_id, run_id)
            is_current = draft is not None and draft.steps == len(current.steps)
            text = draft.text if draft is not None and is_current else ""
            steps = (*current.steps, *begun_step(text, current.steps, now))
            stopped = current.model_copy(update={"is_cancel_asked": True, "steps": steps})
            return self.book.save(stopped.ended(RunState.CANCELLED, now))

        return retried(once, tries=_TRIES, pause=_pause)

    def of_agent(self, user_id: str, agent_id: str, *, are_alone: bool = False) -> list[AgentRun]:
        """
        Return at most 20 runs, the newest first; if `are_alone`, those of no conversation.

        Raises NotFound.
        """
        self.agents.get(user_id, agent_id)
        found = (
            each
            for each in self.book.newest(user_id)
            if each.agent_id == agent_id and not (are_alone and each.conversation_id)
        )
        return [each.seen_at(self.now()) for each in islice(found, MOST_LISTED)]

    def _current(self, user_id: str, run_id: str) -> AgentRun:
        found = self.book.get(user_id, run_id)
        if found is None:
            raise NotFound("AgentRun", "Run")
        return found
