"""Bedrock's Rerank as a `Reranker`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from bedrock_kb_simulator.server import Configuration, Simulator
from stackroom.aws.bedrock.bedrock_reranking import BedrockReranker
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable

SERVICE = "bedrock-agent-runtime"  # of the fixture `client`

MODEL = "arn:aws:bedrock:us-east-1::foundation-model/amazon.rerank-v1:0"


@pytest.fixture
def simulated(tmp_path: Path) -> Iterator[Any]:
    with Simulator(Configuration(data_dir=tmp_path, s3_endpoint="http://127.0.0.1:9")) as simulator:
        yield boto3.client("bedrock-agent-runtime", endpoint_url=simulator.endpoint)


@pytest.mark.processes
def test_each_text_gets_its_own_relevance(simulated: Any) -> None:
    texts = ["The hall is swept.", "The pump is greased weekly.", "x" * 40_000]

    first, second, third = BedrockReranker(simulated, model_arn=MODEL).rank("greased pump", texts)

    assert 1 >= second > max(first, third) >= 0


@pytest.fixture
def reranker(client: Any) -> BedrockReranker:
    return BedrockReranker(client, model_arn=MODEL)


@pytest.mark.parametrize(("score", "relevance"), [(1.0000001, 1.0), (-1e-7, 0.0)])
def test_a_relevance_that_rounding_took_out_of_bounds_is_the_bound(
    score: float, relevance: float, reranker: BedrockReranker, stubber: Stubber
) -> None:
    results = [{"index": 0, "relevanceScore": score}, {"index": 1, "relevanceScore": 0.5}]
    stubber.add_response("rerank", {"results": results})

    assert reranker.rank("greased pump", ["a", "b"]) == (relevance, 0.5)


def test_throttle_of_rerank_and_any_other_error_are_told_apart(
    reranker: BedrockReranker, stubber: Stubber
) -> None:
    for code, status, error in (
        ("ThrottlingException", 429, KnowledgeBaseThrottled),
        ("AccessDeniedException", 403, KnowledgeBaseUnavailable),
    ):
        stubber.add_client_error("rerank", code, "no", status)
        with pytest.raises(error):
            reranker.rank("greased pump", ["a"])


class Answered:
    status_code = 200


def test_incomplete_or_malformed_ranking_is_refused(client: Any, reranker: BedrockReranker) -> None:
    first = {"index": 0, "relevanceScore": 0.5}
    others = [(2, 0.5), (1, float("nan")), (1, 7.5)]
    rankings = [
        [first],
        *([first, {"index": index, "relevanceScore": score}] for index, score in others),
    ]

    def answer(**_: object) -> Any:
        return Answered(), {"results": rankings[0]}

    # A stub would check it by the API's model, which nobody does with a real answer.
    client.meta.events.register("before-call.bedrock-agent-runtime.Rerank", answer)

    while rankings:
        with pytest.raises(KnowledgeBaseUnavailable):
            reranker.rank("greased pump", ["a", "b"])
        del rankings[0]
