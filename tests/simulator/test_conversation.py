"""Converse: what is refused, answers by extraction or by an endpoint, and under a guardrail."""

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from strands import Agent
from strands.models.bedrock import BedrockModel

from stackroom_local.simulator.model_endpoint import ModelEndpoint
from tests.simulator.chat_endpoint import ChatEndpoint, drip
from tests.simulator.holding import holds
from tests.simulator.running import simulated
from tests.simulator.test_model_endpoint import KEY, says
from tests.simulator.topics import TOPICS
from tests.simulator.world import HAIKU, REGION, TITAN, World, invalid, refused

QUESTION = "Which city has hills?"
IMAGE = {"image": {"format": "png", "source": {"bytes": b"png"}}}
PROMPT = """\
Answer from these.
<passage number="1">
Bonn lies at a river called Rhine.
</passage>
<passage number="2">
Rome has seven hills. The head of marketing earns 120,000 a year.
</passage>
Name the numbers in brackets."""


@pytest.fixture(scope="module")
def modelled(
    _chat: ChatEndpoint, s3_endpoint: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """A simulator that has a model asked, which it does not wait for long."""
    model = ModelEndpoint(base_url=_chat.base_url, model="small", key=KEY, seconds=0.5)
    with simulated(tmp_path_factory.mktemp("simulator"), s3_endpoint, model=model) as world:
        yield world


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"text": text} for text in texts]}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"text": text}]}


def request(question: str = QUESTION, **more: Any) -> dict[str, Any]:
    asked = {"modelId": HAIKU, "system": [{"text": PROMPT}], "messages": [user(question)]}
    return {**asked, **more}


def said(answer: dict[str, Any]) -> str:
    [block] = answer["output"]["message"]["content"]
    return str(block["text"])


@holds("converse.stop-reason", "converse.usage")
def test_an_answer_is_extracted_from_the_prompt_says_so_and_cites_by_number(world: World) -> None:
    answer = world.bedrock_runtime.converse(**request())

    text, usage = said(answer), answer["usage"]
    assert text.startswith("Extracted, not generated")
    assert "Rome has seven hills. [2]" in text
    assert "Bonn lies at a river called Rhine. [1]" in text
    assert answer["output"]["message"]["role"] == "assistant"
    assert answer["stopReason"] == "end_turn"
    assert usage["inputTokens"] > usage["outputTokens"] > 10
    assert usage["totalTokens"] == usage["inputTokens"] + usage["outputTokens"]
    assert answer["metrics"]["latencyMs"] >= 0


def test_passages_are_found_between_tags_of_any_name_and_what_is_escaped_is_read(
    world: World,
) -> None:
    tagged = '<result number="7">\nRome has &lt;seven&gt; hills.\n</result>'

    found, nothing = (
        world.bedrock_runtime.converse(**request(system=[{"text": system}]))
        for system in (tagged, "Be kind.")
    )

    assert said(found).endswith("Rome has <seven> hills. [7]")
    assert said(nothing).endswith("the prompt has no numbered passages.")


@holds("converse.model")
@pytest.mark.parametrize(
    "model",
    [
        "anthropic.claude-3-haiku-20240307-v1:0",
        "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4e5f6",
    ],
)
def test_a_model_is_named_by_id_arn_or_inference_profile(world: World, model: str) -> None:
    assert said(world.bedrock_runtime.converse(**request(modelId=model)))


@holds(
    "converse.model",
    "converse.start",
    "converse.turns",
    "converse.blank",
    "request.not-simulated",
)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"modelId": TITAN}, "doesn't support the model"),
        ({"messages": []}, "must start with a user message"),
        ({"messages": [assistant("Hello?")]}, "must start with a user message"),
        ({"messages": [user("a"), user("b")]}, "must alternate between user and assistant"),
        ({"messages": [user(" ")]}, "object at messages.0.content.0 is blank"),
        ({"messages": [user()]}, "object at messages.0.content is blank"),
        ({"system": [{"text": " \n"}]}, "object at system.0 is blank"),
        ({"inferenceConfig": {"temperature": 1.5}}, "temperature"),
        ({"messages": [user("a"), assistant("b")]}, "does not offer an answer that the caller"),
        ({"messages": [{"role": "user", "content": [IMAGE]}]}, "does not offer image in a message"),
        ({"additionalModelRequestFields": {"top_k": 5}}, "additionalModelRequestFields"),
        (
            {"modelId": "arn:aws:bedrock:us-east-1:123456789012:prompt/ABCDEFGHIJ:1"},
            "prompt resources",
        ),
    ],
)
def test_what_is_refused_says_why(world: World, given: dict[str, Any], message: str) -> None:
    assert message in invalid(world.bedrock_runtime.converse, **request(**given))


