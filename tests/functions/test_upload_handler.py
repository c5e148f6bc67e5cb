"""Tests of the upload handler as SQS calls it: its answers, log lines and metrics."""

import json
from typing import Any

import pytest
from botocore.stub import Stubber

from stackroom.aws import session
from stackroom.aws.s3.document_bucket import S3DocumentBucket
from stackroom.errors import StoreUnavailable
from tests.functions.pipeline import KEY, Pipeline, body, place_of
from tests.functions.printed import Figure, Printed

MINE = {"service": "upload_handler"}
MARK = "not-for-the-log"
MALFORMED = [
    "",
    MARK,
    "[]",
    "{}",
    json.dumps({"id": MARK, "detail": {}}),
    body(key="", note=MARK),
    body().replace(f'"{KEY}"', f'["{MARK}"]'),
]


def figure(name: str, *values: float, unit: str = "Count") -> Figure:
    return Figure(name=name, values=values, unit=unit, dimensions=MINE)


def event_id(message: str) -> str:
    return str(json.loads(message)["id"])


@pytest.mark.parametrize("reader_first", [False, True])
def test_upload_starts_a_run_once_its_file_was_read_too(
    pipeline: Pipeline, *, reader_first: bool
) -> None:
    pipeline.put()
    both = [pipeline.deliver, pipeline.read]
    first, second = reversed(both) if reader_first else both

    failed = [first(body())]
    early = pipeline.executions()
    failed.append(second(body()))

    document = pipeline.document()
    assert failed == [[], []]
    assert (early, pipeline.executions()) == ([], [f"{place_of().catalog_id}-1"])
    assert document is not None
    assert (document.unread, document.text_id is None) == (False, False)


def test_upload_and_removal_are_logged(pipeline: Pipeline, printed: Printed) -> None:
    pipeline.put()
    message = body()

    failed = pipeline.deliver(message)

    line = printed.line("upload reconciled")
    assert failed == []
    assert (line["level"], line["service"]) == ("INFO", "upload_handler")
    assert (line["event_type"], line["sequencer"]) == ("Object Created", "0A1B")
    assert (line["outcome"], line["document_id"]) == ("registered", place_of().document_id)
    assert line["correlation_id"] == event_id(message)
    assert printed.figures() == [figure("UploadEvents", 1)]

    pipeline.remove()
    pipeline.deliver(body(kind="Object Deleted"))

    document = pipeline.document()
    line = printed.lines("upload reconciled")[-1]
    assert document is not None
    assert document.status == "deleting"
    assert (line["event_type"], line["outcome"]) == ("Object Deleted", "deleting")


def test_rejected_upload_is_logged_with_its_reason_and_counted(
    pipeline: Pipeline, printed: Printed
) -> None:
    key = "alice/research/setup.exe"
    pipeline.put(key)

    failed = pipeline.deliver(body(key))

    line = printed.line("upload reconciled")
    document = pipeline.document(key)
    assert failed == []
    assert document is not None
    assert (line["outcome"], line["reason"]) == ("rejected", document.status_reason)
    assert printed.figures("RejectedUploads") == [figure("RejectedUploads", 1)]
    assert printed.figures("UploadEvents") == [figure("UploadEvents", 1)]
    assert pipeline.executions() == []


def test_failure_of_one_key_fails_only_its_own_messages(
    pipeline: Pipeline, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All keys are handled in parallel."""
    keys = [f"alice/research/{number}.txt" for number in range(9)]
    for key in keys:
        pipeline.put(key)
    head = S3DocumentBucket.head

    def fail(bucket: S3DocumentBucket, key: str) -> Any:
        if key == keys[3]:
            raise StoreUnavailable("HeadObject", "SlowDown")
        return head(bucket, key)

    monkeypatch.setattr(S3DocumentBucket, "head", fail)
    again = body(keys[3])
    failed = pipeline.deliver(*map(body, keys), again)

    lines = printed.lines("message failed")
    assert failed == ["m3", "m9"]
    assert [(line["message_id"], line["level"]) for line in lines] == [
        ("m3", "ERROR"),
        ("m9", "ERROR"),
    ]
    assert lines[1]["correlation_id"] == event_id(again)
    assert [pipeline.document(key) is None for key in keys] == [key == keys[3] for key in keys]
    assert printed.figures() == [figure("UploadEvents", *[1] * 8)]


def test_batch_requests_one_run_per_catalog_and_reads_each_key_once(
    pipeline: Pipeline, printed: Printed
) -> None:
    keys = ["alice/research/a.txt", "alice/research/b.txt", "alice/law/c.txt"]
    for key in keys:
        pipeline.put(key)
    first, again = body(keys[0]), body(keys[0])
    never_there = body("alice/research/d.txt", kind="Object Deleted")
    for key in keys:
        pipeline.read(body(key))

    failed = pipeline.deliver(first, again, never_there, *map(body, keys[1:]))

    document = pipeline.document(keys[0])
    lease = pipeline.leases.get(place_of(keys[0]).catalog_id)
    outcomes = {
        line["correlation_id"]: line["outcome"] for line in printed.lines("upload reconciled")
    }
    assert failed == []
    assert [outcomes[event_id(each)] for each in (first, again, never_there)] == [
        "registered",
        "registered",
        "ignored",
    ]
    assert document is not None
    assert document.correlation_id == event_id(first)
    assert lease is not None
    assert lease.requested == 1
    assert pipeline.executions() == sorted({f"{place_of(key).catalog_id}-1" for key in keys})
    assert printed.figures("UploadEvents") == [figure("UploadEvents", *[1] * 5)]


def test_malformed_messages_fail_alone_and_are_not_logged(
    pipeline: Pipeline, printed: Printed
) -> None:
    pipeline.put()
    detail: Any = json.loads(body())["detail"]
    good = body(source=MARK, detail={**detail, "requester": MARK})

    failed = pipeline.deliver(good, *MALFORMED)
    again = pipeline.deliver("malformed")

    lines = printed.lines("message failed")
    assert failed == [f"m{number}" for number in range(1, len(MALFORMED) + 1)]
    assert again == ["m0"]
    assert [line["message_id"] for line in lines] == [*failed, *again]
    assert {line["exception_name"] for line in lines} == {"MalformedEvent"}
    # No other message of the batch and no earlier invocation.
    assert {line.get("correlation_id") for line in lines} == {None}
    assert printed.line("upload reconciled")["correlation_id"] == event_id(good)
    assert printed.figures() == [figure("UploadEvents", 1)]
    assert MARK not in printed.log.getvalue()
    assert '"Records"' not in printed.log.getvalue()


def test_messages_whose_run_could_not_start_are_redelivered(
    pipeline: Pipeline, printed: Printed
) -> None:
    pipeline.put()
    pipeline.put("alice/law/c.txt")
    pipeline.read(body(), body("alice/law/c.txt"))

    with Stubber(session.client("stepfunctions")) as stub:
        stub.add_client_error("start_execution", "ThrottlingException", http_status_code=400)
        stub.add_response("start_execution", {"executionArn": "arn", "startDate": 0})
        failed = pipeline.deliver(body(), body("alice/law/c.txt"), body())
    again = pipeline.deliver(body())

    line = printed.line("asking for a run failed")
    assert (failed, again) == (["m0", "m2"], [])
    assert line["catalog_id"] == place_of(KEY).catalog_id
    assert line["exception_name"] == "StoreUnavailable"
    assert pipeline.executions() == [f"{place_of().catalog_id}-1"]
