"""Waking executions, against botocore's own model of Step Functions."""

import json
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ConnectionClosedError
from botocore.stub import Stubber
from moto.core.botocore_stubber import MockRawResponse

from stackroom.aws.stepfunctions.executions import StepFunctionsTaskTokens
from tests.aws.conftest import TWICE

SERVICE = "stepfunctions"  # of the fixture `client`


@pytest.fixture
def turns(client: Any) -> StepFunctionsTaskTokens:
    return StepFunctionsTaskTokens(client=client)


def test_wake_reports_admission_and_is_false_for_a_token_no_longer_valid(
    turns: StepFunctionsTaskTokens, stubber: Stubber
) -> None:
    told = {"taskToken": "token", "output": json.dumps({"admitted": True})}
    stubber.add_response("send_task_success", {}, told)
    for code in ("TaskTimedOut", "TaskDoesNotExist", "InvalidToken"):
        stubber.add_client_error("send_task_success", code, "gone", 400)

    assert [turns.wake("token") for _ in range(4)] == [True, False, False, False]


def test_a_run_that_the_first_of_two_calls_may_have_woken_counts_as_woken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda _seconds: None))
    client: Any = boto3.client("stepfunctions", config=TWICE)
    attempts: list[str] = []

    def answer(request: Any, **_: Any) -> AWSResponse:
        attempts.append(request.url)
        if len(attempts) == 1:
            raise ConnectionClosedError(endpoint_url=request.url)
        gone = json.dumps({"__type": "TaskTimedOut", "message": "gone"})
        return AWSResponse(request.url, 400, HTTPHeaders(), MockRawResponse(gone))

    client.meta.events.register("before-send", answer)

    assert StepFunctionsTaskTokens(client=client).wake("token")
    assert len(attempts) == 2
