"""What every `AgentBook` and `AgentRunBook` promises: kept for their user, and no write undone."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from stackroom.agents.agent import Agent, KnowledgeBaseLink, LinkedTool, OtherTool
from stackroom.agents.agent_repositories import AgentBook, AgentRunBook
from stackroom.agents.agent_run import (
    AgentRun,
    ModelStep,
    RunState,
    ShownPassage,
    Step,
    ToolStep,
    id_from,
)
from stackroom.agents.runner import fitted
from stackroom.agents.runs import LONGEST_MESSAGE, MOST_STEPS
from stackroom.aws.dynamodb.agent_records import KEPT, DynamoAgentRuns, DynamoAgents
from stackroom.errors import RecordChanged
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.agents import FakeAgentRuns, FakeAgents
from tests.records import NOW

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
class Books:
    agents: AgentBook
    runs: AgentRunBook


@pytest.fixture(params=["fake", "dynamodb"])
def books(request: pytest.FixtureRequest) -> Books:
    if request.param == "fake":
        return Books(FakeAgents(), FakeAgentRuns())
    client = request.getfixturevalue("dynamodb")
    return Books(
        DynamoAgents(client=client, table=CONTROL_TABLE),
        DynamoAgentRuns(client=client, table=CONTROL_TABLE),
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
def test_a_record_reads_back_whole_and_nobody_elses_and_no_late_write_undoes_another(
    books: Books, kind: str, record: Agent | AgentRun, change: dict[str, Any]
) -> None:
    book: Any = getattr(books, kind)

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


def test_a_user_sees_the_own_agents(books: Books) -> None:
    mine = [books.agents.save(an_agent(number)) for number in (1, 2)]
    books.agents.save(an_agent(3, user_id="bob"))

    assert list(books.agents.of_user("alice")) == mine
    assert list(books.agents.of_user("carol")) == []


def test_what_is_removed_by_its_user_is_gone_and_no_late_write_brings_it_back(
    books: Books,
) -> None:
    read = books.agents.save(an_agent())

    by_another = books.agents.remove("bob", "agent-1")
    still_there = books.agents.get("alice", "agent-1")
    removed = [books.agents.remove("alice", "agent-1") for _ in range(2)]

    assert not by_another
    assert still_there == read
    assert removed == [True, False]
    assert books.agents.get("alice", "agent-1") is None
    with pytest.raises(RecordChanged):
        books.agents.save(read)


def test_the_newest_come_first_and_older_ones_are_left_out_if_asked(books: Books) -> None:
    runs = [books.runs.save(a_run(minutes)) for minutes in (3, 1, 2)]
    books.runs.save(a_run(4, user_id="bob"))
    third, first, second = runs

    assert list(books.runs.newest("alice")) == [third, second, first]
    assert list(books.runs.newest("alice", since=second.created_at)) == [third, second]
    assert list(books.runs.newest("carol")) == []


def test_as_many_and_as_long_steps_as_there_can_be_are_kept(books: Books) -> None:
    steps: tuple[Step, ...] = ()
    long = SAID.model_copy(update={"text": "\N{GRINNING FACE}" * 100_000})
    passages = [FOUND.passages[0].model_copy(update={"content": 'ä"' * 5_000})] * 20
    many = FOUND.model_copy(update={"passages": tuple(passages)})
    for number in range(MOST_STEPS):
        steps += (fitted(long if number % 2 else many, steps),)
    message = "\N{GRINNING FACE}" * LONGEST_MESSAGE

    saved = books.runs.save(a_run(message=message, steps=steps))

    assert books.runs.get("alice", saved.id) == saved
    assert all(each.is_cut for each in steps)


def test_a_record_goes_a_month_after_the_run_is_over(dynamodb: Any) -> None:
    book = DynamoAgentRuns(client=dynamodb, table=CONTROL_TABLE)
    ended = NOW + timedelta(minutes=5)

    book.save(a_run().ended(RunState.SUCCEEDED, ended))

    [item] = dynamodb.scan(TableName=CONTROL_TABLE)["Items"]
    assert item["expires_at"] == {"N": str(int((ended + KEPT).timestamp()))}
