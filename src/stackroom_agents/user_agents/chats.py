"""
A user's conversations with an agent: the questions of each, in order, and their titles.

A conversation has the ids of its runs; only the runs have the texts.
"""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Annotated, Protocol, Self

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, NonNegativeInt

from stackroom.access.tool import Line, is_plain
from stackroom.clock import utc_now
from stackroom.concurrency import random_pauses, retried, run_in_threads
from stackroom.errors import Conflict, NotFound, RecordChanged
from stackroom.model.records import Record
from stackroom_agents.user_agents.agent_repositories import AgentRunBook
from stackroom_agents.user_agents.agent_run import AgentRun
from stackroom_agents.user_agents.agents import Agents

MOST_LISTED = 100  # of an agent; those that were begun before stay until they have lain a month
# Of one: its record is read with each question. Long before, its beginning is forgotten.
MOST_QUESTIONS = 200
MOST_SHOWN = 30  # questions of a conversation on one page
LONGEST_TITLE = 100  # characters
_FIRST_WORDS = 60  # characters of a first question that a title is made of
_TRIES = 20
_pause = random_pauses(0.05, 1.0)


class Chat(Record):
    """
    A conversation. `run_ids` are in the order of the questions, and `version` counts the writes.

    One that `is_test` belongs to the form in which the agent is made, and is never listed.
    """

    id: str
    user_id: str
    agent_id: str
    title: str
    is_test: bool = False
    run_ids: tuple[str, ...] = ()
    created_at: AwareDatetime
    updated_at: AwareDatetime
    version: NonNegativeInt = 0

    def asked(self, run_id: str, at: datetime) -> Self:
        """Return the conversation with one more run. Raises Conflict."""
        if len(self.run_ids) >= MOST_QUESTIONS:
            raise Conflict(
                "ChatFull", f"This conversation has {MOST_QUESTIONS} questions, and takes no more"
            )
        return self.model_copy(update={"run_ids": (*self.run_ids, run_id), "updated_at": at})


def begun(
    user_id: str, agent_id: str, message: str, at: datetime, *, is_test: bool = False
) -> Chat:
    """Return a new conversation, not saved yet, with a title from its first question."""
    return Chat(
        id=f"chat-{int(at.timestamp() * 1000):011x}{secrets.token_hex(8)}",
        user_id=user_id,
        agent_id=agent_id,
        title=title_of(message),
        is_test=is_test,
        created_at=at,
        updated_at=at,
    )


def title_of(message: str) -> str:
    """Return a question's first words, on one line."""
    title = " ".join("".join(each if is_plain(each) else " " for each in message).split())
    if len(title) <= _FIRST_WORDS:
        return title or "Untitled"
    cut = title[:_FIRST_WORDS]
    return f"{cut.rpartition(' ')[0] or cut}…"


class NewTitle(Record):
    model_config = ConfigDict(strict=True)

    title: Annotated[
        Line,
        AfterValidator(str.strip),
        Field(
            min_length=1,
            max_length=LONGEST_TITLE,
            description=f"1 to {LONGEST_TITLE} characters, without line breaks",
        ),
    ]


class ChatBook(Protocol):
    def get(self, user_id: str, agent_id: str, chat_id: str) -> Chat | None:
        """
        Return the user's current conversation with an agent, or None if there is none with this id.
        """

    def of_agent(self, user_id: str, agent_id: str) -> Iterator[Chat]:
        """Yield an agent's conversations, the newest first."""

    def save(self, chat: Chat) -> Chat:
        """
        Save the conversation as its next version, for some weeks.

        Raises RecordChanged if it has changed or is gone.
        """

    def remove(self, chat: Chat) -> bool:
        """Remove a conversation. Returns False if it has changed, True if it is gone."""


@dataclass(frozen=True, kw_only=True)
class Chats:
    agents: Agents
    book: ChatBook
    runs: AgentRunBook
    now: Callable[[], datetime] = utc_now

    def of_agent(self, user_id: str, agent_id: str) -> list[Chat]:
        """Return an agent's conversations, the last used first. Raises NotFound."""
        self.agents.get(user_id, agent_id)
        found: list[Chat] = []
        for each in self.book.of_agent(user_id, agent_id):
            if each.is_test:
                continue
            found.append(each)
            if len(found) == MOST_LISTED:
                break
        return sorted(found, key=lambda each: (each.updated_at, each.id), reverse=True)

    def test_of(self, user_id: str, agent_id: str) -> Chat | None:
        """Return the latest test conversation, unless many others were begun since."""
        recent = islice(self.book.of_agent(user_id, agent_id), MOST_LISTED)
        return next((each for each in recent if each.is_test), None)

    def get(self, user_id: str, agent_id: str, chat_id: str) -> Chat:
        """Return a conversation. Raises NotFound."""
        found = self.book.get(user_id, agent_id, chat_id)
        if found is None:
            self.agents.get(user_id, agent_id)
            raise NotFound("Chat", "Conversation")
        return found

    def runs_of(self, chat: Chat, *, before: str | None = None) -> list[AgentRun]:
        """Return its last 30 runs, or the last 30 before a run, in the order of the questions."""
        ids = chat.run_ids
        if before in ids:
            ids = ids[: ids.index(before)]
        now = self.now()
        return [each.seen_at(now) for each in self.runs.some(chat.user_id, ids[-MOST_SHOWN:])]

    def rename(self, user_id: str, agent_id: str, chat_id: str, wanted: NewTitle) -> Chat:
        """Rename a conversation. Raises NotFound."""

        def once() -> Chat:
            current = self.get(user_id, agent_id, chat_id)
            return self.book.save(current.model_copy(update={"title": wanted.title}))

        return retried(once, tries=_TRIES, pause=_pause)

    def remove(self, user_id: str, agent_id: str, chat_id: str) -> None:
        """
        Remove a conversation with its runs. Raises NotFound.

        The conversation goes last, so that repeating an interrupted removal removes the rest.
        """
        self.get(user_id, agent_id, chat_id)
        self._remove(user_id, agent_id, chat_id)

    def remove_agent(self, user_id: str, agent_id: str) -> None:
        """
        Remove an agent with its conversations. Raises NotFound.

        The conversations go first, so that repeating it removes the rest, and once more afterwards,
        for those begun meanwhile.
        """
        self.agents.get(user_id, agent_id)
        self._sweep(user_id, agent_id)
        self.agents.remove(user_id, agent_id)
        self._sweep(user_id, agent_id)

    def _sweep(self, user_id: str, agent_id: str) -> None:
        for each in list(self.book.of_agent(user_id, agent_id)):
            self._remove(user_id, agent_id, each.id)

    def _remove(self, user_id: str, agent_id: str, chat_id: str) -> None:
        def once() -> None:
            current = self.book.get(user_id, agent_id, chat_id)
            if current is None:
                return
            run_in_threads([partial(self.runs.remove, user_id, each) for each in current.run_ids])
            if not self.book.remove(current):  # somebody has asked something in it meanwhile
                raise RecordChanged(chat_id)

        retried(once, tries=_TRIES, pause=_pause)
