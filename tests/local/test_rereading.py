"""A kept state directory whose documents an earlier version has read."""

from pathlib import Path

from stackroom.text.text_ids import READER_VERSION
from stackroom_cli.older_texts import read_anew_at_start
from tests.local.running import an_instance, directory


def test_a_start_whose_services_fail_serves_on_and_the_next_one_tries(tmp_path: Path) -> None:
    state, said = directory(tmp_path), list[str]()
    instance = an_instance(tmp_path)
    (tmp_path / "root-key.json").unlink()  # so that no service can be asked

    steps = read_anew_at_start(state, instance, announce=said.append)

    assert list(steps) == []
    [line] = said
    assert line.startswith("rereading failed and is retried at the next start: ")
    assert not state.is_read_by(READER_VERSION)
