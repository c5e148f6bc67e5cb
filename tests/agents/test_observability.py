"""An agent writes down nothing of what it was asked, unless it is to be observed."""

import io
import json
import logging
import traceback
from collections.abc import Iterator

import pytest
from botocore.exceptions import ClientError

from examples.agent.scripted import Call
from stackroom.errors import StackroomError
from tests.agents.batch_world import BUCKET, World, data, messages
from tests.agents.linked import LAWS, NEWS, configured
from tests.agents.models import Asked, ModelOutput, PlayedModel
from tests.functions.printed import Figure

SECRET = "sesame-4711"
BROKEN = """
TOOL_SPEC = {
    "name": "broken",
    "description": "Break.",
    "inputSchema": {"json": {"type": "object", "properties": {"text": {"type": "string"}}}},
}

def broken(tool, **_):
    raise RuntimeError("broken by " + tool["input"]["text"])
"""


@pytest.fixture
def everything() -> Iterator[io.StringIO]:
    """
    Everything that the process's loggers write, tracebacks included, at Python's level DEBUG, which
    Lambda allows.
    """
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield written
    root.removeHandler(handler)
    root.setLevel(level)


def _searching(asked: Asked) -> ModelOutput:
    if asked.turn:
        return f"done with {SECRET}"
    return [
        Call("retrieve_from_knowledge_base", {"query": SECRET}),
        Call("retrieve_from_knowledge_base", {"query": SECRET, "user_context": SECRET}),
        Call("retrieve_from_knowledge_base", {"query": SECRET, "knowledge_base_id": "OTHER00001"}),
        Call("broken", {"text": SECRET}),
        Call("no_such_tool", {"text": SECRET}),
    ]


@pytest.fixture
def asked_world(world: World) -> World:
    world.put("tools/broken.py", BROKEN.encode())
    tools = [{"bucketName": BUCKET, "key": "tools/broken.py", "isFile": True}]
    world.set(TOOLS_CONFIG=json.dumps(tools), KNOWLEDGE_BASES_CONFIG=configured(LAWS, NEWS))
    world.knowledge_bases.hold(LAWS, "leave by law")
    world.knowledge_bases.failing = {"NEWS000001": "ValidationException"}
    world.plays(PlayedModel(play=_searching))
    return world


def written_by(world: World, everything: io.StringIO, capsys: pytest.CaptureFixture[str]) -> str:
    out, err = capsys.readouterr()
    return "\n".join([world.printed.log.getvalue(), everything.getvalue(), out, err])


def test_unobserved_nothing_that_is_written_holds_a_question(
    asked_world: World, everything: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    url = asked_world.answers_queue()
    asked_world.ask(data(SECRET))
    asked_world.ask(messages(data(SECRET), SECRET))

    assert SECRET in str(asked_world.answers(url))
    assert asked_world.printed.figures() == []
    assert asked_world.printed.lines("knowledge bases searched") == []
    written = written_by(asked_world, everything, capsys)
    assert "catalog accessed" in written
    assert SECRET not in written


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError(f"no answer to {SECRET}"),
        ClientError({"Error": {"Code": "ThrottlingException", "Message": SECRET}}, "Converse"),
    ],
)
def test_without_observability_no_exception_contains_the_question(
    asked_world: World,
    error: Exception,
    everything: io.StringIO,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked_world.says(error)

    with pytest.raises(StackroomError) as raised:
        asked_world.ask(data(SECRET))

    assert SECRET not in "".join(traceback.format_exception(raised.value))
    assert SECRET not in written_by(asked_world, everything, capsys)


def test_calls_log_user_and_error_type_with_and_without_observability(
    asked_world: World,
) -> None:
    for observed in ("", "true"):
        asked_world.set(ENABLE_OBSERVABILITY=observed, IDENTITY_FROM_EVENT="true")
        asked_world.ask(data(SECRET, identity={"user_id": "ann", "groups": []}))

    silent = asked_world.printed.lines("knowledge base did not answer")
    failed = asked_world.printed.lines("search failed")
    assert [(each["knowledge_base_id"], each["level"]) for each in silent] == [
        ("NEWS000001", "ERROR")
    ] * 2
    assert "ValidationException" in silent[0]["reason"]
    assert [each["error_type"] for each in failed] == ["KnowledgeBaseNotFound"] * 2
    calls = asked_world.printed.lines("catalog accessed")
    assert {each["user_id"] for each in calls} == {"ann"}
    outcomes = ["KnowledgeBaseNotFound", "ValidationError", "success"]
    assert sorted(each["outcome"] for each in calls) == sorted(outcomes * 2)
    shown = {each["document_ids"] for each in calls if each["outcome"] == "success"}
    assert shown == {"s3://theirs/a.txt"}


def test_observability_logs_searches_and_counts_answering_knowledge_bases(
    asked_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_world.set(ENABLE_OBSERVABILITY="true", POWERTOOLS_SERVICE_NAME="my-agent")
    asked_world.knowledge_bases.seconds = 0.05

    asked_world.ask(data(SECRET))

    lines = asked_world.printed.lines("knowledge bases searched")
    told = [(each["query"], each["target"], each["result_count"]) for each in lines]
    assert sorted(told) == [(SECRET, "OTHER00001", 0), (SECRET, "all", 1)]
    assert all(0 <= each["latency_ms"] < 60_000 for each in lines)
    latency, count = asked_world.printed.figures()
    of = {"knowledge_base": "LAWS000001", "service": "my-agent"}
    assert count == Figure(name="RetrievalResultCount", values=(1.0,), unit="Count", dimensions=of)
    assert (latency.name, latency.unit) == ("RetrievalLatency", "Milliseconds")
    assert latency.dimensions == of
    assert 50 <= latency.values[0] < 5000
