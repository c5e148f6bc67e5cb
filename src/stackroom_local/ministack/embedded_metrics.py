"""
Sends the metrics that functions embed in their logs to CloudWatch, as CloudWatch Logs does on AWS.

ministack 1.5.33 keeps such a line as any other. Here, in its process, each line that reaches its
logs is read once the function is done; the console logs to a file, which is read every second. So
no function waits. A line that can't be read is reported in ministack's log and dropped.

Format:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

import functools
import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MARK = '"CloudWatchMetrics"'
_PAUSE = 1.0  # seconds, between looks at the file


@dataclass(frozen=True)
class Figure:
    """One value of one metric; each set of dimensions is a metric of its own."""

    namespace: str
    name: str
    unit: str
    dimensions: Mapping[str, str]
    value: float


class NotEmbedded(ValueError):
    """A line that has the mark of the format, and not its form."""


def figures(line: str) -> list[Figure]:
    """Return the metrics in a line of a log, usually none. Raises `NotEmbedded`."""
    if _MARK not in line:
        return []
    try:
        fields = json.loads(line)
        return [
            figure
            for directive in fields["_aws"]["CloudWatchMetrics"]
            for figure in _of_directive(fields, directive)
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotEmbedded(f"{type(error).__name__}: {error}") from error


def _of_directive(fields: Mapping[str, Any], directive: Mapping[str, Any]) -> Iterator[Figure]:
    sets = directive.get("Dimensions") or [[]]
    for metric in directive["Metrics"]:
        values = fields[metric["Name"]]
        for value in values if isinstance(values, list) else [values]:
            for names in sets:
                dimensions = {name: str(fields[name]) for name in names}
                unit = metric.get("Unit", "None")
                yield Figure(directive["Namespace"], metric["Name"], unit, dimensions, float(value))


def _take(line: str) -> None:
    from ministack.services import cloudwatch  # noqa: PLC0415 - ministack's alone

    try:
        found = figures(line)
    except NotEmbedded as error:
        print(f"figures were lost: {error}: {line[:200]!r}", file=sys.stderr)  # noqa: T201 - its log
        return
    for each in found:
        cloudwatch.record_metric(
            each.namespace, each.name, each.value, each.unit, dict(each.dimensions)
        )


def install() -> None:
    from ministack.services import cloudwatch_logs  # noqa: PLC0415 - ministack's alone

    append = cloudwatch_logs._append_log_events

    @functools.wraps(append)
    def append_and_take(stream: Any, events: list[dict[str, Any]]) -> None:
        append(stream, events)
        for event in events:
            _take(event["message"])

    cloudwatch_logs._append_log_events = append_and_take


class Followed:
    """A log, as it grows from now on."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._read = log.stat().st_size if log.exists() else 0

    def lines(self) -> list[str]:
        """Return the lines that were completed since the last call."""
        if not self._log.exists():
            return []
        with self._log.open("rb") as file:
            file.seek(self._read)
            grown = file.read()
        whole = grown[: grown.rfind(b"\n") + 1]
        self._read += len(whole)
        return whole.decode("utf-8", "replace").splitlines()


def follow(log: Path) -> None:
    """Send the metrics in a log to CloudWatch as long as this process lives."""
    followed = Followed(log)

    def take_all() -> None:
        while True:
            try:
                for line in followed.lines():
                    _take(line)
            except OSError as error:
                print(f"figures wait: {error}", file=sys.stderr)  # noqa: T201 - ministack's log
            time.sleep(_PAUSE)

    threading.Thread(target=take_all, daemon=True).start()
