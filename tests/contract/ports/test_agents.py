"""Every `AgentBook` and `AgentRunBook` keeps records for their user, and undoes no write."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from stackroom.errors import RecordChanged
from stackroom_agents.user_agents.agent import Agent
from stackroom_agents.user_agents.agent_records import (
    KEPT,
    DynamoAgentRuns,
    DynamoAgents,
    DynamoChats,
)
from stackroom_agents.user_agents.agent_repositories import AgentBook, AgentRunBook
from stackroom_agents.user_agents.agent_run import (
    AgentRun,
    Draft,
    ModelStep,
    RunState,
    ShownPassage,
    Step,
    ToolStep,
    id_from,
)
from stackroom_agents.user_agents.chats import Chat, ChatBook
from stackroom_agents.user_agents.run_bounds import MOST_STEPS, fitted
from stackroom_agents.user_agents.runs import LONGEST_MESSAGE
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.agents import FakeAgentRuns, FakeAgents, FakeChats, an_agent
from tests.support.records import NOW

SAID = ModelStep(text="Ich suche.", at=NOW, seconds=1.5, input_tokens=10, output_tokens=3)
FOUND = ToolStep(
    tool_id="tool_kb_1",
    tool_name="search_plane",
    knowledge_base_name="Pläne",
    query="Urlaub?",
    is_success=True,
    told="Found 1 relevant chunks (0 omitted due to size)",
    passages=(
        ShownPassage(rank=1, content="30 Tage", source={"filename": "u.pdf"}, similarity=0.8),
    ),
    at=NOW,
    seconds=0.25,
)


@dataclass(frozen=True)
class AgentStores:
    agents: AgentBook
    runs: AgentRunBook
    chats: ChatBook


@pytest.fixture(params=["fake", "dynamodb"])
def agent_stores(request: pytest.FixtureRequest) -> AgentStores:
    if request.param == "fake":
        return AgentStores(FakeAgents(), FakeAgentRuns(), FakeChats())
    client = request.getfixturevalue("dynamodb")
    return AgentStores(
        DynamoAgents(client=client, table=CONTROL_TABLE),
        DynamoAgentRuns(client=client, table=CONTROL_TABLE),
        DynamoChats(client=client, table=CONTROL_TABLE),
    )


def a_run(minutes: int = 0, user_id: str = "alice", **fields: Any) -> AgentRun:
    created_at = NOW + timedelta(minutes=minutes)
    values: dict[str, Any] = {
        "id": id_from(created_at) + "ab",
        "user_id": user_id,
        "groups": ("hr",),
        "agent_id": "agent-1",
        "message": "Wie viele Tage?",
        "created_at": created_at,
        **fields,
    }
    return AgentRun(**values)


each_kind = pytest.mark.parametrize(
    ("kind", "record", "change"),
    [
        ("agents", an_agent(), {"name": "First"}),
        (
            "runs",
            a_run(state=RunState.RUNNING, begun_at=NOW, until=NOW, steps=(SAID, FOUND)),
            {"state": RunState.CANCELLED},
        ),
    ],
)


@each_kind
def test_record_reads_back_for_its_user_only_and_refuses_stale_writes(
    agent_stores: AgentStores, kind: str, record: Agent | AgentRun, change: dict[str, Any]
) -> None:
    book: Any = getattr(agent_stores, kind)

    saved = book.save(record)
    read = book.get("alice", record.id)
    book.save(saved.model_copy(update=change))
    for late in (saved, record):
        with pytest.raises(RecordChanged):
            book.save(late)

    assert saved == read == record.model_copy(update={"version": 1})
    assert book.get("bob", record.id) is None
    assert book.get("alice", "of-nobody") is None
    assert book.get("alice", record.id) == record.model_copy(update={**change, "version": 2})


def test_a_user_sees_the_own_agents(agent_stores: AgentStores) -> None:
    mine = [agent_stores.agents.save(an_agent(number)) for number in (1, 2)]
    agent_stores.agents.save(an_agent(3, user_id="bob"))

    assert list(agent_stores.agents.of_user("alice")) == mine
    assert list(agent_stores.agents.of_user("carol")) == []


def test_agent_is_removed_only_by_its_user_and_not_restored_by_late_write(
    agent_stores: AgentStores,
) -> None:
    read = agent_stores.agents.save(an_agent())

    by_another = agent_stores.agents.remove("bob", "agent-1")
    still_there = agent_stores.agents.get("alice", "agent-1")
    removed = [agent_stores.agents.remove("alice", "agent-1") for _ in range(2)]

    assert not by_another
    assert still_there == read
    assert removed == [True, False]
    assert agent_stores.agents.get("alice", "agent-1") is None
    with pytest.raises(RecordChanged):
        agent_stores.agents.save(read)


def test_runs_are_listed_newest_first_up_to_the_limit(agent_stores: AgentStores) -> None:
    runs = [agent_stores.runs.save(a_run(minutes)) for minutes in (3, 1, 2)]
    agent_stores.runs.save(a_run(4, user_id="bob"))
    third, first, second = runs

    assert list(agent_stores.runs.newest("alice")) == [third, second, first]
    assert list(agent_stores.runs.newest("alice", since=second.created_at)) == [third, second]
    assert list(agent_stores.runs.newest("carol")) == []


def test_as_many_and_as_long_steps_as_there_can_be_are_kept(agent_stores: AgentStores) -> None:
    steps: tuple[Step, ...] = ()
    long = SAID.model_copy(update={"text": "\N{GRINNING FACE}" * 100_000})
    passages = [FOUND.passages[0].model_copy(update={"content": 'ä"' * 5_000})] * 20
    many = FOUND.model_copy(update={"passages": tuple(passages)})
    for number in range(MOST_STEPS):
        steps += (fitted(long if number % 2 else many, steps),)
    message = "\N{GRINNING FACE}" * LONGEST_MESSAGE

    saved = agent_stores.runs.save(a_run(message=message, steps=steps))

    assert agent_stores.runs.get("alice", saved.id) == saved
    assert all(each.is_cut for each in steps)


def test_run_record_expires_a_month_after_its_end(dynamodb: Any) -> None:
    book = DynamoAgentRuns(client=dynamodb, table=CONTROL_TABLE)
    ended = NOW + timedelta(minutes=5)

    book.save(a_run().ended(RunState.SUCCEEDED, ended))

    [item] = dynamodb.scan(TableName=CONTROL_TABLE)["Items"]
    assert item["expires_at"] == {"N": str(int((ended + KEPT).timestamp()))}


def test_runs_are_found_by_id_and_a_removed_run_loses_its_draft(
    agent_stores: AgentStores,
) -> None:
    first, second, third = (agent_stores.runs.save(a_run(minutes)) for minutes in (1, 2, 3))
    agent_stores.runs.keep_draft("alice", second.id, Draft(steps=0, text="Thir"))

    for user in ("bob", "alice"):
        agent_stores.runs.remove(user, second.id)
    agent_stores.runs.remove("alice", second.id)

    assert agent_stores.runs.some("alice", [third.id, "run-none", second.id, first.id]) == [
        third,
        first,
    ]
    assert agent_stores.runs.some("bob", [third.id]) == []
    assert agent_stores.runs.draft("alice", second.id) is None
    with pytest.raises(RecordChanged):
        agent_stores.runs.save(second)


def test_draft_replaces_the_previous_one_and_is_not_listed_as_a_run(
    agent_stores: AgentStores,
) -> None:
    run = agent_stores.runs.save(a_run())
    drafts = Draft(steps=0, text="Thir"), Draft(steps=1, query="Urlaub?", knowledge_base_name="P")

    for each in drafts:
        agent_stores.runs.keep_draft("alice", run.id, each)

    assert agent_stores.runs.draft("alice", run.id) == drafts[1]
    assert agent_stores.runs.draft("bob", run.id) is None
    assert list(agent_stores.runs.newest("alice")) == [run]
    agent_stores.runs.keep_draft("alice", run.id, None)
    assert agent_stores.runs.draft("alice", run.id) is None


def a_chat(number: int = 1, user_id: str = "alice", agent_id: str = "agent-1") -> Chat:
    return Chat(
        id=f"chat-{number}",
        user_id=user_id,
        agent_id=agent_id,
        title="Wie viele Tage?",
        run_ids=("run-1",),
        created_at=NOW,
        updated_at=NOW,
    )


def test_a_conversation_is_its_users_and_its_agents(agent_stores: AgentStores) -> None:
    mine = [agent_stores.chats.save(a_chat(number)) for number in (1, 2)]
    agent_stores.chats.save(a_chat(3, user_id="bob"))
    agent_stores.chats.save(a_chat(4, agent_id="agent-2"))

    assert list(agent_stores.chats.of_agent("alice", "agent-1")) == mine[::-1]
    assert agent_stores.chats.get("alice", "agent-1", "chat-1") == mine[0]
    assert agent_stores.chats.get("bob", "agent-1", "chat-1") is None
    assert agent_stores.chats.get("alice", "agent-2", "chat-1") is None


def test_changed_conversation_is_neither_overwritten_nor_removed(agent_stores: AgentStores) -> None:
    read = agent_stores.chats.save(a_chat())
    changed = agent_stores.chats.save(read.asked("run-2", NOW))

    with pytest.raises(RecordChanged):
        agent_stores.chats.save(read.asked("run-3", NOW))
    refused = agent_stores.chats.remove(read)
    removed = [agent_stores.chats.remove(changed) for _ in range(2)]

    assert (refused, removed) == (False, [True, True])
    assert agent_stores.chats.get("alice", "agent-1", "chat-1") is None
    with pytest.raises(RecordChanged):
        agent_stores.chats.save(changed)
