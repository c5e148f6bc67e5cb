from pathlib import Path

import pytest

from stackroom_local.local_errors import AlreadyUp, NotOurs, NotUp
from stackroom_local.state import StateDirectory
from tests.local.running import an_instance


@pytest.fixture
def state(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path / "state")


def test_a_directory_serves_one_process_at_a_time(state: StateDirectory) -> None:
    with state.held():
        assert state.holder() is not None
        with pytest.raises(AlreadyUp, match="stackroom down"), state.held():
            pass

    assert state.holder() is None


def test_record_of_an_ended_process_is_ignored(state: StateDirectory) -> None:
    with state.held():
        pass
    state.record(an_instance(state.path))

    with pytest.raises(NotUp, match="stackroom up"):
        state.instance()


def test_forgetting_keeps_only_the_lock(state: StateDirectory) -> None:
    with state.held():
        (state / "s3" / "bucket").mkdir(parents=True)
        (state / "gateway.json").write_text("{}")
        state.record_reader("1")

        state.forget()

        assert [path.name for path in state.path.iterdir()] == ["lock"]


def test_forgetting_and_serving_leave_other_peoples_files_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("three years")

    with pytest.raises(NotOurs, match=r"thesis\.txt"), StateDirectory(tmp_path).held():
        pass
    StateDirectory(tmp_path).forget()

    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
