"""Recorded calls, and no recording unless somebody asked for it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import botocore.client
import botocore.signers
import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from stackroom_local.function_processes import process_hook
from stackroom_local.function_processes.process_hook import run_hook
from tests.campaigns.permissions import aws_call_recorder
from tests.campaigns.permissions.aws_call_recorder import VARIABLE, record

OBJECT = {"Bucket": "documents", "Key": "alice/a.txt"}

CLIENT: Any = botocore.client.BaseClient  # the stubs leave out what clients call within


@pytest.fixture
def recorded_calls() -> Iterator[list[dict[str, Any]]]:
    calls: list[dict[str, Any]] = []
    end = record(calls.append)
    yield calls
    end()


def s3() -> Any:
    return boto3.client(
        "s3", region_name="us-east-1", aws_access_key_id="none", aws_secret_access_key="none"
    )


def test_call_is_recorded_without_its_body_and_with_its_error(
    recorded_calls: list[dict[str, Any]],
) -> None:
    client = s3()
    with Stubber(client) as stubbed:
        stubbed.add_response("put_object", {})
        client.put_object(**OBJECT, Body=b"the text")
        stubbed.add_client_error("get_object", "NoSuchKey")
        with pytest.raises(ClientError, match="NoSuchKey"):
            client.get_object(**OBJECT)

    call, failed = recorded_calls
    assert failed["error"] == "NoSuchKey"
    assert (call["service"], call["operation"]) == ("s3", "PutObject")
    assert call["parameters"] == OBJECT
    assert "error" not in call


def test_signed_link_is_recorded_as_a_call(recorded_calls: list[dict[str, Any]]) -> None:
    client = s3()

    client.generate_presigned_url("get_object", Params=OBJECT, ExpiresIn=60)
    form = client.generate_presigned_post(**OBJECT, ExpiresIn=60)

    assert [(each["operation"], each["signed"]) for each in recorded_calls] == [
        ("GetObject", True),
        ("PutObject", True),
    ]
    assert all(each["parameters"] == OBJECT for each in recorded_calls)
    assert form["fields"]["key"] == OBJECT["Key"]


def test_a_process_that_was_asked_to_writes_a_line_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner, name in (
        (botocore.client.BaseClient, "_make_api_call"),
        (botocore.signers, "generate_presigned_url"),
        (botocore.signers, "generate_presigned_post"),
    ):
        monkeypatch.setattr(owner, name, getattr(owner, name))  # put back after the test
    before = CLIENT._make_api_call
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    run_hook("stackroom-retrieve")
    assert CLIENT._make_api_call is before, "nobody asked"
    monkeypatch.setenv(process_hook.VARIABLE, aws_call_recorder.__name__)
    run_hook("stackroom-retrieve")
    client = s3()

    client.generate_presigned_url("get_object", Params={**OBJECT, "VersionId": "on two\nlines"})
    client.generate_presigned_url("get_object", Params=OBJECT)

    [file] = tmp_path.iterdir()
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [each["function"] for each in lines] == ["stackroom-retrieve"] * 2
    assert file.name.startswith("stackroom-retrieve-")
