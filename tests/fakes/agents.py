"""Agents and their runs in memory, their queue, and a model's part that a test writes."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from stackroom.errors import RecordChanged, StoreUnavailable
from stackroom_agents.user_agents.agent import Agent, KnowledgeBaseLink, LinkedTool, OtherTool
from stackroom_agents.user_agents.agent_repositories import Brief, Listener
from stackroom_agents.user_agents.agent_run import AgentRun, Draft
from stackroom_agents.user_agents.chats import Chat
from tests.support.records import NOW


@dataclass
class FakeAgents:
    """Under the same conditions as DynamoDB keeps them."""

    kept: dict[tuple[str, str], Agent] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, user_id: str, agent_id: str) -> Agent | None:
        return self.kept.get((user_id, agent_id))

    def of_user(self, user_id: str) -> Iterator[Agent]:
        return (each for (owner, _), each in sorted(self.kept.items()) if owner == user_id)

    def save(self, agent: Agent) -> Agent:
        with self._lock:
            there = self.get(agent.user_id, agent.id)
            if (0 if there is None else there.version) != agent.version:
                raise RecordChanged(agent.id)
            saved = agent.model_copy(update={"version": agent.version + 1})
            self.kept[agent.user_id, agent.id] = saved
            return saved

    def remove(self, user_id: str, agent_id: str) -> bool:
        return self.kept.pop((user_id, agent_id), None) is not None


@dataclass
class FakeAgentRuns:
    """Under the same conditions as DynamoDB keeps them."""

    kept: dict[tuple[str, str], AgentRun] = field(default_factory=dict)
    drafts: dict[tuple[str, str], Draft] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, user_id: str, run_id: str) -> AgentRun | None:
        return self.kept.get((user_id, run_id))

    def some(self, user_id: str, run_ids: Sequence[str]) -> list[AgentRun]:
        found = (self.get(user_id, each) for each in run_ids)
        return [each for each in found if each is not None]

    def remove(self, user_id: str, run_id: str) -> None:
        self.kept.pop((user_id, run_id), None)
        self.drafts.pop((user_id, run_id), None)

    def draft(self, user_id: str, run_id: str) -> Draft | None:
        return self.drafts.get((user_id, run_id))

    def keep_draft(self, user_id: str, run_id: str, draft: Draft | None) -> None:
        if draft is None:
            self.drafts.pop((user_id, run_id), None)
        else:
            self.drafts[user_id, run_id] = draft

    def newest(self, user_id: str, *, since: datetime | None = None) -> Iterator[AgentRun]:
        own = [each for (owner, _), each in self.kept.items() if owner == user_id]
        own.sort(key=lambda each: each.id, reverse=True)
        return (each for each in own if since is None or each.created_at >= since)

    def save(self, run: AgentRun) -> AgentRun:
        with self._lock:
            there = self.get(run.user_id, run.id)
            if (0 if there is None else there.version) != run.version:
                raise RecordChanged(run.id)
            saved = run.model_copy(update={"version": run.version + 1})
            self.kept[run.user_id, run.id] = saved
            return saved


@dataclass
class FakeChats:
    """Under the same conditions as DynamoDB keeps them."""

    kept: dict[tuple[str, str, str], Chat] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, user_id: str, agent_id: str, chat_id: str) -> Chat | None:
        return self.kept.get((user_id, agent_id, chat_id))

    def of_agent(self, user_id: str, agent_id: str) -> Iterator[Chat]:
        found = [each for key, each in self.kept.items() if key[:2] == (user_id, agent_id)]
        return iter(sorted(found, key=lambda each: each.id, reverse=True))

    def save(self, chat: Chat) -> Chat:
        with self._lock:
            if not self._is_read(chat):
                raise RecordChanged(chat.id)
            saved = chat.model_copy(update={"version": chat.version + 1})
            self.kept[chat.user_id, chat.agent_id, chat.id] = saved
            return saved

    def remove(self, chat: Chat) -> bool:
        with self._lock:
            there = self.get(chat.user_id, chat.agent_id, chat.id)
            if there is not None and not self._is_read(chat):
                return False
            self.kept.pop((chat.user_id, chat.agent_id, chat.id), None)
            return True

    def _is_read(self, chat: Chat) -> bool:
        there = self.get(chat.user_id, chat.agent_id, chat.id)
        return (0 if there is None else there.version) == chat.version


@dataclass
class FakeAgentRunQueue:
    is_down: bool = False
    put_in: list[tuple[str, str]] = field(default_factory=list)

    def put(self, user_id: str, run_id: str) -> None:
        if self.is_down:
            raise StoreUnavailable("SendMessage", "ServiceUnavailable")
        self.put_in.append((user_id, run_id))


@dataclass
class FakeConversations:
    """`play` is the conversation; `briefs` are those that it was begun with."""

    play: Callable[[Brief, Listener], None] = lambda _brief, _listener: None
    briefs: list[Brief] = field(default_factory=list)

    def hold(self, brief: Brief, listener: Listener) -> None:
        self.briefs.append(brief)
        self.play(brief, listener)


TOOLS = (
    LinkedTool(
        id="tool_kb_1770114600000_abc1234",
        name="search_plane",
        description="Search Pläne knowledge base",
        config=KnowledgeBaseLink(
            knowledge_base_id="cat-1", knowledge_base_name="Pläne", default_min_score=0.55
        ),
    ),
    OtherTool(id="t2", name="clock", description="The time", type="http", schema={"a": [1.5]}),
)


def an_agent(number: int = 1, user_id: str = "alice") -> Agent:
    return Agent(
        id=f"agent-{number}",
        user_id=user_id,
        name="Planner",
        model="amazon.nova-lite-v1:0",
        system_prompt="Answer in one sentence.\nCite.",
        available_tools=TOOLS,
        created_at=NOW,
        updated_at=NOW,
    )
