"""Agents in memory, under the same conditions as DynamoDB keeps them."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from stackroom.agent import Agent
from stackroom.errors import RecordChanged


@dataclass
class FakeAgents:
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
