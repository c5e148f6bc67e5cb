import pytest

from stackroom.runs.progress import Progress, Run, RunOutcome


def test_a_run_travels_as_json_and_arrives_as_it_was() -> None:
    run = Run(worklist_id="cat", epoch=1).went(RunOutcome.STARTED, wait_seconds=2, job_id="J")

    moved = run.counted(sent=3).counted(sent=2, failed=1).went(RunOutcome.RUNNING)

    assert Run.model_validate(moved.model_dump(mode="json")) == moved
    assert (moved.progress.steps, moved.progress.job_id) == (2, "J")
    assert (moved.progress.documents.sent, moved.progress.documents.failed) == (5, 1)


def test_nothing_else_is_read_than_a_run_carries() -> None:
    with pytest.raises(ValueError, match="Extra inputs"):
        Progress.model_validate({"turns": 4})
