"""
Users' agents, in the control table.

    item     pk                  sk
    agent    AGENTS#<user_id>    <agent_id>    version; agent (JSON)

    get one               GetItem
    list a user's         Query
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stackroom.agents.agent import Agent
from stackroom.aws.dynamodb import writes
from stackroom.aws.dynamodb.items import Item, from_item, query, to_item
from stackroom.aws.error_mapping import store_errors
from stackroom.errors import RecordChanged

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient


@dataclass(frozen=True, kw_only=True)
class DynamoAgents:
    client: "DynamoDBClient"
    table: str

    def get(self, user_id: str, agent_id: str) -> Agent | None:
        with store_errors():
            answer = self.client.get_item(
                TableName=self.table, Key=_key(user_id, agent_id), ConsistentRead=True
            )
        return _to_agent(from_item(answer["Item"])) if "Item" in answer else None

    def of_user(self, user_id: str) -> Iterator[Agent]:
        found = query(
            self.client,
            TableName=self.table,
            KeyConditionExpression="pk = :agents",
            ExpressionAttributeValues=to_item({":agents": _partition(user_id)}),
            ConsistentRead=True,
        )
        return map(_to_agent, found)

    def save(self, agent: Agent) -> Agent:
        saved = agent.model_copy(update={"version": agent.version + 1})
        item = _key(saved.user_id, saved.id) | to_item(
            {"agent": saved.model_dump_json(by_alias=True), "version": saved.version}
        )
        is_new = agent.version == 0
        if not writes.put(
            self.client,
            self.table,
            item,
            condition="attribute_not_exists(pk)" if is_new else "#version = :read",
            values=None if is_new else {":read": agent.version},
        ):
            raise RecordChanged(agent.id)
        return saved

    def remove(self, user_id: str, agent_id: str) -> bool:
        with store_errors():
            answer = self.client.delete_item(
                TableName=self.table, Key=_key(user_id, agent_id), ReturnValues="ALL_OLD"
            )
        return "Attributes" in answer


def _partition(user_id: str) -> str:
    return f"AGENTS#{user_id}"


def _key(user_id: str, agent_id: str) -> Item:
    return to_item({"pk": _partition(user_id), "sk": agent_id})


def _to_agent(values: dict[str, Any]) -> Agent:
    return Agent.model_validate_json(values["agent"])
