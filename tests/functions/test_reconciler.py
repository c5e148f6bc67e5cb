"""Tests of the reconciler as its schedule calls it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from moto import mock_aws

import functions.reconciler.handler as reconciler
from bedrock_kb_simulator.service_errors import ServiceError
from stackroom.aws import session
from stackroom.aws.dynamodb.bookmark import DynamoBookmark
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.aws.dynamodb.inspection_records import DynamoInspections
from stackroom.clock import utc_now
from stackroom.errors import CatalogNotFound
from stackroom.model.keys import Location, locate
from stackroom.model.records import Document, DocumentStatus
from stackroom.model.repositories import Inspected
from stackroom.runs.run_leases import SharedSources
from tests.aws.stores import (
    BUCKET,
    CATALOG_TABLE,
    CONTROL_TABLE,
    ENVIRONMENT,
    create_bucket,
    create_tables,
)
from tests.functions.printed import Printed, listening
from tests.support.lambda_context import Context
from tests.workflow.answering import answered

MOTO: Any = {"stepfunctions": {"execute_state_machine": False}}
WAITING = '{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 9, "End": true}}}'
KEY = "alice/research/report.txt"


@dataclass
class Hurried(Context):
    """A Lambda context whose time is up after `pieces` comparisons."""

    pieces: int = 1_000
    asked: list[None] = field(default_factory=list)

    def get_remaining_time_in_millis(self) -> int:
        self.asked.append(None)
        return 900_000 if len(self.asked) <= self.pieces else 59_999


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """AWS ten minutes after what the tests put into it, without knowledge bases."""
    for name, value in {**ENVIRONMENT, "KB_POOL": "[]"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "reconciler")
    # An empty pool has no shared data source either.
    monkeypatch.setattr(SharedSources, "join_if_full", lambda *_: None)
    _forget()
    with mock_aws(config=MOTO):
        create_tables(session.client("dynamodb"))
        create_bucket(session.client("s3"))
        machine = session.client("stepfunctions").create_state_machine(
            name="ingest", definition=WAITING, roleArn="arn:aws:iam::123456789012:role/ingest"
        )
        monkeypatch.setenv("STATE_MACHINE_ARN", machine["stateMachineArn"])
        inspections = session.client("sqs").create_queue(QueueName="inspections")
        monkeypatch.setenv("INSPECTIONS_QUEUE_URL", inspections["QueueUrl"])
        yield
    _forget()


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stackroom.reconciler.mending.Mending.is_settled", lambda *_, **__: True)


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printed:
    return listening([reconciler.logger], monkeypatch, capsys)


def _forget() -> None:
    reconciler.use_cases.cache_clear()
    session.client.cache_clear()
    session._session.cache_clear()


def put(*keys: str) -> None:
    for key in keys:
        session.client("s3").put_object(Bucket=BUCKET, Key=key, Body=b"some text")


def read(*keys: str) -> None:
    """Record that the files were read, though their documents don't know it."""
    results = DynamoInspections(client=session.client("dynamodb"), table=CONTROL_TABLE)
    for key in keys:
        head = session.client("s3").head_object(Bucket=BUCKET, Key=key)
        found = Inspected(version_id=head.get("VersionId"))
        results.record(place_of(key).document_id, head["ETag"].strip('"'), found)


def place_of(key: str) -> Location:
    place = locate(key)
    assert isinstance(place, Location)
    return place


def reconcile(context: Context | None = None, **since: object) -> dict[str, Any]:
    event = {"action": "reconcile", **since}
    answer: dict[str, Any] = reconciler.handler(event, context or Hurried())
    return answer


def document(key: str = KEY) -> Document:
    place = place_of(key)
    documents = DynamoDocuments(client=session.client("dynamodb"), table=CATALOG_TABLE)
    found = documents.get(place.catalog_id, place.document_id)
    assert found is not None
    return found


def executions() -> int:
    (machine,) = session.client("stepfunctions").list_state_machines()["stateMachines"]
    listed = session.client("stepfunctions").list_executions(
        stateMachineArn=machine["stateMachineArn"]
    )
    return len(listed["executions"])


def test_lost_upload_is_registered_run_and_counted_only_once(
    world: None, later: None, printed: Printed
) -> None:
    put(KEY, "loose.txt", "alice/research/never.txt.metadata.json")
    read(KEY)

    first, second = reconcile(), reconcile()

    kinds = {"object_without_record": 2, "sidecar_without_object": 1}
    assert first == {"finished": True, "found": kinds}
    assert second == {"finished": True, "found": {}}
    assert document().status is DocumentStatus.PENDING
    assert executions() == 1
    [line] = [each for each in printed.lines("discrepancy") if each["what"] == KEY]
    assert (line["kind"], line["outcome"]) == ("object_without_record", "mended")
    findings = printed.figures("ReconcilerFindings")
    by_kind = {
        each.dimensions["kind"]: each.values for each in findings if "kind" in each.dimensions
    }
    assert by_kind == {"object_without_record": (2,), "sidecar_without_object": (1,)}
    altogether = [each for each in findings if each.dimensions == {"service": "reconciler"}]
    assert [(each.values, each.unit) for each in altogether] == [((3,), "Count"), ((0,), "Count")]


