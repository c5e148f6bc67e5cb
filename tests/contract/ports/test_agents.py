"""What every `AgentBook` promises: kept as told, for their user alone, and no write undone."""

import pytest

from stackroom.agent import Agent, KnowledgeBaseLink, LinkedTool, OtherTool
from stackroom.aws.agents import DynamoAgents
from stackroom.errors import RecordChanged
from stackroom.ports.agents import AgentBook
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.agents import FakeAgents
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


@pytest.fixture(params=["fake", "dynamodb"])
def book(request: pytest.FixtureRequest) -> AgentBook:
    if request.param == "fake":
        return FakeAgents()
    return DynamoAgents(client=request.getfixturevalue("dynamodb"), table=CONTROL_TABLE)


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


def test_an_agent_reads_back_whole_and_nobody_elses(book: AgentBook) -> None:
    saved = book.save(an_agent())

    assert saved == an_agent().model_copy(update={"version": 1})
    assert book.get("alice", "agent-1") == saved
    assert book.get("bob", "agent-1") is None
    assert book.get("alice", "agent-2") is None


def test_a_user_sees_the_own_agents(book: AgentBook) -> None:
    mine = [book.save(an_agent(number)) for number in (1, 2)]
    book.save(an_agent(3, user_id="bob"))

    assert list(book.of_user("alice")) == mine
    assert list(book.of_user("carol")) == []


def test_a_write_on_what_was_read_before_another_is_refused(book: AgentBook) -> None:
    read = book.save(an_agent())
    book.save(read.model_copy(update={"name": "First"}))

    with pytest.raises(RecordChanged):
        book.save(read.model_copy(update={"name": "Second"}))
    with pytest.raises(RecordChanged):
        book.save(an_agent())

    kept = book.get("alice", "agent-1")
    assert kept is not None
    assert (kept.name, kept.version) == ("First", 2)


def test_what_is_removed_by_its_user_is_gone_and_no_late_write_brings_it_back(
    book: AgentBook,
) -> None:
    read = book.save(an_agent())

    by_another = book.remove("bob", "agent-1")
    still_there = book.get("alice", "agent-1")
    removed = [book.remove("alice", "agent-1") for _ in range(2)]

    assert not by_another
    assert still_there == read
    assert removed == [True, False]
    assert book.get("alice", "agent-1") is None
    with pytest.raises(RecordChanged):
        book.save(read)
