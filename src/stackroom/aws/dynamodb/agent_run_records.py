"""
Runs of users' agents, in the control table, and the queue that brings them to a runner.

    item    pk                      sk
    run     AGENT_RUNS#<user_id>    <run_id>    version; run (JSON), expires_at (TTL)

    get one                         GetItem
    the newest, or those since      Query backwards; an id begins with when it was made

A run is written as a whole with each step, some twenty times: 10 KB come to 200 write units,
$0.000125 at $0.625 for a million; its model costs a hundred times that.
https://aws.amazon.com/dynamodb/pricing/on-demand/
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from stackroom.agents.agent_run import AgentRun, id_from
from stackroom.aws.dynamodb import writes
from stackroom.aws.dynamodb.items import Item, from_item, query, to_item
from stackroom.aws.error_mapping import store_errors
from stackroom.errors import RecordChanged

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

KEPT = timedelta(days=30)  # after the last step; who looks back further keeps what was said


@dataclass(frozen=True, kw_only=True)
class DynamoAgentRuns:
    client: "DynamoDBClient"
    table: str

    def get(self, user_id: str, run_id: str) -> AgentRun | None:
        with store_errors():
            answer = self.client.get_item(
                TableName=self.table, Key=_key(user_id, run_id), ConsistentRead=True
            )
        return _to_run(from_item(answer["Item"])) if "Item" in answer else None

    def newest(self, user_id: str, *, since: datetime | None = None) -> Iterator[AgentRun]:
        values = {":runs": _partition(user_id)}
        condition = "pk = :runs"
        if since is not None:
            values[":since"] = id_from(since)
            condition += " AND sk >= :since"
        found = query(
            self.client,
            TableName=self.table,
            KeyConditionExpression=condition,
            ExpressionAttributeValues=to_item(values),
            ScanIndexForward=False,
            ConsistentRead=True,
        )
        return map(_to_run, found)

    def save(self, run: AgentRun) -> AgentRun:
        saved = run.model_copy(update={"version": run.version + 1})
        last = saved.ended_at or saved.until or saved.created_at
        values = {
            "run": saved.model_dump_json(),
            "version": saved.version,
            "expires_at": int((last + KEPT).timestamp()),
        }
        is_new = run.version == 0
        if not writes.put(
            self.client,
            self.table,
            _key(saved.user_id, saved.id) | to_item(values),
            condition="attribute_not_exists(pk)" if is_new else "#version = :read",
            values=None if is_new else {":read": run.version},
        ):
            raise RecordChanged(run.id)
        return saved


@dataclass(frozen=True, kw_only=True)
class SqsAgentRunQueue:
    """Of ids alone: what a user says stands in the record, and never in a queue."""

    client: Any
    url: str

    def put(self, user_id: str, run_id: str) -> None:
        body = json.dumps({"user_id": user_id, "run_id": run_id})
        with store_errors():
            self.client.send_message(QueueUrl=self.url, MessageBody=body)


def _partition(user_id: str) -> str:
    return f"AGENT_RUNS#{user_id}"


def _key(user_id: str, run_id: str) -> Item:
    return to_item({"pk": _partition(user_id), "sk": run_id})


def _to_run(values: dict[str, Any]) -> AgentRun:
    return AgentRun.model_validate_json(values["run"])
