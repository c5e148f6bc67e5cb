"""The inspect function as SQS calls it, on S3 and DynamoDB as moto has them."""

import io
import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws
from pydantic import ValidationError

from functions.inspect import handler as function
from stackroom.aws import session
from stackroom.aws.inspections import DynamoInspections
from stackroom.aws.place_maps import S3PlaceMaps
from stackroom.keys import Location, locate
from tests import files
from tests.aws.stores import BUCKET, CONTROL_TABLE, ENVIRONMENT, create_bucket, create_tables
from tests.lambda_context import Context
from tests.records import a_document

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


def message(number: int, body: str) -> dict[str, str]:
    return {"messageId": f"m{number}", "body": body}


def event(key: str, detail_type: str = "Object Created") -> str:
    detail = {"bucket": {"name": BUCKET}, "object": {"key": key, "sequencer": "01"}}
    return json.dumps({"id": f"id of {key}", "detail-type": detail_type, "detail": detail})


@pytest.mark.parametrize(
    ("parses_images", "expected"),
    [
        (
            None,
            "no text was found in the PDF; it may be a scan, and this deployment reads no images",
        ),
        ("false", "no text was found in the PDF; it may be a scan"),
        ("true", None),
    ],
)
def test_a_scanned_pdf_is_a_defect_unless_images_are_parsed(
    s3: Any, monkeypatch: pytest.MonkeyPatch, parses_images: str | None, expected: str | None
) -> None:
    if parses_images is not None:
        monkeypatch.setenv("PARSES_IMAGES", parses_images)
    key = "alice/handbook/scan.pdf"
    etag = put(s3, key, files.scanned_pdf("Seen", "Seen too"))

    assert failures(event(key)) == []

    place_map = S3PlaceMaps(s3, BUCKET).get(document_id(key))
    if expected is None:
        assert reason(key, etag) is None
        assert place_map is not None
        assert place_map.text == ""
        assert place_map.place_of("Seen").page is None
    else:
        assert str(reason(key, etag)).startswith(expected)
        assert place_map is None


def test_a_value_of_parses_images_that_is_none_is_told_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PARSES_IMAGES", "sometimes")

    with pytest.raises(ValidationError, match="parses_images"):
        function.InspectSettings.from_env()


def failures(*bodies: str) -> list[str]:
    records = [message(number, body) for number, body in enumerate(bodies)]
    answer = function.handler({"Records": records}, Context())
    return [each["itemIdentifier"] for each in answer["batchItemFailures"]]


def document_id(key: str) -> str:
    place = locate(key)
    assert isinstance(place, Location)
    return place.document_id


def reason(key: str, etag: str) -> str | None:
    inspections = DynamoInspections(client=session.client("dynamodb"), table=CONTROL_TABLE)
    document = a_document(document_id=document_id(key), etag=etag)
    return inspections.reasons_for([document]).get(document.document_id)


def test_a_pdf_gets_a_place_map_whatever_its_name(s3: Any) -> None:
    key = "alice/research/2026/Q1 résumé (final)+v2 100%.pdf"
    etag = put(s3, key, files.pdf("Meals are 48 euros", "Trains go first class"))

    failed = failures(event(key))

    place_map = S3PlaceMaps(s3, BUCKET).get(document_id(key))
    assert failed == []
    assert place_map is not None
    assert (place_map.etag, place_map.place_of("Trains go first class").page) == (
        etag,
        2,
    )
    assert reason(key, etag) is None


def test_a_defect_is_kept_for_the_version_that_has_it(s3: Any) -> None:
    key = "alice/handbook/secret.pdf"
    etag = put(s3, key, files.encrypted_pdf())

    failed = failures(event(key))

    assert failed == []
    assert reason(key, etag) == "the PDF is encrypted; remove its password and upload it again"
    assert reason(key, "of another version") is None


def test_malformed_messages_fail_alone(s3: Any) -> None:
    bodies = ["", "not json", "{}", '{"detail": {}}', "[]"]
    etag = put(s3, "alice/handbook/a.docx", files.word_that_is_no_zip())

    failed = failures(*bodies, event("alice/handbook/a.docx"))

    assert failed == ["m0", "m1", "m2", "m3", "m4"]
    assert str(reason("alice/handbook/a.docx", etag)).startswith("the file is not a DOCX")


def test_a_late_event_of_a_removed_file_removes_its_place_map(s3: Any) -> None:
    key = "alice/handbook/travel.pdf"
    put(s3, key, files.pdf("Meals are 48 euros"))
    failures(event(key))
    s3.delete_object(Bucket=BUCKET, Key=key)

    failed = failures(event(key))  # says "created", and is wrong

    assert failed == []
    assert S3PlaceMaps(s3, BUCKET).get(document_id(key)) is None


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


def test_what_was_inspected_is_logged_and_counted(
    s3: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = io.StringIO()  # the logger would keep an earlier test's stdout
    monkeypatch.setattr(function.logger.registered_handler, "stream", log)
    put(s3, "alice/handbook/secret.pdf", files.encrypted_pdf())

    failures(event("alice/handbook/secret.pdf"))

    (inspected,) = (json.loads(line) for line in log.getvalue().splitlines())
    (counted,) = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert inspected["message"] == "file inspected"
    assert inspected["outcome"] == "defective"
    assert inspected["correlation_id"] == "id of alice/handbook/secret.pdf"
    assert counted["DefectiveFiles"] == [1.0]
