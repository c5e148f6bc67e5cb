"""InvokeModel of models that write text: Claude and Nova, each in the words of its family."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from bedrock_kb_simulator import script_orders
from tests.simulator.holding import holds
from tests.simulator.test_scripts import CITES, SEARCHES, ordered
from tests.simulator.test_tools import OBJECT
from tests.simulator.world import World, client, invalid

CLAUDE = "us.anthropic.claude-sonnet-4-20250514-v1:0"
NOVA = "us.amazon.nova-lite-v1:0"
PROFILE = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4e5f6"
QUESTION = "How often is the pump greased?"
FOUND = "The pump is greased every 200 hours (manual.pdf)."
ANTHROPIC: dict[str, Any] = {
    "anthropic_version": "bedrock-2023-05-31",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": QUESTION}],
    "tools": [{"name": "search", "description": "Searches.", "input_schema": OBJECT}],
}
MESSAGES: dict[str, Any] = {
    "schemaVersion": "messages-v1",
    "messages": [{"role": "user", "content": [{"text": QUESTION}]}],
    "toolConfig": {"tools": [{"toolSpec": {"name": "search", "inputSchema": {"json": OBJECT}}}]},
}


@pytest.fixture
def world(world: World) -> Iterator[World]:
    """Without any script."""
    ordered(world, "DELETE")
    yield world
    ordered(world, "DELETE")


def invoked(world: World, model: str, body: Mapping[str, Any]) -> dict[str, Any]:
    answer = world.bedrock_runtime.invoke_model(modelId=model, body=json.dumps(body))
    told: dict[str, Any] = json.loads(answer["body"].read())
    return told


@holds("invoke.as-converse")
def test_claude_uses_a_tool_and_answers_in_anthropics_words(world: World) -> None:
    script_orders.order(world.endpoint, {"model": CLAUDE, "turns": [SEARCHES, CITES]})

    first = invoked(world, CLAUDE, ANTHROPIC)
    [use] = first["content"]
    found = {"type": "tool_result", "tool_use_id": use["id"], "content": FOUND}
    messages = [
        *ANTHROPIC["messages"],
        {"role": "assistant", "content": first["content"]},
        {"role": "user", "content": [found]},
    ]
    second = invoked(world, CLAUDE, {**ANTHROPIC, "messages": messages})

    assert first["stop_reason"] == "tool_use"
    assert use == {"type": "tool_use", "id": use["id"], "name": "search", "input": use["input"]}
    assert use["input"] == {"query": QUESTION}
    assert second["content"] == [{"type": "text", "text": "200 hours, says manual.pdf."}]
    assert (second["stop_reason"], second["model"]) == ("end_turn", "claude-sonnet-4-20250514")
    assert (second["type"], second["role"]) == ("message", "assistant")
    assert second["usage"]["input_tokens"] > second["usage"]["output_tokens"] > 0


@holds("invoke.as-converse")
def test_nova_uses_a_tool_and_answers_in_its_words(world: World) -> None:
    script_orders.order(world.endpoint, {"model": NOVA, "turns": [SEARCHES, CITES]})

    first = invoked(world, NOVA, MESSAGES)
    use = first["output"]["message"]["content"][0]["toolUse"]
    found = {"toolUseId": use["toolUseId"], "content": [{"json": {"text": FOUND}}]}
    messages = [
        *MESSAGES["messages"],
        first["output"]["message"],
        {"role": "user", "content": [{"toolResult": found}]},
    ]
    second = invoked(world, NOVA, {**MESSAGES, "messages": messages})

    assert first["stopReason"] == "tool_use"
    assert use["input"] == {"query": QUESTION}
    assert second["output"]["message"]["content"] == [{"text": "200 hours, says manual.pdf."}]
    assert second["stopReason"] == "end_turn"
    usage = second["usage"]
    assert usage["totalTokens"] == usage["inputTokens"] + usage["outputTokens"]
    assert usage["cacheReadInputTokenCount"] == 0


@holds("invoke.as-converse")
def test_a_profile_is_of_the_family_whose_words_it_is_asked_in(world: World) -> None:
    demanded = {"system": "Be kind.", "tool_choice": {"type": "tool", "name": "search"}}
    anthropic = invoked(world, PROFILE, {**ANTHROPIC, **demanded})
    nova = invoked(world, PROFILE, MESSAGES)

    assert (anthropic["stop_reason"], anthropic["model"]) == ("tool_use", "claude")
    assert nova["stopReason"] == "tool_use"


@holds("invoke.*", "request.not-simulated", "request.model")
@pytest.mark.parametrize(
    ("model", "change", "message"),
    [
        (CLAUDE, {"max_tokens": None}, "Malformed input request: #/max_tokens: Input should be"),
        (CLAUDE, {"anthropic_version": "2023-06-01"}, "#/anthropic_version: Input should be"),
        (CLAUDE, {"max_tokens_to_sample": 1}, "#: extraneous key [max_tokens_to_sample] is not"),
        (CLAUDE, {"messages": [{"role": "user"}]}, "#/messages/0: required key [content] not"),
        (CLAUDE, {"top_k": 5}, "does not offer top_k in a body of InvokeModel"),
        (CLAUDE, {"tool_choice": {"type": "none"}}, "does not offer tool_choice none"),
        (CLAUDE, {"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "offer image"),
        (NOVA, {"schemaVersion": "messages-v2"}, "#/schemaVersion: Input should be 'messages-v1'"),
        (NOVA, {"inferenceConfig": {"topK": 5}}, "does not offer topK"),
        (NOVA, {"toolConfig": {"tools": {"toolSpec": {}}}}, "Member must be a list"),
        (NOVA, {"messages": [{"role": "user", "content": [{"document": {}}]}]}, "key [document]"),
        ("meta.llama3-8b-instruct-v1:0", {}, "does not offer InvokeModel of meta.llama3-8b"),
    ],
)
def test_a_body_that_does_not_fit_is_refused(
    world: World, model: str, change: Mapping[str, Any], message: str
) -> None:
    body = {**(ANTHROPIC if model == CLAUDE else MESSAGES), **change}
    request = {"modelId": model, "body": json.dumps(body)}

    assert message in invalid(world.bedrock_runtime.invoke_model, **request)


@holds("invoke.malformed")
def test_a_body_that_is_no_object_and_what_stands_beside_one_is_refused(world: World) -> None:
    beside = {"guardrailIdentifier": "abc", "guardrailVersion": "1"}
    cases: list[tuple[Mapping[str, str], str]] = [
        ({"body": "{"}, "#: Invalid JSON"),
        ({"body": "[]"}, "#: Input should"),
        ({"body": "{}"}, "#: required key [anthropic_version] not found, please reformat"),
        (beside, "does not offer"),
        ({"trace": "ENABLED"}, "does not offer"),
    ]

    for asked, message in cases:
        request = {"modelId": CLAUDE, "body": json.dumps(ANTHROPIC), **asked}
        assert message in invalid(world.bedrock_runtime.invoke_model, **request)


@holds("models.available")
def test_every_model_and_every_profile_of_awss_own_is_there(world: World) -> None:
    bedrock = client("bedrock", world.endpoint)

    told = bedrock.get_foundation_model_availability(modelId="amazon.nova-lite-v1:0")
    profile = bedrock.get_inference_profile(inferenceProfileIdentifier=NOVA)

    there = {told["entitlementAvailability"], told["regionAvailability"]}
    assert there | {told["agreementAvailability"]["status"]} == {"AVAILABLE"}
    assert (profile["inferenceProfileId"], profile["status"]) == (NOVA, "ACTIVE")
    assert profile["models"][0]["modelArn"].endswith("::foundation-model/amazon.nova-lite-v1:0")
