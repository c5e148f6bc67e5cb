"""Transient errors become `Unavailable`; others are raised unchanged."""

from contextlib import AbstractContextManager
from typing import Any

import boto3
import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
)
from botocore.stub import Stubber

from stackroom.aws.error_mapping import knowledge_base_errors, model_errors, store_errors
from stackroom.aws.textract.text_detection import TextractDetection
from stackroom.errors import (
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    ServiceRefused,
    StackroomError,
    StoreUnavailable,
)

UNANSWERED = [
    ConnectionClosedError(endpoint_url="https://aws.test"),
    ConnectTimeoutError(endpoint_url="https://aws.test"),
    EndpointConnectionError(endpoint_url="https://aws.test"),
    ReadTimeoutError(endpoint_url="https://aws.test"),
]


def answered(code: str, status: int) -> ClientError:
    response: Any = {
        "Error": {"Code": code, "Message": "no"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(response, "GetItem")


def raised(translation: AbstractContextManager[None], error: Exception) -> StackroomError:
    with pytest.raises(StackroomError) as caught, translation:
        raise error
    assert caught.value.__cause__ is error
    return caught.value


def test_throttles_pass() -> None:
    for code in ("SlowDown", "Throttling", "RequestLimitExceeded", "KmsThrottlingException"):
        assert type(raised(store_errors(), answered(code, 400))) is StoreUnavailable
        told = raised(knowledge_base_errors(), answered(code, 429))
        assert type(told) is KnowledgeBaseThrottled


def test_failures_of_the_service_and_calls_that_were_not_answered_pass() -> None:
    failures = [answered("InternalServerError", 500), answered("anything", 504)]
    for error in [*failures, *UNANSWERED]:
        store = raised(store_errors(), error)
        knowledge_base = raised(knowledge_base_errors(), error)

        assert type(store) is StoreUnavailable
        assert type(knowledge_base) is KnowledgeBaseUnavailable
        if isinstance(error, ClientError):
            code = error.response["Error"]["Code"]
            assert str(store) == str(knowledge_base) == f"GetItem answered {code}"


def test_missing_rights_of_our_own_are_not_an_items_error() -> None:
    for error in (
        answered("AccessDeniedException", 403),
        answered("ExpiredToken", 400),
        answered("NoSuchBucket", 404),
        NoCredentialsError(),
    ):
        assert type(raised(store_errors(), error)) is ServiceRefused
        assert type(raised(model_errors("ConverseStream"), error)) is ServiceRefused


def test_refusal_of_textract_itself_is_no_picture_without_text() -> None:
    client = boto3.client("textract", region_name="us-east-1")

    with Stubber(client) as stub:
        stub.add_client_error("detect_document_text", "BadDocumentException", "", 400)
        stub.add_client_error("detect_document_text", "UnsupportedOperation", "", 400)

        assert TextractDetection(client=client).lines(b"?") == ()
        with pytest.raises(ServiceRefused):
            TextractDetection(client=client).lines(b"?")
