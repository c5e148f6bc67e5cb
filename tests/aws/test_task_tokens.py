"""Waking executions, against botocore's own model of Step Functions."""

import json
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ConnectionClosedError
from moto.core.botocore_stubber import MockRawResponse

from stackroom.aws.stepfunctions.executions import StepFunctionsTaskTokens
from tests.aws.conftest import TWICE


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
