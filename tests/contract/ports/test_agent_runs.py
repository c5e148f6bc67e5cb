"""What every `AgentRunBook` promises: kept as told, for their user alone, and no write undone."""

from datetime import timedelta
from typing import Any

import pytest

from stackroom.agent_run import (
    AgentRun,
    ModelStep,
    RunState,
    ShownPassage,
    Step,
    ToolStep,
    id_from,
)
from stackroom.agents.bounds import LONGEST_MESSAGE, MOST_STEPS
from stackroom.agents.step_sizes import fitted
from stackroom.aws.agent_runs import KEPT, DynamoAgentRuns
from stackroom.errors import RecordChanged
from stackroom.ports.agent_runs import AgentRunBook
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.agent_runs import FakeAgentRuns
from tests.records import NOW

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


@pytest.fixture(params=["fake", "dynamodb"])
def book(request: pytest.FixtureRequest) -> AgentRunBook:
    if request.param == "fake":
        return FakeAgentRuns()
    return DynamoAgentRuns(client=request.getfixturevalue("dynamodb"), table=CONTROL_TABLE)


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


def test_a_run_reads_back_whole_and_nobody_elses(book: AgentRunBook) -> None:
    run = a_run(state=RunState.RUNNING, begun_at=NOW, until=NOW, steps=(SAID, FOUND))

    saved = book.save(run)

    assert saved == run.model_copy(update={"version": 1})
    assert book.get("alice", run.id) == saved
    assert book.get("bob", run.id) is None
    assert book.get("alice", "run-2") is None


def test_the_newest_come_first_and_older_ones_are_left_out_if_asked(book: AgentRunBook) -> None:
    runs = [book.save(a_run(minutes)) for minutes in (3, 1, 2)]
    book.save(a_run(4, user_id="bob"))
    third, first, second = runs

    assert list(book.newest("alice")) == [third, second, first]
    assert list(book.newest("alice", since=second.created_at)) == [third, second]
    assert list(book.newest("carol")) == []


def test_a_write_on_what_was_read_before_another_is_refused(book: AgentRunBook) -> None:
    read = book.save(a_run())
    book.save(read.ended(RunState.CANCELLED, NOW))

    with pytest.raises(RecordChanged):
        book.save(read.begun(NOW, until=NOW))
    with pytest.raises(RecordChanged):
        book.save(a_run())

    kept = book.get("alice", read.id)
    assert kept is not None
    assert (kept.state, kept.version) == (RunState.CANCELLED, 2)


def test_as_many_and_as_long_steps_as_there_can_be_are_kept(book: AgentRunBook) -> None:
    steps: tuple[Step, ...] = ()
    long = SAID.model_copy(update={"text": "\N{GRINNING FACE}" * 100_000})
    passages = [FOUND.passages[0].model_copy(update={"content": 'ä"' * 5_000})] * 20
    many = FOUND.model_copy(update={"passages": tuple(passages)})
    for number in range(MOST_STEPS):
        steps += (fitted(long if number % 2 else many, steps),)
    message = "\N{GRINNING FACE}" * LONGEST_MESSAGE

    saved = book.save(a_run(message=message, steps=steps))

    assert book.get("alice", saved.id) == saved
    assert all(each.is_cut for each in steps)


def test_a_record_goes_a_month_after_the_run_is_over(dynamodb: Any) -> None:
    book = DynamoAgentRuns(client=dynamodb, table=CONTROL_TABLE)
    ended = NOW + timedelta(minutes=5)

    book.save(a_run().ended(RunState.SUCCEEDED, ended))

    [item] = dynamodb.scan(TableName=CONTROL_TABLE)["Items"]
    assert item["expires_at"] == {"N": str(int((ended + KEPT).timestamp()))}
