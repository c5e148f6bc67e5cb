"""Agents, each its user's."""

from collections.abc import Iterator
from typing import Protocol

from stackroom.agent import Agent


class AgentBook(Protocol):
    def get(self, user_id: str, agent_id: str) -> Agent | None:
        """As it stands now; None if the user has none of that id, whoever else has."""
        ...

    def of_user(self, user_id: str) -> Iterator[Agent]: ...

    def save(self, agent: Agent) -> Agent:
        """With its next version. Raises RecordChanged if it isn't what was read, or is gone."""
        ...

    def remove(self, user_id: str, agent_id: str) -> bool:
        """Whether there was one."""
        ...