def guarded(world: World, **policies: Any) -> dict[str, Any]:
    return {"guardrailIdentifier": world.guardrail(**policies), "guardrailVersion": "DRAFT"}


@holds("converse.guardrail", "converse.guardrail-trace")
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which city has the most pigeons?", "That question is not for this assistant."),
        ("Should I invest in shares?", "That question is not for this assistant."),
        ("What does the head of marketing earn?", "That answer is not for you."),
        ("How are you?", None),
    ],
)
def test_a_guardrail_blocks_the_question_or_the_answer_and_reads_no_system_prompt(
    modelled: World, chat: ChatEndpoint, question: str, expected: str | None
) -> None:
    topics = {"Investment advice": TOPICS["Investment advice"]}
    guardrail = guarded(modelled, words=["pigeons", "120,000"], topics=topics)
    chat.says = "He earns 120,000." if "earn" in question else "Fine."
    system = [{"text": "Pigeons cost 120,000."}]

    answer = modelled.bedrock_runtime.converse(
        **request(question, system=system, guardrailConfig=guardrail)
    )

    assert answer["stopReason"] == ("guardrail_intervened" if expected else "end_turn")
    assert "trace" not in answer
    assert said(answer) == (expected or "Fine.")
    is_question = expected is not None and expected.startswith("That question")
    assert len(chat.asked) == (0 if is_question else 1)


@holds("converse.guardrail", "converse.usage")
def test_a_guardrail_reads_guard_content_alone_where_there_is_any(world: World) -> None:
    guardrail = guarded(world, words=["pigeons"])
    guard = {"guardContent": {"text": {"text": "Which city has hills?"}}}
    evil = {"guardContent": {"text": {"text": "Where are pigeons?"}}}
    beside = {"text": "As for pigeons:"}

    passed, blocked = (
        world.bedrock_runtime.converse(
            **request(
                messages=[{"role": "user", "content": [beside, each]}], guardrailConfig=guardrail
            )
        )
        for each in (guard, evil)
    )

    assert (passed["stopReason"], blocked["stopReason"]) == ("end_turn", "guardrail_intervened")
    assert blocked["usage"]["totalTokens"] == 0


@holds("converse.guardrail-trace")
@pytest.mark.parametrize("trace", ["enabled", "enabled_full"])
def test_a_trace_tells_what_a_guardrail_found_and_a_stream_tells_it_last(
    world: World, trace: str
) -> None:
    topics = {"Investment advice": TOPICS["Investment advice"]}
    guardrail = guarded(world, words=["pigeons", "120,000"], topics=topics)
    config = {**guardrail, "trace": trace}
    identifier = guardrail["guardrailIdentifier"]
    converse = world.bedrock_runtime.converse
    pigeons = "Which city has pigeons?"

    asked = converse(**request(pigeons, guardrailConfig=config))["trace"]["guardrail"]
    told = converse(**request("What does marketing earn?", guardrailConfig=config))
    passed = converse(
        **request("How are you?", system=[{"text": "Be kind."}], guardrailConfig=config)
    )["trace"]["guardrail"]
    streamed = world.bedrock_runtime.converse_stream(
        **request(pigeons, guardrailConfig={**config, "streamProcessingMode": "sync"})
    )
    *_, stop, last = streamed["stream"]

    [answered] = told["trace"]["guardrail"]["outputAssessments"][identifier]
    words = [
        each["wordPolicy"]["customWords"]
        for each in (asked["inputAssessment"][identifier], answered)
    ]
    assert words == [
        [{"match": word, "action": "BLOCKED", "detected": True}] for word in ("pigeons", "120,000")
    ]
    assert asked["actionReason"] == "Guardrail blocked."
    assert "outputAssessments" not in asked
    usage = asked["inputAssessment"][identifier]["invocationMetrics"]["usage"]
    assert usage["wordPolicyUnits"] == 1
    clean = passed["inputAssessment"][identifier]
    assert "wordPolicy" not in clean
    assert ("topicPolicy" in clean) is (trace == "enabled_full")
    assert "actionReason" not in passed
    assert stop == {"messageStop": {"stopReason": "guardrail_intervened"}}
    assert list(last["metadata"]["trace"]["guardrail"]["inputAssessment"]) == [identifier]


