"""Tests of the status poller as the state machine calls it, and of an upload's whole way."""

from typing import Any, cast

import pytest
from botocore.stub import Stubber

from bedrock_kb_simulator.faults import Kind
from bedrock_kb_simulator.rules import DIRECT_DURATION, JOB_SHORTEST
from stackroom.aws import session
from stackroom.aws.dynamodb.inspection_records import DynamoInspections
from stackroom.model.repositories import Inspected
from tests.aws.stores import CONTROL_TABLE
from tests.functions.pipeline import Pipeline, place_of
from tests.functions.printed import Figure, Printed

CATALOG = place_of().catalog_id
by_jobs = pytest.mark.parametrize("data_sources", ["s3"])


def figure(name: str, *values: float, unit: str = "Count", **dimensions: str) -> Figure:
    mine = {"service": "status_poller", **dimensions}
    return Figure(name=name, values=values, unit=unit, dimensions=mine)


def settled(printed: Printed) -> list[Figure]:
    return printed.figures("DocumentsSettled")


def test_document_is_polled_until_indexed_and_reported_once(
    pipeline: Pipeline, printed: Printed
) -> None:
    event_id = pipeline.drop()
    run = pipeline.started()
    pipeline.bedrock.look_every(DIRECT_DURATION.value / 2)

    over = pipeline.polled(run)
    pipeline.polled(run)  # as the state machine retries a call without an answer

    document = pipeline.document()
    assert document is not None
    assert document.indexed_at is not None
    assert (over["progress"]["outcome"], document.correlation_id) == ("settled", event_id)
    polls = [line for line in printed.lines("run moved on") if line["action"] == "poll"]
    assert [polls[0]["outcome"], polls[-1]["outcome"]] == ["running", "settled"]
    assert {(line["worklist_id"], line["epoch"]) for line in polls} == {(CATALOG, 1)}
    assert {line["service"] for line in polls} == {"status_poller"}
    assert printed.figures("Polls") == [figure("Polls", 1)] * len(polls)
    line = printed.line("document settled")
    assert (line["outcome"], line["document_id"]) == ("indexed", place_of().document_id)
    assert (line["worklist_id"], line["version"]) == (CATALOG, document.version)
    trail = [line["message"] for line in printed.lines() if line.get("correlation_id") == event_id]
    assert trail == ["upload reconciled", "file inspected", "document settled"]
    assert settled(printed) == [figure("DocumentsSettled", 1, outcome="indexed")]
    waited = (document.indexed_at - document.uploaded_at).total_seconds()
    assert printed.figures("UploadToIndexedSeconds") == [
        figure("UploadToIndexedSeconds", waited, unit="Seconds")
    ]


def test_document_indexed_but_not_found_by_search_is_counted(
    pipeline: Pipeline, printed: Printed
) -> None:
    pipeline.drop()
    run = pipeline.started()
    pipeline.bedrock.look_every(0)  # before it is searchable
    pipeline.bedrock.pass_time(DIRECT_DURATION.value)

    pipeline.polled(run)

    assert settled(printed) == [figure("DocumentsSettled", 1, outcome="indexed")]
    assert printed.figures("IndexedUnfound") == [figure("IndexedUnfound", 1)]


def test_indexed_document_with_gaps_is_counted(pipeline: Pipeline, printed: Printed) -> None:
    gap = "1 of 2 pages looks garbled: 2"
    pipeline.drop()
    dropped = pipeline.document()
    assert dropped is not None
    inspections = DynamoInspections(client=session.client("dynamodb"), table=CONTROL_TABLE)
    inspections.record(dropped.document_id, dropped.etag, Inspected(gaps=(gap,)))

    pipeline.settle()

    assert printed.line("document settled")["reason"] == f"with gaps: {gap}"
    assert [each.values for each in printed.figures("IndexedWithGaps")] == [(1.0,)]


@by_jobs
def test_document_that_bedrock_fails_over_is_reported_with_its_reason(
    pipeline: Pipeline, printed: Printed
) -> None:
    pipeline.drop("alice/research/notes.txt")
    pipeline.drop()
    pipeline.bedrock.fail("StartIngestionJob", Kind.FAILED, where="report.txt")

    pipeline.polled(pipeline.started())

    document = pipeline.document()
    assert document is not None
    assert document.status == "pending"
    reasons = {each["outcome"]: each.get("reason") for each in printed.lines("document settled")}
    assert reasons == {"indexed": None, "postponed": document.status_reason}
    counted = sorted(each.dimensions["outcome"] for each in settled(printed))
    assert counted == ["indexed", "postponed"]
    assert len(printed.figures("UploadToIndexedSeconds")) == 1
    assert printed.figures("IndexedUnfound") == []


@by_jobs
def test_failures_known_only_from_statistics_are_counted_and_logged(
    pipeline: Pipeline, printed: Printed
) -> None:
    pipeline.drop()
    run = pipeline.started()
    pipeline.bedrock.pass_time(JOB_SHORTEST.value * 2)
    [job], details = pipeline.bedrock.jobs(), pipeline.bedrock.documents()
    failed_job: Any = {**job, "statistics": {"numberOfDocumentsFailed": 3}}

    with Stubber(session.client("bedrock-agent")) as stub:
        stub.add_response("get_ingestion_job", {"ingestionJob": failed_job})
        stub.add_response("get_knowledge_base_documents", cast("Any", {"documentDetails": details}))
        pipeline.polled(run)

    line = printed.line("failures without a name")
    assert (line["level"], line["count"]) == ("WARNING", 3)
    assert printed.figures("UnexplainedFailures") == [figure("UnexplainedFailures", 3)]
