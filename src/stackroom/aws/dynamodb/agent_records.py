"""
Users' agents, in the control table.

    item     pk                  sk
    agent    AGENTS#<user_id>    <agent_id>    version; agent (JSON)

    get one               GetItem
    list a user's         Query
"""

from collections.abc import Iterator
from typing import Any

from stackroom.agents.agent import Agent
from stackroom.aws.dynamodb.items import Item, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.aws.error_mapping import store_errors
from stackroom.errors import RecordChanged

_AGENTS = "AGENTS#"  # a user's id follows


class DynamoAgents(DynamoTable):
    def get(self, user_id: str, agent_id: str) -> Agent | None:
        kept = self._get(_key(user_id, agent_id))
        return None if kept is None else _to_agent(kept)

    def of_user(self, user_id: str) -> Iterator[Agent]:
        return map(_to_agent, self._partition(_AGENTS + user_id))

    def save(self, agent: Agent) -> Agent:
        saved = agent.model_copy(update={"version": agent.version + 1})
        item = _key(saved.user_id, saved.id) | to_item(
            {"agent": saved.model_dump_json(by_alias=True), "version": saved.version}
        )
        if not self._put_next(item, version=agent.version):
            raise RecordChanged(agent.id)
        return saved

    def remove(self, user_id: str, agent_id: str) -> bool:
        with store_errors():
            answer = self.client.delete_item(
                TableName=self.table, Key=_key(user_id, agent_id), ReturnValues="ALL_OLD"
            )
        return "Attributes" in answer


def _key(user_id: str, agent_id: str) -> Item:
    return to_item({"pk": _AGENTS + user_id, "sk": agent_id})


def _to_agent(values: dict[str, Any]) -> Agent:
    return Agent.model_validate_json(values["agent"])
