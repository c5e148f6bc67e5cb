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
from stackroom.aws.s3.place_maps import S3PlaceMaps
from stackroom.documents.keys import Location, locate
from tests.aws.stores import BUCKET, CONTROL_TABLE, ENVIRONMENT, create_bucket, create_tables
from tests.functions.printed import listening
from tests.support.lambda_context import Context
from tests.support.records import a_document

pytestmark = pytest.mark.processes


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    _forget()
    with mock_aws():
        client = boto3.client("s3")
        create_bucket(client)
        create_tables(boto3.client("dynamodb"))
        yield client
    _forget()


def _forget() -> None:
    """Clients and the service live as long as a process; a test's world does not."""
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
    records = [{"messageId": f"m{at}", "body": body} for at, body in enumerate(bodies)]
    answer = function.handler({"Records": records}, Context())
    return [each["itemIdentifier"] for each in answer["batchItemFailures"]]


@pytest.mark.parametrize("parses_images", [None, "true"])
def test_a_scanned_pdf_is_a_defect_unless_images_are_parsed(
    s3: Any, monkeypatch: pytest.MonkeyPatch, parses_images: str | None
) -> None:
    if parses_images is not None:
        monkeypatch.setenv("PARSES_IMAGES", parses_images)
    key = "alice/handbook/scan.pdf"
    etag = put(s3, key, files.scanned_pdf("Seen", "Seen too"))

    assert failures(event(key)) == []

    place_map = S3PlaceMaps(s3, BUCKET).get(document_id(key))
    if parses_images:
        assert reason(key, etag) is None
        assert place_map is not None
        assert place_map.text == ""
        assert place_map.place_of("Seen").page is None
    else:
        assert "it may be a scan, and this deployment reads no images" in str(reason(key, etag))
        assert place_map is None


def document_id(key: str) -> str:
    place = locate(key)
    assert isinstance(place, Location)
    return place.document_id


def reason(key: str, etag: str) -> str | None:
    inspections = DynamoInspections(client=session.client("dynamodb"), table=CONTROL_TABLE)
    document = a_document(document_id=document_id(key), etag=etag)
    found = inspections.results_for([document]).get(document.document_id)
    return None if found is None else found.reason


def test_sound_pdf_gets_a_place_map_and_defective_one_a_counted_reason(
    s3: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = listening([function.logger], monkeypatch, capsys)
    key, secret = "alice/research/2026/Q1 résumé (final)+v2 100%.pdf", "alice/handbook/secret.pdf"
    etag = put(s3, key, files.pdf("Meals are 48 euros", "Trains go first class"))
    of_secret = put(s3, secret, files.encrypted_pdf())

    failed = failures(event(key), event(secret))

    place_map = S3PlaceMaps(s3, BUCKET).get(document_id(key))
    assert failed == []
    assert place_map is not None
    assert (place_map.text_id, place_map.place_of("Trains go first class").page) == (etag, 2)
    assert reason(key, etag) is None
    told = reason(secret, of_secret)
    assert told == "the PDF is encrypted; remove its password and upload it again"
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


def test_a_crashing_reader_fails_no_message(s3: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_SECONDS_PER_FILE", "0.01")
    etag = put(s3, "alice/handbook/secret.pdf", files.encrypted_pdf())

    failed = failures(event("alice/handbook/secret.pdf"))

    assert failed == []
    assert reason("alice/handbook/secret.pdf", etag) is None


def test_a_store_that_does_not_answer_has_the_message_delivered_again(s3: Any) -> None:
    put(s3, "alice/handbook/notes.docx", b"no zip")
    session.client("dynamodb").delete_table(TableName=CONTROL_TABLE)

    failed = failures(event("alice/handbook/notes.docx"), event("alice/handbook/gone.txt"))

    assert failed == ["m0"]
