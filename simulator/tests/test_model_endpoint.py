"""A language model behind an OpenAI-compatible endpoint: answers, tools, and what fails."""

import time
from pathlib import Path

import pytest

from bedrock_kb_simulator.conversation_parts import Conversation, Reply, Text, Turn
from bedrock_kb_simulator.model_endpoint import (
    EndpointFailed,
    Misconfigured,
    ModelEndpoint,
)
from simulator.tests.chat_endpoint import KEY, Answering, ChatEndpoint, drip, says
from simulator.tests.conversation import ASKS, OBJECT, QUESTION, answer_text, offered, request, turn
from simulator.tests.conversation import tool as tool_of
from simulator.tests.holding import holds
from simulator.tests.running import free_port, running
from simulator.tests.world import World, refused

ASKED = Conversation(
    model="small", prompt="prompt", turns=[Turn(role="user", blocks=[Text(text="question")])]
)
ERROR = "ModelErrorException"


@pytest.mark.processes
def test_unreachable_endpoint_is_logged_without_the_key(caplog: pytest.LogCaptureFixture) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}/v1"
    asked = ModelEndpoint(base_url=f"{nowhere}?key={KEY}", model="small", key=KEY)

    with pytest.raises(EndpointFailed, match="can't be reached"):
        asked.complete(ASKED)

    assert f"can't be reached, asked for the model 'small' at {nowhere}/chat" in caplog.text
    assert KEY not in caplog.text
    assert KEY not in repr(ModelEndpoint(base_url=nowhere, model="small", key=KEY))
    assert ModelEndpoint.of({}) is None


@holds("converse.guardrail")
def test_blocked_question_is_not_asked_and_blocked_answer_not_given(
    modelled: World, chat: ChatEndpoint
) -> None:
    named = {
        "guardrailIdentifier": modelled.guardrail(words=["sleep", "hands"]),
        "guardrailVersion": "DRAFT",
    }
    converse = modelled.bedrock_runtime.converse

    blocked = converse(**request("Where do otters sleep?", guardrailConfig=named))
    before = len(chat.asked)
    answered = converse(**request("What do otters eat?", guardrailConfig=named))
    chat.says = "Fish."
    passed = converse(**request("What do otters eat?", guardrailConfig=named))

    assert answer_text(blocked) == "That question is not for this assistant."
    assert before == 0
    assert answer_text(answered) == "That answer is not for you."
    assert answered["stopReason"] == "guardrail_intervened"
    assert answer_text(passed) == "Fish."


def test_inference_settings_and_key_reach_the_endpoint(modelled: World, chat: ChatEndpoint) -> None:
    inference = {"maxTokens": 50, "temperature": 0.0, "topP": 0.5, "stopSequences": ["END"]}

    modelled.bedrock_runtime.converse(**request(inferenceConfig=inference))

    [sent] = chat.asked
    assert sent.pop("messages")[1] == {"role": "user", "content": QUESTION}
    options = {"max_tokens": 50, "temperature": 0.0, "top_p": 0.5, "stop": ["END"]}
    assert sent == {"model": "small", **options}
    assert chat.paths == ["/v1/chat/completions"]
    assert chat.authorizations == [f"Bearer {KEY}"]


@holds("converse.timeout", "converse.model-error", "converse.throttled")
@pytest.mark.parametrize(
    ("answering", "code", "problem"),
    [
        (says(200, "<html>"), ERROR, "no chat completion"),
        (says(401, f"no such key: {KEY}"), ERROR, "HTTP status 401"),
        (says(429, "slower"), "ThrottlingException", ""),
        (drip, "ModelTimeoutException", "in time"),
        (lambda _: time.sleep(3), "ModelTimeoutException", "in time"),
    ],
)
def test_endpoint_failure_becomes_an_aws_error_without_the_key(
    modelled: World,
    chat: ChatEndpoint,
    caplog: pytest.LogCaptureFixture,
    answering: Answering,
    *,
    code: str,
    problem: str,
) -> None:
    chat.answering = answering
    once = World(modelled.endpoint, modelled.s3_endpoint)  # it retries no throttled call

    error = refused(once.bedrock_runtime.converse, **request())

    assert error["Code"] == code
    assert problem in error["Message"]
    assert KEY not in error["Message"]
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    "changes",
    [
        {"BEDROCK_KB_SIMULATOR_OPENAI_MODEL": ""},
        {"BEDROCK_KB_SIMULATOR_OPENAI_API_KEY": f"{KEY}\nX-More: 1"},
    ],
)
def test_unusable_endpoint_configuration_is_refused_at_the_start(
    changes: dict[str, str],
) -> None:
    environment = {
        "BEDROCK_KB_SIMULATOR_OPENAI_BASE_URL": "http://127.0.0.1:1/v1/",
        "BEDROCK_KB_SIMULATOR_OPENAI_MODEL": "small",
        "BEDROCK_KB_SIMULATOR_OPENAI_API_KEY": KEY,
    }
    assert ModelEndpoint.of(environment) is not None

    with pytest.raises(Misconfigured, match="BEDROCK_KB_SIMULATOR_OPENAI") as caught:
        ModelEndpoint.of({**environment, **changes})

    assert KEY not in str(caught.value)


