"""Reads what functions print: log lines, and metrics in CloudWatch's embedded format."""

import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from aws_lambda_powertools import Logger


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A metric as CloudWatch extracts it from a line."""

    name: str
    values: tuple[float, ...]
    unit: str
    dimensions: dict[str, str]
    namespace: str = "Stackroom"


@dataclass
class Printed:
    log: io.StringIO
    capsys: pytest.CaptureFixture[str]
    out: list[str] = field(default_factory=list)

    def lines(self, message: str | None = None) -> list[dict[str, Any]]:
        """Return the log lines with the message, or all."""
        found = [json.loads(line) for line in self.log.getvalue().splitlines()]
        return [line for line in found if message in (None, line["message"])]

    def line(self, message: str) -> dict[str, Any]:
        """Return the only log line with the message."""
        [found] = self.lines(message)
        return found

    def figures(self, *names: str) -> list[Figure]:
        """Return the metrics of these names, or all, in order."""
        self.out += self.capsys.readouterr().out.splitlines()
        found = [each for line in self.out for each in _figures(json.loads(line))]
        return [each for each in found if not names or each.name in names]


def listening(
    loggers: Iterable[Logger], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Printed:
    log = io.StringIO()  # otherwise loggers keep the stdout of the test that created them
    for logger in loggers:
        monkeypatch.setattr(logger.registered_handler, "stream", log)
    return Printed(log=log, capsys=capsys)


def _figures(line: dict[str, Any]) -> list[Figure]:
    [definition] = line["_aws"]["CloudWatchMetrics"]
    [dimensions] = definition["Dimensions"]
    return [
        Figure(
            name=metric["Name"],
            values=tuple(line[metric["Name"]]),
            unit=metric["Unit"],
            dimensions={name: line[name] for name in dimensions},
            namespace=definition["Namespace"],
        )
        for metric in definition["Metrics"]
    ]
