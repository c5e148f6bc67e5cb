"""Room for what ministack keeps in memory, and the truth about whether it was written."""

from pathlib import Path

import pytest
from ministack import app
from ministack.core import persistence

from stackroom_local.local_errors import NoRoom
from stackroom_local.ministack import disk_reserve
from stackroom_local.ministack.disk_reserve import DiskReserve


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DiskReserve:
    """Installed in a ministack that persists into a directory of its own, and taken out again."""
    monkeypatch.setattr(app, "save_all", app.save_all)
    monkeypatch.setattr(persistence.logger, "error", persistence.logger.error)
    monkeypatch.setattr(persistence, "PERSIST_STATE", True)
    monkeypatch.setattr(persistence, "STATE_DIR", str(tmp_path / "ministack"))
    made = DiskReserve(tmp_path)
    made.begin()
    made.install()
    return made


def test_room_is_kept_until_all_is_written(kept: DiskReserve, tmp_path: Path) -> None:
    reserved = (tmp_path / "reserve").stat()
    before = kept.is_done

    app.save_all({"sqs": lambda: {"queues": {}}})

    assert reserved.st_blocks * 512 >= disk_reserve.RESERVE_BYTES, "a sparse file keeps no room"
    assert not (tmp_path / "reserve").exists()
    assert (tmp_path / "ministack" / "sqs.json").exists()
    assert (before, kept.is_done) == (False, True)


def test_failed_save_is_not_reported_as_done(kept: DiskReserve, tmp_path: Path) -> None:
    (tmp_path / "ministack" / "sqs.json.tmp").mkdir(parents=True)  # where a draft is to be written

    app.save_all({"sqs": lambda: {"queues": {}}, "sns": lambda: {"topics": {}}})

    assert (tmp_path / "ministack" / "sns.json").exists()
    assert not kept.is_done


def test_state_that_grows_with_each_call_is_saved_last(kept: DiskReserve) -> None:
    """If the reserved room is too small for everything, tables and queues are kept."""
    asked = list[str]()
    names = ("stepfunctions", "sqs", "cloudwatch_logs", "dynamodb")

    app.save_all({name: lambda name=name: asked.append(name) for name in names})

    assert asked == ["sqs", "dynamodb", "stepfunctions", "cloudwatch_logs"]


def test_start_is_refused_where_the_disk_reserve_does_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_path: Path, _content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)

    with pytest.raises(NoRoom, match=rf"{tmp_path} needs 64 MB .*No space left.*--state-dir"):
        DiskReserve(tmp_path).begin()
