"""Documents and cache points in Converse."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests import files
from tests.simulator.holding import holds
from tests.simulator.test_conversation import request, said
from tests.simulator.test_tools import offered, tool, turn
from tests.simulator.world import HAIKU, World, invalid, refused

QUESTION = {"text": "How often is the pump greased?"}
FACT = "The pump is greased every 200 hours."
SONNET = "us.anthropic.claude-sonnet-4-20250514-v1:0"
CACHE = {"cachePoint": {"type": "default"}}


def document(body: bytes = FACT.encode(), name: str = "manual", **more: Any) -> dict[str, Any]:
    return {"document": {"format": "txt", "name": name, "source": {"bytes": body}, **more}}


def asked(*blocks: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return request(system=[], messages=[turn("user", *blocks)], **more)


@pytest.mark.parametrize(
    ("form", "body"),
    [
        ("pdf", files.pdf("Pumps stand in the cellar.", FACT)),
        ("xlsx", files.workbook({"Pumps": [["pump", FACT]]})),
        ("txt", FACT.encode()),
    ],
)
def test_a_document_is_read(world: World, form: str, body: bytes) -> None:
    answer = world.bedrock_runtime.converse(**asked(QUESTION, document(body, format=form)))

    assert "The pump is greased every 200 hours." in said(answer)
    assert said(answer).endswith("[manual]")


def test_a_document_in_a_result_of_a_tool_is_read(world: World) -> None:
    uses = turn("assistant", {"toolUse": {"toolUseId": "a", "name": "search", "input": {}}})
    found = turn("user", {"toolResult": {"toolUseId": "a", "content": [document()]}})

    answer = world.bedrock_runtime.converse(
        **request(
            messages=[turn("user", QUESTION), uses, found], system=[], toolConfig=offered(tool())
        )
    )

    assert said(answer).endswith(f"{FACT} [manual]")


@holds("documents.*", "request.not-simulated")
@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([document()], "A text block must be included when using documents."),
        (
            [QUESTION, document(), document()],
            "Messages can't contain duplicate document names.",
        ),
        (
            [QUESTION, *(document(name=f"manual {n}") for n in range(6))],
            "You can't include more than 5 documents in a request.",
        ),
        ([QUESTION, document(name="manual.pdf")], "The document file name can only contain"),
        ([QUESTION, document(name="the  manual")], "one consecutive whitespace character"),
        ([QUESTION, document(b"a" * 4_718_593)], "has more than 4718592 bytes (4.5 MB)"),
        (
            [QUESTION, document(source={"text": FACT})],
            "DocumentSource object at messages.0.content.1.document.source must set one of the"
            " following keys: bytes, s3Location.",
        ),
        (
            [QUESTION, document(files.truncated_pdf(), format="pdf")],
            "messages.0.content.1.document: The document specified was not valid.",
        ),
        ([QUESTION, document(format="doc")], "does not offer documents in the format doc"),
        (
            [QUESTION, document(source={"s3Location": {"uri": "s3://docs/manual.pdf"}})],
            "does not offer documents in S3",
        ),
        (
            [QUESTION, document(citations={"enabled": True})],
            "does not offer citations of documents",
        ),
    ],
)
def test_a_document_that_does_not_fit_is_refused(
    world: World, blocks: list[Mapping[str, Any]], message: str
) -> None:
    assert message in invalid(world.bedrock_runtime.converse, **asked(*blocks))


@holds("documents.name", "documents.count")
def test_documents_up_to_the_limits_are_taken(world: World) -> None:
    names = ["manual", "the manual (2) [b]", " a_b-c ", "m" * 200, "the last"]

    answer = world.bedrock_runtime.converse(
        **asked(QUESTION, *(document(name=name) for name in names))
    )

    assert FACT in said(answer)


@holds("converse.cache")
@pytest.mark.parametrize(
    "model",
    [
        SONNET,
        "us.amazon.nova-lite-v1:0",
        "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4e5f6",
        "anthropic.claude-3-5-haiku-20241022-v1:0",
    ],
)
def test_cache_points_are_taken_and_nothing_is_cached(world: World, model: str) -> None:
    answer = world.bedrock_runtime.converse(
        **request(
            modelId=model,
            system=[{"text": "Be kind."}, CACHE],
            messages=[turn("user", QUESTION, CACHE)],
            toolConfig=offered(tool(), CACHE),
        )
    )

    usage = answer["usage"]
    assert answer["stopReason"] == "tool_use"
    assert (usage["cacheReadInputTokens"], usage["cacheWriteInputTokens"]) == (0, 0)


@holds("converse.cache", "converse.cache-unsupported")
@pytest.mark.parametrize(
    ("model", "points", "code", "message"),
    [
        (SONNET, 5, "ValidationException", "A maximum of 4 cache points may be provided. Found 5."),
        (HAIKU, 1, "AccessDeniedException", "did not allow prompt caching"),
        (SONNET, 0, "ValidationException", "content is blank"),
    ],
)
def test_cache_points_that_do_not_fit_are_refused(
    world: World, model: str, points: int, code: str, message: str
) -> None:
    blocks = [QUESTION, *[CACHE] * points] if points else [CACHE]

    error = refused(world.bedrock_runtime.converse, **asked(*blocks, modelId=model))

    assert error["Code"] == code
    assert message in error["Message"]
