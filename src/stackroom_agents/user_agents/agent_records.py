"""
Users' agents and their runs in the control table, and the queue that brings runs to a runner.

    item     pk                      sk
    agent    AGENTS#<user_id>        <agent_id>    version; agent (JSON)
    run      AGENT_RUNS#<user_id>    <run_id>      version; run (JSON), expires_at (TTL)
    draft    AGENT_DRAFTS#<user_id>  <run_id>      draft (JSON), expires_at (TTL)
    chat     AGENT_CHATS#<user_id>   <agent_id>#<chat_id>    version; chat (JSON), expires_at (TTL)

    get one                               GetItem
    list a user's agents                  Query
    the runs of a conversation            GetItem, ten at a time
    the newest runs, or those since       Query backwards; an id begins with its creation time
    an agent's conversations              Query backwards by the agent's id; the same of theirs

A run is written as a whole with each step, some twenty times: 10 KB cost 200 write units, $0.000125
at $0.625 for a million; its model costs a hundred times that. A draft is separate, so that the
words of an answer, written up to four times a second, don't carry its passages along: an answer of
2 KB that takes ten seconds costs some 60 units more, $0.00004, and one that is written for five
minutes 4,800, $0.003. https://aws.amazon.com/dynamodb/pricing/on-demand/
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from stackroom.aws.dynamodb.items import Item, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.aws.error_mapping import store_errors
from stackroom.clock import utc_now
from stackroom.concurrency import run_in_threads
from stackroom.errors import RecordChanged
from stackroom_agents.user_agents.agent import Agent
from stackroom_agents.user_agents.agent_run import AgentRun, Draft, id_from
from stackroom_agents.user_agents.chats import Chat

_AGENTS = "AGENTS#"  # a user's id follows


class DynamoAgents(DynamoTable):
    def get(self, user_id: str, agent_id: str) -> Agent | None:
        kept = self._get(_key(_AGENTS + user_id, agent_id))
        return None if kept is None else _to_agent(kept)

    def of_user(self, user_id: str) -> Iterator[Agent]:
        return map(_to_agent, self._partition(_AGENTS + user_id))

    def save(self, agent: Agent) -> Agent:
        saved = agent.model_copy(update={"version": agent.version + 1})
        item = _key(_AGENTS + saved.user_id, saved.id) | to_item(
            {"agent": saved.model_dump_json(by_alias=True), "version": saved.version}
        )
        if not self._put_next(item, version=agent.version):
            raise RecordChanged(agent.id)
        return saved

    def remove(self, user_id: str, agent_id: str) -> bool:
        with store_errors():
            answer = self.client.delete_item(
                TableName=self.table, Key=_key(_AGENTS + user_id, agent_id), ReturnValues="ALL_OLD"
            )
        return "Attributes" in answer


def _key(partition: str, sort_key: str) -> Item:
    return to_item({"pk": partition, "sk": sort_key})


def _to_agent(values: dict[str, Any]) -> Agent:
    return Agent.model_validate_json(values["agent"])


_RUNS = "AGENT_RUNS#"  # a user's id follows
_DRAFTS = "AGENT_DRAFTS#"
_DRAFT_KEPT = timedelta(hours=1)  # of one whose runner died; others go with their run's end
KEPT = timedelta(days=30)  # after the last step; who looks back further keeps what was said


class DynamoAgentRuns(DynamoTable):
    def get(self, user_id: str, run_id: str) -> AgentRun | None:
        kept = self._get(_key(_RUNS + user_id, run_id))
        return None if kept is None else _to_run(kept)

    def newest(self, user_id: str, *, since: datetime | None = None) -> Iterator[AgentRun]:
        values = {":runs": _RUNS + user_id}
        condition = "pk = :runs"
        if since is not None:
            values[":since"] = id_from(since)
            condition += " AND sk >= :since"
        return map(_to_run, self._query(condition, values, ScanIndexForward=False))

    def some(self, user_id: str, run_ids: Sequence[str]) -> list[AgentRun]:
        found = run_in_threads([partial(self.get, user_id, each) for each in run_ids])
        return [each for each in found if each is not None]

    def remove(self, user_id: str, run_id: str) -> None:
        for partition in (_RUNS, _DRAFTS):
            self._remove(_key(partition + user_id, run_id))

    def draft(self, user_id: str, run_id: str) -> Draft | None:
        kept = self._get(_key(_DRAFTS + user_id, run_id))
        return None if kept is None else Draft.model_validate_json(kept["draft"])

    def keep_draft(self, user_id: str, run_id: str, draft: Draft | None) -> None:
        key = _key(_DRAFTS + user_id, run_id)
        if draft is None:
            self._remove(key)
            return
        expires_at = int((utc_now() + _DRAFT_KEPT).timestamp())
        self._keep(key | to_item({"draft": draft.model_dump_json(), "expires_at": expires_at}))

    def save(self, run: AgentRun) -> AgentRun:
        saved = run.model_copy(update={"version": run.version + 1})
        last = saved.ended_at or saved.until or saved.created_at
        values = {
            "run": saved.model_dump_json(),
            "version": saved.version,
            "expires_at": int((last + KEPT).timestamp()),
        }
        item = _key(_RUNS + saved.user_id, saved.id) | to_item(values)
        if not self._put_next(item, version=run.version):
            raise RecordChanged(run.id)
        return saved


_CHATS = "AGENT_CHATS#"


class DynamoChats(DynamoTable):
    def get(self, user_id: str, agent_id: str, chat_id: str) -> Chat | None:
        kept = self._get(_chat_key(user_id, agent_id, chat_id))
        return None if kept is None else _to_chat(kept)

    def of_agent(self, user_id: str, agent_id: str) -> Iterator[Chat]:
        condition = "pk = :chats AND begins_with(sk, :agent)"
        values = {":chats": _CHATS + user_id, ":agent": f"{agent_id}#"}
        return map(_to_chat, self._query(condition, values, ScanIndexForward=False))

    def save(self, chat: Chat) -> Chat:
        saved = chat.model_copy(update={"version": chat.version + 1})
        values = {
            "chat": saved.model_dump_json(),
            "version": saved.version,
            # Longer than its last run, which is kept from its end on.
            "expires_at": int((saved.updated_at + KEPT + timedelta(days=1)).timestamp()),
        }
        item = _chat_key(saved.user_id, saved.agent_id, saved.id) | to_item(values)
        if not self._put_next(item, version=chat.version):
            raise RecordChanged(chat.id)
        return saved

    def remove(self, chat: Chat) -> bool:
        return self._delete(
            _chat_key(chat.user_id, chat.agent_id, chat.id),
            condition="#version = :read",
            values={":read": chat.version},
        )


def _chat_key(user_id: str, agent_id: str, chat_id: str) -> Item:
    return _key(_CHATS + user_id, f"{agent_id}#{chat_id}")


def _to_chat(values: dict[str, Any]) -> Chat:
    return Chat.model_validate_json(values["chat"])


@dataclass(frozen=True, kw_only=True)
class SqsAgentRunQueue:
    """A queue of ids alone: users' texts are in the records, never in a queue."""

    client: Any
    url: str

    def put(self, user_id: str, run_id: str) -> None:
        body = json.dumps({"user_id": user_id, "run_id": run_id})
        with store_errors():
            self.client.send_message(QueueUrl=self.url, MessageBody=body)


def _to_run(values: dict[str, Any]) -> AgentRun:
    return AgentRun.model_validate_json(values["run"])
