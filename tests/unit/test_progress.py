import pytest

from stackroom.runs.progress import DirectCall, DocumentName, Progress, Run, RunOutcome
from tests.records import NOW


def test_a_run_begins_with_its_first_step_and_round_and_nothing_done() -> None:
    began = Run(worklist_id="cat", epoch=1).progress
    first = Run(worklist_id="cat", epoch=1).went(RunOutcome.STARTED).progress

    assert (began.steps, began.round, began.waits, began.served) == (0, 0, 0, 0)
    assert (began.outcome, began.calls_at_work, began.documents.settled) == (None, 0, 0)
    assert first.steps == 1


def test_a_run_travels_as_json_and_arrives_as_it_was() -> None:
    names = (DocumentName(catalog_id="cat", document_id="doc", version=1),)
    call = DirectCall(accepted_at=NOW, began_at=NOW, documents=names)
    run = Run(worklist_id="cat", epoch=1).went(RunOutcome.STARTED, calls=(call,), job_id="J")

    moved = run.counted(sent=3).counted(sent=2, failed=1).went(RunOutcome.RUNNING)

    assert Run.model_validate(moved.model_dump(mode="json")) == moved
    assert (moved.progress.steps, moved.progress.job_id) == (2, "J")
    assert (moved.progress.documents.sent, moved.progress.documents.failed) == (5, 1)


def test_nothing_else_is_read_than_a_run_carries() -> None:
    with pytest.raises(ValueError, match="Extra inputs"):
        Progress.model_validate({"turns": 4})
