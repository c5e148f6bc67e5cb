"""The inspect function as SQS calls it, on S3 and DynamoDB as moto has them."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from functions.inspect import handler as function
from simulator.tests import files
from stackroom.aws import session
from stackroom.aws.dynamodb.inspection_records import DynamoInspections
from stackroom.aws.s3.document_texts import S3DocumentTexts
from stackroom.model.keys import Location, TextName, locate
from stackroom.model.repositories import Inspected
from stackroom.text.gaps import UNREAD
from stackroom.text.place_map import PlaceMap
from tests.aws.stores import BUCKET, CONTROL_TABLE, ENVIRONMENT, create_bucket, create_tables
from tests.functions.printed import listening
from tests.support.lambda_context import Context
from tests.support.records import a_document

pytestmark = pytest.mark.processes


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    # Nobody asks for a run here, since no document is on record.
    monkeypatch.setenv("STATE_MACHINE_ARN", "arn:aws:states:us-east-1:123456789012:stateMachine:i")
    monkeypatch.setenv("KB_POOL", "[]")
    _forget()
    with mock_aws():
        client = boto3.client("s3")
        create_bucket(client)
        create_tables(boto3.client("dynamodb"))
        yield client
    _forget()


def _forget() -> None:
    """Clear the cached clients and service, which outlive a test's moto account."""
    session.client.cache_clear()
    session._session.cache_clear()
    function.inspection.cache_clear()
    function.settings.cache_clear()


def put(s3: Any, key: str, body: bytes) -> str:
    return str(s3.put_object(Bucket=BUCKET, Key=key, Body=body)["ETag"]).strip('"')


def event(key: str, detail_type: str = "Object Created") -> str:
    detail = {"bucket": {"name": BUCKET}, "object": {"key": key, "sequencer": "01"}}
    return json.dumps({"id": f"id of {key}", "detail-type": detail_type, "detail": detail})


def failures(*bodies: str) -> list[str]:
    source = "arn:aws:sqs:us-east-1:123456789012:inspections"
    records = [
        {"messageId": f"m{at}", "body": body, "eventSourceARN": source}
        for at, body in enumerate(bodies)
    ]
    answer = function.handler({"Records": records}, Context(milliseconds_left=660_000))
    return [each["itemIdentifier"] for each in answer["batchItemFailures"]]


@pytest.mark.parametrize("parses_images", [None, "true"])
def test_scanned_pdf_is_a_defect_unless_images_are_parsed(
    s3: Any, monkeypatch: pytest.MonkeyPatch, parses_images: str | None
) -> None:
    if parses_images is not None:
        monkeypatch.setenv("PARSES_IMAGES", parses_images)
    key = "alice/handbook/scan.pdf"
    etag = put(s3, key, files.scanned_pdf("Seen", "Seen too"))

    assert failures(event(key)) == []

    places = places_of(s3, key, etag)
    if parses_images:
        assert reason(key, etag) is None
        assert places is not None
        assert places.text == ""
        assert places.place_of("Seen").page is None
    else:
        assert "it may be a scan, and this deployment reads no images" in str(reason(key, etag))
        assert places is None


def document_id(key: str) -> str:
    place = locate(key)
    assert isinstance(place, Location)
    return place.document_id


def found(key: str, etag: str) -> Inspected | None:
    inspections = DynamoInspections(client=session.client("dynamodb"), table=CONTROL_TABLE)
    document = a_document(document_id=document_id(key), etag=etag)
    return inspections.results_for([document]).get(document.document_id)


def reason(key: str, etag: str) -> str | None:
    result = found(key, etag)
    return None if result is None else result.reason


def places_of(s3: Any, key: str, etag: str) -> PlaceMap | None:
    """Return the key of the text that was read from this version."""
    result, place = found(key, etag), locate(key)
    assert isinstance(place, Location)
    if result is None or result.text_id is None:
        return None
    name = TextName(place.user_id, place.catalog_id, place.document_id, result.text_id)
    return S3DocumentTexts(s3, BUCKET).get(name)


def test_sound_pdf_gets_a_text_and_defective_one_a_counted_reason(
    s3: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = listening([function.logger], monkeypatch, capsys)
    key, secret = "alice/research/2026/Q1 résumé (final)+v2 100%.pdf", "alice/handbook/secret.pdf"
    etag = put(s3, key, files.pdf("Meals are 48 euros", "Trains go first class"))
    of_secret = put(s3, secret, files.encrypted_pdf())

    failed = failures(event(key), event(secret))

    places = places_of(s3, key, etag)
    assert failed == []
    assert places is not None
    assert places.place_of("Trains go first class").page == 2
    assert reason(key, etag) is None
    text = reason(secret, of_secret)
    assert text == "the PDF is encrypted; remove its password and upload it again"
    assert reason(secret, "of another version") is None
    lines = {line["correlation_id"]: line for line in printed.lines("file inspected")}
    assert lines[f"id of {secret}"]["outcome"] == "defective"
    assert [each.values for each in printed.figures("DefectiveFiles")] == [(1.0,)]


def test_malformed_messages_fail_alone(s3: Any) -> None:
    bodies = ["", "not json", "{}", '{"detail": {}}', "[]"]
    etag = put(s3, "alice/handbook/a.docx", files.word_that_is_no_zip())

    failed = failures(*bodies, event("alice/handbook/a.docx"))

    assert failed == ["m0", "m1", "m2", "m3", "m4"]
    assert str(reason("alice/handbook/a.docx", etag)).startswith("the file is not a DOCX")


def test_crashing_reader_fails_no_message_and_is_counted(
    s3: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = listening([function.logger], monkeypatch, capsys)
    monkeypatch.setenv("INSPECT_SECONDS_PER_FILE", "0.01")
    etag = put(s3, "alice/handbook/secret.pdf", files.encrypted_pdf())

    failed = failures(event("alice/handbook/secret.pdf"))

    result = found("alice/handbook/secret.pdf", etag)
    assert failed == []
    assert result is not None
    assert (result.reason, result.text_id, result.gaps) == (None, None, (UNREAD,))
    assert [each.values for each in printed.figures("UndecidedFiles")] == [(1.0,)]


def test_message_is_left_where_time_is_short_for_three_readings(
    s3: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSPECT_SECONDS_PER_FILE", "230")
    put(s3, "alice/handbook/notes.txt", b"Meals are 48 euros")

    assert failures(event("alice/handbook/notes.txt")) == ["m0"]


def test_message_is_redelivered_if_a_store_does_not_answer(s3: Any) -> None:
    put(s3, "alice/handbook/notes.docx", b"no zip")
    session.client("dynamodb").delete_table(TableName=CONTROL_TABLE)

    failed = failures(event("alice/handbook/notes.docx"), event("alice/handbook/setup.exe"))

    assert failed == ["m0"]
