"""The vectors of questions, against botocore's own model of `InvokeModel`."""

import io
import json
from typing import Any

import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from stackroom.aws.embeddings import BedrockEmbeddings
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable, SearchRefused

SERVICE = "bedrock-runtime"  # of the fixture `client`

MODEL = "amazon.titan-embed-text-v2:0"


@pytest.fixture
def embeddings(client: Any, stubber: Stubber) -> BedrockEmbeddings:
    return BedrockEmbeddings(client=client, model=MODEL, dimensions=3)


def answered(**members: object) -> dict[str, Any]:
    body = json.dumps(members).encode()
    return {
        "body": StreamingBody(io.BytesIO(body), len(body)),
        "contentType": "application/json",
    }


def test_a_text_is_embedded_as_the_documents_were(
    embeddings: BedrockEmbeddings, stubber: Stubber
) -> None:
    asked = {
        "modelId": MODEL,
        "contentType": "application/json",
        "accept": "application/json",
        "body": json.dumps({"inputText": "annual leave", "dimensions": 3, "normalize": True}),
    }
    stubber.add_response(
        "invoke_model", answered(embedding=[0.6, 0, 0.8], inputTextTokenCount=2), asked
    )

    assert embeddings.embed("annual leave") == (0.6, 0, 0.8)


@pytest.mark.parametrize("answer", [{"embedding": [1.0, 0.0]}, {"embeddingsByType": {}}])
def test_a_vector_that_fits_no_index_is_refused(
    embeddings: BedrockEmbeddings, stubber: Stubber, answer: dict[str, object]
) -> None:
    stubber.add_response("invoke_model", answered(**answer))

    with pytest.raises(SearchRefused, match="dimensions, not 3"):
        embeddings.embed("annual leave")


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        ("ThrottlingException", 429, KnowledgeBaseThrottled),
        ("InternalServerException", 500, KnowledgeBaseUnavailable),
        ("AccessDeniedException", 403, SearchRefused),
    ],
)
def test_what_will_pass_is_told_apart_from_what_will_not(
    embeddings: BedrockEmbeddings,
    stubber: Stubber,
    code: str,
    status: int,
    expected: type[Exception],
) -> None:
    stubber.add_client_error("invoke_model", code, "no", status)

    with pytest.raises(expected, match="InvokeModel"):
        embeddings.embed("annual leave")


@pytest.mark.parametrize("vector", [[0, 0, 0], [3, 4, 0], [float("nan"), 0, 1]])
def test_a_vector_that_is_near_to_nothing_is_no_answer(
    embeddings: BedrockEmbeddings, stubber: Stubber, vector: list[float]
) -> None:
    stubber.add_response("invoke_model", answered(embedding=vector))

    with pytest.raises(KnowledgeBaseUnavailable, match="length one"):
        embeddings.embed("annual leave")
