"""Converse: validation, extracted answers, and guardrails."""

from typing import Any

import pytest

from simulator.tests.conversation import IMAGE, PROMPT_ARN, answer_text, assistant, request, user
from simulator.tests.holding import holds
from simulator.tests.world import TITAN, TOPICS, World, invalid

OPUS = "us.anthropic.claude-opus-4-7"


@holds("converse.stop-reason", "converse.usage")
def test_extracted_answer_is_marked_and_cites_passages_by_number(world: World) -> None:
    answer = world.bedrock_runtime.converse(**request())

    text, usage = answer_text(answer), answer["usage"]
    assert text.startswith("Extracted, not generated")
    assert "Rome has seven hills. [2]" in text
    assert "Bonn lies at a river called Rhine. [1]" in text
    assert answer["output"]["message"]["role"] == "assistant"
    assert answer["stopReason"] == "end_turn"
    assert usage["inputTokens"] > usage["outputTokens"] > 10
    assert usage["totalTokens"] == usage["inputTokens"] + usage["outputTokens"]
    assert answer["metrics"]["latencyMs"] >= 0


@holds(
    "converse.model",
    "converse.start",
    "converse.turns",
    "converse.blank",
    "converse.temperature-deprecated",
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
        ({"modelId": OPUS, "inferenceConfig": {"temperature": 0.0}}, "is deprecated for this"),
        ({"messages": [user("a"), assistant("b")]}, "does not offer an answer that the caller"),
        ({"messages": [{"role": "user", "content": [IMAGE]}]}, "does not offer image in a message"),
        ({"additionalModelRequestFields": {"top_k": 5}}, "additionalModelRequestFields"),
        ({"modelId": PROMPT_ARN}, "prompt resources"),
    ],
)
def test_invalid_request_is_refused_with_the_reason(
    world: World, given: dict[str, Any], message: str
) -> None:
    assert message in invalid(world.bedrock_runtime.converse, **request(**given))


def guarded(world: World, **policies: Any) -> dict[str, Any]:
    return {"guardrailIdentifier": world.guardrail(**policies), "guardrailVersion": "DRAFT"}


@holds("converse.guardrail", "converse.guardrail-trace", "converse.usage")
def test_guardrail_trace_lists_findings_and_comes_last_in_a_stream(world: World) -> None:
    topics = {"Investment advice": TOPICS["Investment advice"]}
    guardrail = guarded(world, words=["pigeons", "120,000"], topics=topics)
    config = {**guardrail, "trace": "enabled"}
    identifier = guardrail["guardrailIdentifier"]
    converse = world.bedrock_runtime.converse
    pigeons = "Which city has pigeons?"

    blocked = converse(**request(pigeons, guardrailConfig=config))
    answer = converse(**request("What does marketing earn?", guardrailConfig=config))
    passed = converse(
        **request("How are you?", system=[{"text": "Be kind."}], guardrailConfig=config)
    )
    streamed = world.bedrock_runtime.converse_stream(
        **request(pigeons, guardrailConfig={**config, "streamProcessingMode": "sync"})
    )
    *_, stop, last = streamed["stream"]

    asked = blocked["trace"]["guardrail"]
    assert blocked["usage"]["totalTokens"] == 0
    [answered] = answer["trace"]["guardrail"]["outputAssessments"][identifier]
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
    clean = passed["trace"]["guardrail"]["inputAssessment"][identifier]
    assert not {"wordPolicy", "topicPolicy"} & clean.keys()
    assert "actionReason" not in passed["trace"]["guardrail"]
    assert stop == {"messageStop": {"stopReason": "guardrail_intervened"}}
    assert list(last["metadata"]["trace"]["guardrail"]["inputAssessment"]) == [identifier]
