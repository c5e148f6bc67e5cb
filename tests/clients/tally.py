"""What is printed at the end of a run: how many of the clients work."""

from collections.abc import Iterable, Mapping
from typing import Any

PROPERTY = "client"  # of a test that runs a client: its name and version


def tally(reports: Mapping[str, Iterable[Any]]) -> list[str]:
    """
    Lines for the terminal, from pytest's reports by outcome; none where no client was run. A client
    works if none of its tests failed.
    """
    failed = {*_clients(reports.get("failed", ())), *_clients(reports.get("error", ()))}
    worked = {*_clients(reports.get("passed", ()))} - failed
    if not worked and not failed:
        return []
    return [
        *(f"works   {name}" for name in sorted(worked, key=str.lower)),
        *(f"FAILED  {name}" for name in sorted(failed, key=str.lower)),
        f"clients of docs/clients.md that work: {len(worked)} of {len(worked | failed)}",
    ]


def _clients(reports: Iterable[Any]) -> list[str]:
    return [
        str(value)
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == PROPERTY and (report.when == "call" or report.failed)
    ]