@holds("converse.guardrail-missing")
def test_a_guardrail_that_is_not_there_or_beside_a_stream_is_refused_and_none_is_no_guardrail(
    world: World,
) -> None:
    named, asked = guarded(world, words=["a"]), world.bedrock_runtime
    none = {"guardrailIdentifier": "", "guardrailVersion": ""}
    beside = {**named, "streamProcessingMode": "async"}

    for missing in ({"guardrailVersion": "3"}, {"guardrailIdentifier": "nosuchguardrail"}):
        said = invalid(asked.converse, **request(guardrailConfig={**named, **missing}))
        assert "does not exist" in said
    streaming = invalid(asked.converse_stream, **request(guardrailConfig=beside))
    assert "streamProcessingMode" in streaming
    assert "trace" not in asked.converse(**request(guardrailConfig=none))


@pytest.mark.parametrize("streaming", [False, True])
def test_a_strands_agent_runs_under_a_guardrail(world: World, streaming: bool) -> None:
    model = BedrockModel(
        model_id=HAIKU,
        guardrail_id=world.guardrail(words=["pigeons"]),
        guardrail_version="DRAFT",
        streaming=streaming,
        endpoint_url=world.endpoint,
        region_name=REGION,
    )
    agent = Agent(model=model, callback_handler=None)

    answer = agent("Where are pigeons?")

    assert answer.stop_reason == "guardrail_intervened"
    assert str(answer).strip() == "That question is not for this assistant."
    assert agent.messages[0]["content"] == [{"text": "[User input redacted.]"}]


@holds("converse.stop-reason")
def test_an_endpoint_is_asked_the_whole_conversation(modelled: World, chat: ChatEndpoint) -> None:
    chat.says, chat.stops = "Rome. [2]", "length"
    inference = {"maxTokens": 50, "temperature": 0.0, "topP": 0.5, "stopSequences": ["END"]}
    turns = [user("Hills?", "Many."), assistant("Rome."), user("And why?")]

    answer = modelled.bedrock_runtime.converse(**request(messages=turns, inferenceConfig=inference))

    assert (said(answer), answer["stopReason"]) == ("Rome. [2]", "max_tokens")
    assert chat.asked == [
        {
            "model": "small",
            "messages": [
                {"role": "system", "content": PROMPT},
                {"role": "user", "content": "Hills?\nMany."},
                {"role": "assistant", "content": "Rome."},
                {"role": "user", "content": "And why?"},
            ],
            "max_tokens": 50,
            "temperature": 0.0,
            "top_p": 0.5,
            "stop": ["END"],
        }
    ]


@holds("converse.timeout", "converse.model-error", "converse.throttled")
@pytest.mark.parametrize(
    ("answering", "code", "problem"),
    [
        (says(200, "{}"), "ModelErrorException", "no chat completion"),
        (says(500, f"we broke with {KEY}"), "ModelErrorException", "HTTP status 500"),
        (says(429, "slower"), "ThrottlingException", "Too many requests"),
        (drip, "ModelTimeoutException", "in time"),
    ],
)
def test_an_endpoint_that_fails_is_an_error_of_aws_without_the_key(
    modelled: World,
    chat: ChatEndpoint,
    answering: Callable[[BaseHTTPRequestHandler], None],
    code: str,
    problem: str,
) -> None:
    chat.answering = answering
    once = World(modelled.endpoint, modelled.s3_endpoint)  # who is throttled is told

    error = refused(once.bedrock_runtime.converse, **request())

    assert (error["Code"], problem in error["Message"]) == (code, True)
    assert KEY not in error["Message"]
