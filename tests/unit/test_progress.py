import pytest

from stackroom.runs.progress import Progress, Run, RunOutcome


@pytest.mark.parametrize("name", ["turn", "steps"])
def test_a_runs_steps_are_read_under_either_name_and_travel_as_they_did(name: str) -> None:
    arrived = Run.model_validate({"worklist_id": "cat", "epoch": 1, "progress": {name: 4}})

    moved = arrived.went(RunOutcome.GRANT_OVER)

    sent = moved.model_dump(mode="json")["progress"]
    assert moved.progress.steps == 5
    assert (sent["turn"], sent["outcome"]) == (5, "turn_over")
    assert "steps" not in sent
    assert Run.model_validate(moved.model_dump(mode="json")) == moved


def test_nothing_else_is_read_than_a_run_carries() -> None:
    with pytest.raises(ValueError, match="Extra inputs"):
        Progress.model_validate({"turns": 4})
