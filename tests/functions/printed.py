"""What functions print: log lines, and figures in CloudWatch's embedded metric format."""

import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from aws_lambda_powertools import Logger


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One metric as CloudWatch takes it from a line."""

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
        """The log lines of that message, or all."""
        found = [json.loads(line) for line in self.log.getvalue().splitlines()]
        return [line for line in found if message in (None, line["message"])]

    def line(self, message: str) -> dict[str, Any]:
        """The only log line of that message."""
        [found] = self.lines(message)
        return found

    def figures(self, *names: str) -> list[Figure]:
        """The figures of those names, or all, in order."""
        self.out += self.capsys.readouterr().out.splitlines()
        found = [each for line in self.out for each in _figures(json.loads(line))]
        return [each for each in found if not names or each.name in names]


def listening(
    loggers: Iterable[Logger], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Printed:
    log = io.StringIO()  # the loggers would keep the stdout of the test that made them
    for logger in loggers:
        monkeypatch.setattr(logger.registered_handler, "stream", log)
    return Printed(log=log, capsys=capsys)


def _figures(line: dict[str, Any]) -> list[Figure]:
    [told] = line["_aws"]["CloudWatchMetrics"]
    [dimensions] = told["Dimensions"]
    return [
        Figure(
            name=metric["Name"],
            values=tuple(line[metric["Name"]]),
            unit=metric["Unit"],
            dimensions={name: line[name] for name in dimensions},
            namespace=told["Namespace"],
        )
        for metric in told["Metrics"]
    ]