def test_next_invocation_continues_where_the_time_ran_out(
    world: None, later: None, printed: Printed
) -> None:
    put(KEY)
    read(KEY)
    bookmark = DynamoBookmark(client=session.client("dynamodb"), table=CONTROL_TABLE)

    first = reconcile(Hurried(pieces=1))
    place = bookmark.read()
    second = reconcile(when_due=True)

    assert first == {"finished": False, "found": {}}
    assert place is not None
    assert second == {"finished": True, "found": {"object_without_record": 1}}
    assert bookmark.read() is None


def test_when_no_round_is_due_a_lost_upload_waits_for_the_next(
    world: None, later: None, printed: Printed
) -> None:
    first = reconcile(when_due=True)
    put(KEY)
    read(KEY)

    assert first == {"finished": True, "found": {}}
    assert reconcile(when_due=True) == {"finished": True, "found": {}}
    assert reconcile()["found"] == {"object_without_record": 1}


def test_operator_deletes_a_catalog_of_its_owner_only(
    world: None, later: None, printed: Printed
) -> None:
    put(KEY)
    read(KEY)
    reconcile()
    catalog_id = document().catalog_id

    def delete(user_id: str) -> dict[str, Any]:
        named = {"user_id": user_id, "catalog_id": catalog_id}
        answer: dict[str, Any] = reconciler.handler(
            {"action": "delete_catalog", **named}, Hurried()
        )
        return answer

    with pytest.raises(CatalogNotFound):
        delete("bob")
    deletion = delete("alice")

    assert (deletion["documents"], deletion["is_asked_for"]) == (1, True)
    assert len(deletion["receipt_ids"]) == 1
    assert document().status is DocumentStatus.DELETING
    versions = session.client("s3").list_object_versions(Bucket=BUCKET, Prefix="alice/research/")
    assert "Versions" not in versions
    line = printed.line("catalog deleted for an operator")
    assert (line["user_id"], line["catalog_id"]) == ("alice", catalog_id)


def test_uploads_just_before_a_power_cut_are_registered_at_once(
    world: None, printed: Printed
) -> None:
    put(KEY)
    read(KEY)
    restart = utc_now() + timedelta(seconds=1)  # moto returns whole seconds

    left_alone = reconcile()
    caught_up = reconcile(idle_before=restart.isoformat())

    assert left_alone["found"] == {}
    assert caught_up["found"] == {"object_without_record": 1}


@pytest.mark.parametrize(
    ("mode", "text_search", "state"),
    [
        ("ENHANCED", [{"metadataKey": "AMAZON_BEDROCK_TEXT", "status": "ACTIVE"}], "active"),
        ("ENHANCED", [{"metadataKey": "AMAZON_BEDROCK_TEXT", "status": "BUILDING"}], "building"),
        (None, [], "unknown"),
    ],
)
@pytest.mark.usefixtures("world")
def test_each_reconciler_run_reports_text_search_state_of_indexes(
    monkeypatch: pytest.MonkeyPatch,
    printed: Printed,
    mode: str | None,
    text_search: list[dict[str, str]],
    state: str,
) -> None:
    arn = "arn:aws:s3vectors:us-east-1:123456789012:bucket/vectors/index/passages"
    member = {"knowledge_base_id": "KB", "data_source_id": "DS", "index": arn}
    monkeypatch.setenv("KB_POOL", json.dumps([member]))
    resume = "stackroom.reconciler.audit_rounds.Reconciliation.resume"
    monkeypatch.setattr(resume, lambda *_, **__: [])

    def answer(operation: Any, asked: dict[str, Any]) -> dict[str, Any]:
        assert (operation.name, asked) == ("GetIndex", {"indexArn": arn})
        if mode is None:
            raise ServiceError("AccessDeniedException", "no")
        metadata = {"textSearchConfigurations": text_search}
        return {"index": {"indexMode": mode, "metadataConfiguration": metadata}}

    with answered(answer, session.client("s3vectors")):
        reconcile()

    [unready] = printed.figures("SearchIndexesNotReady")
    [by_state] = printed.figures("SearchIndexes")
    assert unready.values == ((0,) if state == "active" else (1,))
    assert unready.dimensions == {"service": "reconciler"}
    assert by_state.dimensions == {"service": "reconciler", "state": state}
    reported = [(each["index"], each["state"]) for each in printed.lines("search index not ready")]
    assert reported == ([] if state == "active" else [(arn, state)])


def test_dry_run_changes_nothing_and_resumes_where_its_time_ran_out(
    world: None, later: None, printed: Printed
) -> None:
    put(KEY)
    read(KEY)
    bookmark = DynamoBookmark(client=session.client("dynamodb"), table=CONTROL_TABLE)

    first = reconcile(Hurried(pieces=1), listed=True, dry_run=True)
    second = reconcile(listed=True, dry_run=True, resume=first["resume"])
    kept, ran = bookmark.read(), executions()
    mended = reconcile(listed=True)

    assert (first["finished"], second["finished"]) == (False, True)
    assert [each["outcome"] for each in (*first["listed"], *second["listed"])] == ["left"]
    assert (kept, ran) == (None, 0)
    assert [each["outcome"] for each in mended["listed"]] == ["mended"]
