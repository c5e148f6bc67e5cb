"""The model of a batch agent, by Bedrock's Converse; and its answer where it must be JSON."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.stub import ANY, Stubber

from stackroom.aws.bedrock.guardrail import Guardrail
from stackroom.errors import ModelThrottled, ModelUnavailable, StackroomError
from stackroom_agents.batch.event_agent import bedrock_model
from stackroom_agents.batch.event_conversation import AnswerNotJson, parsed, texts
from tests.agents.batch_world import PROMPT, World, data
from tests.agents.linked import LAWS, configured
from tests.workflow.functions import forget_clients


@pytest.fixture
def bedrock(monkeypatch: pytest.MonkeyPatch, world: World) -> Iterator[Stubber]:
    """Behind the function's own model; whatever isn't expected is an error."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    model: Any = bedrock_model("a-model")
    world.plays(model)
    with Stubber(model.client) as stub:
        yield stub
    forget_clients()


def answer(*content: dict[str, Any], reason: str = "end_turn") -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": [*content]}},
        "stopReason": reason,
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        "metrics": {"latencyMs": 1},
    }


def asked_for(text: str, *more: dict[str, Any], **request: Any) -> dict[str, Any]:
    content = [{"text": "Sum up."}, {"text": f"The document:\n\n{text}"}]
    return {
        "modelId": "a-model",
        "messages": [{"role": "user", "content": content}, *more],
        "system": [{"text": PROMPT}],
        "inferenceConfig": {},
        **request,
    }


def test_a_tool_is_called_and_its_answer_is_told_to_converse(
    world: World, bedrock: Stubber
) -> None:
    world.set(KNOWLEDGE_BASES_CONFIG=configured(LAWS))
    world.knowledge_bases.hold(LAWS, "thirty days")
    arguments = {"query": "leave"}
    use = {"toolUseId": "t1", "name": "retrieve_from_knowledge_base", "input": arguments}
    call = {"toolUse": use}
    found: list[Any] = []
    bedrock.add_response(
        "converse", answer(call, reason="tool_use"), asked_for("leave", system=ANY, toolConfig=ANY)
    )
    bedrock.add_response(
        "converse",
        answer({"text": "thirty days [leave.txt]"}),
        asked_for(
            "leave",
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": _Recorder(found)},
            system=ANY,
            toolConfig=ANY,
        ),
    )

    assert world.ask(data("leave"))["result"] == "thirty days [leave.txt]"
    assert "> thirty days" in str(found)


class _Recorder:
    """Equal to whatever it is compared with, which it keeps."""

    def __init__(self, kept: list[Any]) -> None:
        self._kept = kept

    def __eq__(self, other: object) -> bool:
        self._kept.append(other)
        return True

    __hash__ = None  # type: ignore[assignment] # it is like everything


@pytest.mark.parametrize(
    ("code", "status", "error"),
    [
        ("ThrottlingException", 429, ModelThrottled),
        ("modelStreamErrorException", 400, ModelUnavailable),  # as a stream's event has it
    ],
)
def test_an_error_of_converse_is_raised_by_its_name_in_a_later_turn_too(
    world: World, bedrock: Stubber, *, code: str, status: int, error: type[StackroomError]
) -> None:
    use = {"toolUseId": "t1", "name": "no_such_tool", "input": {}}
    bedrock.add_response("converse", answer({"toolUse": use}, reason="tool_use"))
    bedrock.add_client_error("converse", code, "no", status)

    with pytest.raises(error, match=r"Converse (answered|was throttled)"):
        world.ask(data("leave"))


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("The PDF is not valid.", "The PDF is not valid."),
        ("Input is too long for requested model", "the input is too long"),
    ],
)
def test_request_that_the_model_refuses_is_reported(
    world: World, bedrock: Stubber, message: str, problem: str
) -> None:
    for _ in range(2):  # Strands shortens the conversation once, where there is something to leave
        bedrock.add_client_error("converse", "ValidationException", message, 400)

    told = world.ask(data("leave"))

    assert (told["success"], told["errorType"]) == (False, "ModelRefused")
    assert problem in told["error"]
    assert message not in world.printed.log.getvalue()


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ('{"a": 1, "b": 1.5}', {"a": 1, "b": 1.5}),
        ("\N{BYTE ORDER MARK}[1, 2]\n", [1, 2]),
        ('Sure:\n\n  ```json\n  {"a": "ä"}\n  ```\nDone.', {"a": "ä"}),
    ],
)
def test_an_object_or_an_array_is_taken_alone_or_in_one_block(answer: str, value: object) -> None:
    assert parsed(answer) == value


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("thirty days", "there is no block"),
        ('```json\n{}\n```\nor\n```json\n{"a": 1}\n```', "there is 2 blocks"),
        ('{"a": 1,}', "line 1 column"),
        ('{"a": 1, "a": 2}', "one name twice"),
        ('{"a": 1e999}', "a number that is too large"),
        ('{"a": ' + "9" * 5_000 + "}", "a number that can't be read"),
        ('["\\ud800"]', "half of a surrogate pair"),
        ("```json\n30\n```", "allowed is an object or an array"),
        (" \n", "it is empty"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_answer_that_is_not_json_is_refused_without_quoting_it(answer: str, problem: str) -> None:
    with pytest.raises(AnswerNotJson) as raised:
        parsed(answer)

    assert problem in raised.value.problem
    assert "thirty" not in str(raised.value)


def test_cited_text_is_part_of_the_answer_and_reasoning_is_not() -> None:
    cited = {"content": [{"text": "Thirty"}, {"text": " days"}], "citations": []}
    thought = {"reasoningText": {"text": "Hm."}}
    content: Any = [{"reasoningContent": thought}, {"citationsContent": cited}, {"text": "Ask."}]

    assert texts({"role": "assistant", "content": content}) == ["Thirty days", "Ask."]


def test_a_guardrail_goes_with_every_call_of_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")

    model: Any = bedrock_model("a-model", Guardrail(id="gr1", version="2"))

    assert (model.config["guardrail_id"], model.config["guardrail_version"]) == ("gr1", "2")
