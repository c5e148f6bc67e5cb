"""Tests of the ingest function as the state machine, EventBridge and the schedule call it."""

import json
import os
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from bedrock_kb_simulator.faults import Kind
from stackroom.aws import session
from stackroom.runs.run_leases import MAX_FAILURES
from tests.functions.pipeline import Event, Pipeline, place_of
from tests.functions.printed import Figure, Printed

CATALOG = place_of().catalog_id
ERROR = {"Error": "KnowledgeBaseUnavailable", "Cause": "Bedrock was away"}


def figure(name: str, *values: float, **dimensions: str) -> Figure:
    return Figure(
        name=name,
        values=values,
        unit="Count",
        dimensions={"service": "ingest", **dimensions},
    )


def breakdown(run: Event) -> Event:
    return {"worklist_id": run["worklist_id"], "epoch": run["epoch"], "error": ERROR}


def test_each_step_logs_its_run_and_accepted_direct_call_is_counted(
    pipeline: Pipeline, printed: Printed
) -> None:
    pipeline.drop()

    moved = pipeline.started()
    pipeline.ingest("sweep", {})

    ensured, started = printed.lines("run moved on")
    assert (ensured["service"], ensured["action"]) == ("ingest", "ensure")
    assert (ensured["worklist_id"], ensured["epoch"]) == (CATALOG, 1)
    assert (ensured["outcome"], started["outcome"]) == ("ready", "started")
    logged = {name: started.get(name) for name in moved["progress"]}
    assert logged == {**moved["progress"], "calls": None, "alone": None, "set_aside": None}
    assert started["calls_at_work"] == 1
    assert place_of().document_id not in json.dumps(started)
    assert not {"worklist_id", "epoch"} & printed.line("leases swept").keys()
    assert printed.figures("IngestionJobs", "BusyAnswers") == []
    assert printed.figures("DirectCalls") == [figure("DirectCalls", 1)]


@pytest.mark.parametrize("data_sources", ["s3"])
def test_job_is_queued_then_admitted_and_counted_when_accepted(
    pipeline: Pipeline, printed: Printed
) -> None:
    pipeline.drop()
    queued = pipeline.ingest("start", pipeline.ensured())

    pipeline.admit(queued)
    started = pipeline.ingest("start", queued)

    [job] = pipeline.bedrock.jobs()
    line = printed.line("run queued up")
    assert line["worklist_id"] == CATALOG
    assert line["waiting_since"] == queued["progress"]["waiting_since"]
    assert started["progress"]["outcome"] == "started"
    assert printed.lines("run moved on")[-1]["job_id"] == job["ingestionJobId"]
    assert printed.figures("IngestionJobs", "BusyAnswers") == [figure("IngestionJobs", 1)]


@pytest.mark.parametrize(
    ("data_sources", "operation"),
    [("custom", "IngestKnowledgeBaseDocuments"), ("s3", "StartIngestionJob")],
)
def test_busy_knowledge_base_is_counted_but_not_as_a_failure(
    pipeline: Pipeline, printed: Printed, operation: str
) -> None:
    pipeline.drop()
    pipeline.bedrock.fail(operation, Kind.BUSY)

    moved = pipeline.started()

    assert moved["progress"]["outcome"] == "busy"
    assert {line["level"] for line in printed.lines()} == {"INFO"}
    assert printed.figures("IngestionJobs", "BusyAnswers") == [figure("BusyAnswers", 1)]


