"""A burst of function processes: they start a few at a time, and none is forgotten."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[2]
START = (
    "from stackroom_local.runtime import _import_in_turn;"
    "_import_in_turn('tests.local.slow_import.handler')"
)


def test_no_more_processes_import_their_handler_at_a_time_than_there_are_cores(
    tmp_path: Path,
) -> None:
    imported = tmp_path / "imported"
    imported.mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path), "IMPORTED": str(imported)}

    burst = [
        subprocess.Popen([sys.executable, "-c", START], cwd=ROOT, env=environment)
        for _ in range(3 * cores())
    ]
    codes = [each.wait(120) for each in burst]

    times = [tuple(map(float, each.read_text().split())) for each in imported.iterdir()]
    assert codes == [0] * len(burst)
    assert len(times) == len(burst)
    assert max(sum(began <= at < ended for began, ended in times) for at, _ in times) <= cores()


def cores() -> int:
    return os.cpu_count() or 1
