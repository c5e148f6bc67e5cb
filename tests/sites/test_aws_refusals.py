"""AWS's refusals reach an operator as one sentence with what to do."""

import pytest
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    ReadTimeoutError,
)

from stackroom.aws.error_mapping import store_errors
from stackroom.errors import StackroomError
from stackroom_cli.sites.aws_refusals import sentence

DENIAL = "User: arn:aws:iam::1:user/ann is not authorized to perform: dynamodb:Query on resource: x"


def of_service(code: str, message: str = "no", operation: str = "GetThing") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, operation)


REFUSALS = {
    "right": (of_service("AccessDeniedException", DENIAL), "don't allow dynamodb:Query; use an"),
    "expired": (of_service("ExpiredTokenException"), "have expired; sign in to AWS again"),
    "elsewhere": (of_service("ResourceNotFoundException"), "does not exist. Check the name"),
    "disk": (of_service("InsufficientStorage", "The disk is full: make room"), "make room"),
    "none": (NoCredentialsError(), "needs an operator's AWS credentials"),
    "no answer": (
        ReadTimeoutError(endpoint_url="https://x"),
        "stackroom doctor to find the server",
    ),
}


@pytest.mark.parametrize(("error", "told"), REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_is_one_sentence_with_what_to_do(
    error: ClientError | BotoCoreError, told: str
) -> None:
    text = sentence(error)

    assert text is not None
    assert told in text
    assert "\n" not in text


def test_our_own_error_tells_the_refusal_that_it_comes_from() -> None:
    with pytest.raises(StackroomError) as raised, store_errors():
        raise of_service("AccessDeniedException", DENIAL)

    text = sentence(raised.value)

    assert text is not None
    assert "dynamodb:Query" in text


@pytest.mark.parametrize("error", [ValueError("x"), of_service("ValidationException")])
def test_other_error_is_raised_unchanged(error: Exception) -> None:
    assert sentence(error) is None