def test_broken_run_is_logged_and_followed_until_its_documents_fail(
    pipeline: Pipeline, printed: Printed
) -> None:
    event_id = pipeline.drop()

    answers = [
        pipeline.ingest("record_failure", breakdown(pipeline.live_run()))
        for _ in range(MAX_FAILURES)
    ]

    assert [each["failed_documents"] for each in answers] == [0] * (MAX_FAILURES - 1) + [1]
    broke = printed.lines("run broke")[0]
    assert (broke["level"], broke["worklist_id"], broke["epoch"]) == ("ERROR", CATALOG, 1)
    assert (broke["error"], broke["cause"]) == (ERROR["Error"], ERROR["Cause"])
    followed = {f"{CATALOG}-{epoch}" for epoch in range(1, MAX_FAILURES + 1)}
    assert set(pipeline.executions()) == followed
    settled = printed.line("document settled")
    assert (settled["outcome"], settled["correlation_id"]) == ("failed", event_id)
    assert ERROR["Error"] in settled["reason"]
    assert printed.figures("BrokenRuns") == [figure("BrokenRuns", 1)] * MAX_FAILURES
    assert printed.figures("DocumentsSettled") == [figure("DocumentsSettled", 1, outcome="failed")]


def test_ended_execution_is_succeeded_once_unless_started_by_hand(
    pipeline: Pipeline, printed: Printed
) -> None:
    pipeline.drop()
    # EventBridge delivers at least once.
    ended = ["by-hand", f"{CATALOG}-1", f"{CATALOG}-1"]

    answers = [pipeline.ingest("recover", {"execution_name": name}) for name in ended]

    assert answers[0] == {"failed_documents": 0}
    lines = printed.lines("execution ended badly")
    assert [line["execution_name"] for line in lines] == ended
    assert pipeline.executions() == [f"{CATALOG}-1", f"{CATALOG}-2"]


def test_sweep_counts_the_runs_that_it_has_followed(pipeline: Pipeline, printed: Printed) -> None:
    pipeline.drop()
    seen = pipeline.leases.get(CATALOG)
    assert seen is not None
    an_hour_ago = datetime.now(UTC) - timedelta(hours=1)
    silent = pipeline.leases.take(seen, until=an_hour_ago, failures=0)
    assert silent is not None
    pipeline.leases.mark_started(silent)

    first, second = pipeline.ingest("sweep", {}), pipeline.ingest("sweep", {})

    assert first == {"followed": [silent.execution_name]}
    assert second == {"followed": []}
    assert [line["followed"] for line in printed.lines("leases swept")] == [
        [silent.execution_name],
        [],
    ]
    assert printed.figures("RunsFollowed") == [figure("RunsFollowed", 1), figure("RunsFollowed", 0)]
    waited = printed.figures("OldestWaitSeconds")
    assert [(each.values, each.unit) for each in waited] == [((0.0,), "Seconds")] * 2


def test_thorough_sweep_follows_a_stopped_execution_at_once(
    pipeline: Pipeline, printed: Printed
) -> None:
    pipeline.drop()
    [running] = pipeline.executions()
    stepfunctions = session.client("stepfunctions")
    machine = os.environ["STATE_MACHINE_ARN"].replace(":stateMachine:", ":execution:")
    stepfunctions.stop_execution(executionArn=f"{machine}:{running}")

    by_expiry = pipeline.ingest("sweep", {})
    thorough = pipeline.ingest("sweep", {"thorough": True})

    assert (by_expiry, thorough) == ({"followed": []}, {"followed": [running]})
    [successor] = set(pipeline.executions()) - {running}
    execution_input = stepfunctions.describe_execution(executionArn=f"{machine}:{successor}")[
        "input"
    ]
    assert json.loads(execution_input)["progress"] == {"delay": 0}


@pytest.mark.parametrize(
    "event",
    [
        {"action": "dance", "worklist_id": CATALOG, "epoch": 1},
        {"action": "start", "worklist_id": CATALOG},
        {"action": "sweep", "worklist_id": CATALOG},
        {"worklist_id": CATALOG, "epoch": 1},
    ],
)
def test_invalid_call_fails_before_anything_changes(
    pipeline: Pipeline, printed: Printed, event: Event
) -> None:
    pipeline.drop()
    before = pipeline.leases.get(CATALOG)

    with pytest.raises(ValidationError):
        pipeline.call("ingest", event)

    assert pipeline.leases.get(CATALOG) == before
    messages = [line["message"] for line in printed.lines()]
    assert messages == ["upload reconciled", "file inspected"]
