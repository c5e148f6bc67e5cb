"""Objects that an agent reads, and the queue that its answers go to."""

import io
import json
from typing import Any

import boto3
import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from stackroom.aws.s3.foreign_objects import S3Objects, SqsAnswers
from stackroom.aws.sqs.object_events import SqsInspectionRequests
from stackroom.errors import ObjectRefused, ServiceRefused, StackroomError, StoreUnavailable
from tests.aws.conftest import ONCE

SERVICE = "s3"  # of the fixture `client`

NAMED = {"Bucket": "b", "Key": "k.pdf"}
HEAD = {"ContentLength": 3, "ETag": '"one"'}


def test_an_object_is_read_as_it_was_when_its_size_was_asked_for(client: Any) -> None:
    body = StreamingBody(io.BytesIO(b"abc"), 3)

    with Stubber(client) as stub:
        stub.add_response("head_object", HEAD, NAMED)
        stub.add_response("get_object", {"Body": body}, {**NAMED, "IfMatch": '"one"'})
        read = S3Objects(client=client).read("b", "k.pdf", limit=3)

    assert read == b"abc"


def test_reason_of_a_refused_get_is_reported(client: Any) -> None:
    refusals: list[tuple[str, int, type[StackroomError], str]] = [
        ("PreconditionFailed", 412, StoreUnavailable, "GetObject answered PreconditionFailed"),
        ("AccessDenied", 403, ObjectRefused, "'k.pdf': S3 answered AccessDenied"),
        ("NoSuchKey", 404, ObjectRefused, "not in bucket 'b', or may not be read"),
        ("ExpiredToken", 400, ServiceRefused, "ExpiredToken"),
    ]
    with Stubber(client) as stub:
        for code, status, error, problem in refusals:
            stub.add_response("head_object", HEAD, NAMED)
            stub.add_client_error("get_object", code, "no", status)
            with pytest.raises(error, match=problem):
                S3Objects(client=client).read("b", "k.pdf", limit=3)


def test_oversized_missing_or_forbidden_object_is_refused(client: Any) -> None:
    objects = S3Objects(client=client)
    with Stubber(client) as stub:
        stub.add_response("head_object", HEAD, NAMED)
        with pytest.raises(ObjectRefused, match="3 bytes; allowed are at most 2"):
            objects.read("b", "k.pdf", limit=2)
        for status in (404, 403):  # in the same words
            stub.add_client_error("head_object", str(status), "", status)
            with pytest.raises(ObjectRefused, match="not in bucket 'b', or may not be read"):
                objects.read("b", "k.pdf", limit=3)


def test_a_name_that_no_bucket_can_have_is_refused(client: Any) -> None:
    for bucket in ("no bucket", "arn:aws:s3:::b"):
        with pytest.raises(ObjectRefused, match=r"'k\.pdf': no bucket can be called"):
            S3Objects(client=client).read(bucket, "k.pdf", limit=3)


@pytest.mark.parametrize("name", ["answers", "answers.fifo"])
def test_an_answer_is_sent_to_either_kind_of_queue(aws: None, name: str) -> None:
    client = boto3.client("sqs", config=ONCE)
    kind: Any = {"FifoQueue": "true"} if name.endswith(".fifo") else {}
    url = client.create_queue(QueueName=name, Attributes=kind)["QueueUrl"]

    SqsAnswers(client=client, url=url).send(json.dumps({"a": "ä"}), message_id="m-1")

    [message] = client.receive_message(QueueUrl=url)["Messages"]
    assert message["Body"] == json.dumps({"a": "ä"})


def test_request_for_a_reading_that_sqs_does_not_take_is_an_error() -> None:
    client = boto3.client("sqs", config=ONCE)
    requests = SqsInspectionRequests(client=client, url="https://sqs.test/q", bucket="docs")
    refused = {"Id": "1", "SenderFault": False, "Code": "InternalError"}

    with Stubber(client) as stub:
        stub.add_response("send_message_batch", {"Successful": [], "Failed": [refused]})
        with pytest.raises(StoreUnavailable, match="message not taken"):
            requests.ask("alice/research/a.txt")
