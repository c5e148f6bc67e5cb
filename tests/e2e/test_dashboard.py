"""`stackroom dashboard`: what the functions counted, by way of their logs and CloudWatch."""

import json
import time
from pathlib import Path
from typing import Any

from stackroom_local.state import Instance
from tests.local.running import stackroom

_SECONDS = 60  # the logs of the gateway's functions are looked at every second


def test_metrics_of_functions_appear_on_the_dashboard(instance: Instance, tmp_path: Path) -> None:
    note = tmp_path / "tides.txt"
    note.write_text("High water at the pier comes fifty minutes later every day.")
    state_dir = instance.state_dir
    run = stackroom("drop", str(note), "-u", "ida", "-c", "harbour", "--wait", state_dir=state_dir)
    assert run.returncode == 0, run.stderr
    run = stackroom("ask", "when is high water?", "-u", "ida", state_dir=state_dir)
    assert run.returncode == 0, run.stderr

    # `ingest` and `status_poller` run in ministack, `retrieve` at the gateway.
    deadline = time.monotonic() + _SECONDS
    while True:
        settled = lines(state_dir, "Documents settled, by outcome")
        latency = lines(state_dir, "Tool latency, p50 (ms)")
        if "indexed" in settled and "knowledge_base_retrieve" in latency:
            break
        assert time.monotonic() < deadline, (settled, latency)
        time.sleep(1)

    delays = lines(state_dir, "From upload to searchable (s)")
    assert {name.partition(", ")[2] for name in delays if delays[name]} == {"p50", "p90", "Maximum"}
    assert sum(value for _, value in settled["indexed"]) >= 1
    assert all(value > 0 for _, value in latency["knowledge_base_retrieve"])
    shown = stackroom("dashboard", "--hours", "1", state_dir=state_dir)
    assert shown.returncode == 0
    assert "Documents settled, by outcome" in shown.stdout


def lines(state_dir: Path, title: str) -> dict[str, list[Any]]:
    run = stackroom("dashboard", "--json", "--hours", "1", state_dir=state_dir)
    assert run.returncode == 0, run.stderr
    [widget] = [each for each in json.loads(run.stdout)["widgets"] if each["title"] == title]
    assert not [each for each in widget["lines"] if each["trouble"]]
    return {each["label"]: each["points"] for each in widget["lines"]}
