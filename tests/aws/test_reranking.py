"""Bedrock's Rerank as a `Reranker`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from stackroom.aws.reranking import BedrockReranker
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom_local.simulator.server import Configuration, Simulator

MODEL = "arn:aws:bedrock:us-east-1::foundation-model/amazon.rerank-v1:0"
KEYS: dict[str, Any] = {
    "region_name": "us-east-1",
    "aws_access_key_id": "x",
    "aws_secret_access_key": "x",
}


@pytest.fixture
def simulated(tmp_path: Path) -> Iterator[Any]:
    with Simulator(Configuration(data_dir=tmp_path, s3_endpoint="http://127.0.0.1:9")) as simulator:
        yield boto3.client("bedrock-agent-runtime", endpoint_url=simulator.endpoint, **KEYS)


@pytest.mark.processes
def test_each_text_gets_its_own_relevance(simulated: Any) -> None:
    texts = ["The hall is swept.", "The pump is greased weekly.", "x" * 40_000]

    first, second, third = BedrockReranker(simulated, model_arn=MODEL).rank("greased pump", texts)

    assert 1 >= second > max(first, third) >= 0


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("ThrottlingException", KnowledgeBaseThrottled),
        ("AccessDeniedException", KnowledgeBaseUnavailable),
    ],
)
def test_what_bedrock_refuses_is_told_in_our_words(code: str, error: type[Exception]) -> None:
    client = boto3.client("bedrock-agent-runtime", **KEYS)
    stubber = Stubber(client)
    stubber.add_client_error("rerank", code)
    reranker = BedrockReranker(client, model_arn=MODEL)

    with stubber, pytest.raises(error):
        reranker.rank("greased pump", ["a"])


@pytest.mark.parametrize(
    "results",
    [
        [{"index": 0, "relevanceScore": 0.5}],
        [{"index": 0, "relevanceScore": 0.5}, {"index": 2, "relevanceScore": 0.5}],
        [{"index": 0, "relevanceScore": 0.5}, {"index": 1, "relevanceScore": float("nan")}],
        [{"index": 0, "relevanceScore": 0.5}, {"index": 1, "relevanceScore": 7.5}],
    ],
)
def test_half_a_ranking_and_nonsense_are_none(results: list[dict[str, object]]) -> None:
    def answer(**_: object) -> Any:
        return Answered(), {"results": results}

    client = boto3.client("bedrock-agent-runtime", **KEYS)
    # A stub would check it by the API's model, which nobody does with a real answer.
    client.meta.events.register("before-call.bedrock-agent-runtime.Rerank", answer)

    with pytest.raises(KnowledgeBaseUnavailable):
        BedrockReranker(client, model_arn=MODEL).rank("greased pump", ["a", "b"])


class Answered:
    status_code = 200
