"""What passes becomes `Unavailable`; what doesn't goes on as it is."""

from contextlib import AbstractContextManager
from typing import Any

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    ReadTimeoutError,
)

from stackroom.aws.translation import THROTTLES, knowledge_base_errors, store_errors
from stackroom.errors import (
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    ServiceRefused,
    StackroomError,
    StoreUnavailable,
)

TRANSLATIONS = [store_errors, knowledge_base_errors]
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


@pytest.mark.parametrize("code", sorted(THROTTLES))
def test_throttles_pass(code: str) -> None:
    assert type(raised(store_errors(), answered(code, 400))) is StoreUnavailable
    assert type(raised(knowledge_base_errors(), answered(code, 429))) is KnowledgeBaseThrottled


@pytest.mark.parametrize(("code", "status"), [("InternalServerError", 500), ("anything", 504)])
def test_failures_of_the_service_pass(code: str, status: int) -> None:
    store = raised(store_errors(), answered(code, status))
    knowledge_base = raised(knowledge_base_errors(), answered(code, status))

    assert type(store) is StoreUnavailable
    assert type(knowledge_base) is KnowledgeBaseUnavailable
    assert str(store) == str(knowledge_base) == f"GetItem answered {code}"


@pytest.mark.parametrize("error", UNANSWERED, ids=lambda error: type(error).__name__)
def test_calls_that_were_not_answered_pass(error: Exception) -> None:
    assert type(raised(store_errors(), error)) is StoreUnavailable
    assert type(raised(knowledge_base_errors(), error)) is KnowledgeBaseUnavailable


@pytest.mark.parametrize(
    "error",
    [
        answered("AccessDeniedException", 403),
        answered("ExpiredToken", 400),
        answered("NoSuchBucket", 404),
        NoCredentialsError(),
    ],
    ids=str,
)
def test_what_is_wrong_with_our_own_rights_is_no_items_fault(error: Exception) -> None:
    assert type(raised(store_errors(), error)) is ServiceRefused


@pytest.mark.parametrize("translation", TRANSLATIONS)
@pytest.mark.parametrize(
    "error",
    [
        answered("ResourceNotFoundException", 404),
        answered("ConditionalCheckFailedException", 400),
        ParamValidationError(report="Missing required parameter"),
        ValueError("ours"),
    ],
    ids=str,
)
def test_what_does_not_pass_is_left_as_it_is(translation: Any, error: Exception) -> None:
    with pytest.raises(type(error)) as caught, translation():
        raise error

    assert caught.value is error
