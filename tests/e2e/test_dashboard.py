"""`stackroom dashboard`: what the functions counted, by way of their logs and CloudWatch."""

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from stackroom_local.state import Instance
from tests.local.running import CommandResult, within

SETTLED = "Documents settled, by outcome"
LATENCY = "Tool latency, p50 (ms)"
DELAYS = "From upload to searchable (s)"
_SECONDS = 60  # the logs of the gateway's functions are looked at every second

Run = Callable[..., CommandResult]


@pytest.fixture
def run(
    instance: Instance, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    monkeypatch.setenv("STACKROOM_STATE_DIR", str(instance.state_dir))
    return partial(within, monkeypatch, capsys)


def test_metrics_of_functions_appear_on_the_dashboard(run: Run, tmp_path: Path) -> None:
    note = tmp_path / "tides.txt"
    note.write_text("High water at the pier comes fifty minutes later every day.")
    dropped = run("drop", str(note), "-u", "ida", "-c", "harbour", "--wait")
    assert dropped.returncode == 0, dropped.stderr
    asked = run("ask", "when is high water?", "-u", "ida")
    assert asked.returncode == 0, asked.stderr

    # `ingest` and `status_poller` run in ministack, `retrieve` at the gateway.
    deadline = time.monotonic() + _SECONDS
    while True:
        board = widgets(run)
        settled = board[SETTLED]
        latency = board[LATENCY]
        if "indexed" in settled and "knowledge_base_retrieve" in latency:
            break
        assert time.monotonic() < deadline, (settled, latency)
        time.sleep(1)

    delays = board[DELAYS]
    assert {name.partition(", ")[2] for name in delays if delays[name]} == {"p50", "p90", "Maximum"}
    assert sum(value for _, value in settled["indexed"]) >= 1
    assert all(value > 0 for _, value in latency["knowledge_base_retrieve"])
    shown = run("dashboard", "--hours", "1")
    assert shown.returncode == 0
    assert SETTLED in shown.stdout


def widgets(run: Run) -> dict[str, dict[str, list[Any]]]:
    """Return the points of each line of each widget, by title and label."""
    told = run("dashboard", "--json", "--hours", "1")
    assert told.returncode == 0, told.stderr
    wanted = (SETTLED, LATENCY, DELAYS)
    board = [each for each in json.loads(told.stdout)["widgets"] if each["title"] in wanted]
    assert not [each for widget in board for each in widget["lines"] if each["trouble"]]
    return {
        widget["title"]: {each["label"]: each["points"] for each in widget["lines"]}
        for widget in board
    }