def test_conversation_with_tools_reaches_the_endpoint_whole(
    modelled: World, chat: ChatEndpoint
) -> None:
    use = {"toolUse": {"toolUseId": "a", "name": "search", "input": {"query": "pump"}}}
    found = {"toolUseId": "a", "content": [{"text": "Every"}, {"json": {"hours": 200}}]}
    messages = [
        ASKS,
        turn("assistant", {"text": "I search."}, use),
        turn("user", {"toolResult": found}, {"text": "Go on."}),
    ]
    described = {"toolSpec": {**tool_of()["toolSpec"], "description": "Searches."}}

    modelled.bedrock_runtime.converse(
        **request(messages=messages, system=[], toolConfig=offered(described, tool_of("list")))
    )

    [asked] = chat.asked
    call = {"name": "search", "arguments": '{"query": "pump"}'}
    assert asked["messages"] == [
        {"role": "user", "content": "How often is the pump greased?"},
        {
            "role": "assistant",
            "content": "I search.",
            "tool_calls": [{"id": "a", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": "a", "content": 'Every\n{"hours": 200}'},
        {"role": "user", "content": "Go on."},
    ]
    assert asked["tools"] == [
        {
            "type": "function",
            "function": {"name": "search", "description": "Searches.", "parameters": OBJECT},
        },
        {"type": "function", "function": {"name": "list", "parameters": OBJECT}},
    ]


@holds("converse.stop-reason")
def test_function_calls_become_tool_uses(modelled: World, chat: ChatEndpoint) -> None:
    chat.says, chat.stops = None, "tool_calls"
    chat.calls += [("search", '{"query": "pump"}'), ("search", "")]

    answer = modelled.bedrock_runtime.converse(**request(toolConfig=offered(tool_of())))

    assert answer["stopReason"] == "tool_use"
    assert answer["output"]["message"]["content"] == [
        {"toolUse": {"toolUseId": "call_0", "name": "search", "input": {"query": "pump"}}},
        {"toolUse": {"toolUseId": "call_1", "name": "search", "input": {}}},
    ]


@pytest.mark.processes
def test_words_of_a_stream_arrive_as_the_model_writes_them(chat: ChatEndpoint) -> None:
    chat.streams = True
    asked = ModelEndpoint(base_url=chat.base_url, model="small", key=KEY)

    words = asked.stream(ASKED)
    first = next(words)
    was_waiting = not chat.go_on.is_set()
    chat.go_on.set()

    *others, reply = words
    assert (first, was_waiting) == ("Otters", True)
    assert others == [" hold", " hands", " [1]."]
    assert reply == Reply(blocks=[Text(text="Otters hold hands [1].")], stop="end_turn")


@holds("converse.stream")
@pytest.mark.parametrize("says", [None, "I look it up."])
@pytest.mark.parametrize("streams", [True, False])
def test_streamed_model_answer_has_the_events_of_a_whole_one(
    modelled: World, chat: ChatEndpoint, *, streams: bool, says: str | None
) -> None:
    chat.says, chat.stops, chat.streams = says, "tool_calls", streams
    chat.calls += [("search", '{"query": "pump"}'), ("search", "")]
    chat.go_on.set()
    asked = request(toolConfig=offered(tool_of()))

    whole = modelled.bedrock_runtime.converse(**asked)
    events = list(modelled.bedrock_runtime.converse_stream(**asked)["stream"])

    names = [next(iter(each)) for each in events]
    deltas = [each["contentBlockDelta"] for each in events if "contentBlockDelta" in each]
    blocks: dict[int, str] = {}
    for each in deltas:
        piece = each["delta"].get("text") or each["delta"]["toolUse"]["input"]
        blocks[each["contentBlockIndex"]] = blocks.get(each["contentBlockIndex"], "") + piece
    assert names.count("messageStart") == 1
    assert names[0] == "messageStart"
    assert names[-2:] == ["messageStop", "metadata"]
    assert list(blocks.values()) == [*([says] if says else []), '{"query": "pump"}', "{}"]
    assert names.count("contentBlockStop") == len(blocks)
    assert events[-2]["messageStop"]["stopReason"] == whole["stopReason"] == "tool_use"
    assert events[-1]["metadata"]["usage"] == whole["usage"]


def test_process_uses_the_endpoint_of_its_environment_and_stores_no_key(
    tmp_path: Path,
    s3_endpoint: str,
    chat: ChatEndpoint,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("BEDROCK_KB_SIMULATOR_OPENAI_BASE_URL", chat.base_url)
    monkeypatch.setenv("BEDROCK_KB_SIMULATOR_OPENAI_MODEL", "small")
    monkeypatch.setenv("BEDROCK_KB_SIMULATOR_OPENAI_API_KEY", KEY)
    with running(tmp_path, s3_endpoint, speed=50) as address:
        world = World(address, s3_endpoint, patient=True)
        first = world.bedrock_runtime.converse(**request())

        chat.answering = says(500, KEY)
        error = refused(world.bedrock_runtime.converse, **request())

    printed = "".join(capfd.readouterr())
    assert answer_text(first) == "Otters hold hands [1]."
    assert error["Code"] == ERROR
    assert chat.authorizations == [f"Bearer {KEY}"] * 2
    assert KEY not in printed
    assert not [path for path in tmp_path.rglob("*") if KEY.encode() in path.read_bytes()]
