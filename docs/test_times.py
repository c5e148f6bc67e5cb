"""
docs/testing.md's table of times: what each tier takes, and the ten slowest suites in it.

    make times      runs the three tiers, and writes the table anew from what they took
"""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree

from docs.tables import replaced

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "testing.md"
TIERS = ("quick", "test", "prove")
_SLOWEST = 10  # suites that have a row


@dataclass
class Recorded:
    """A tier's run: seconds and tests by suite, and the seconds of the whole."""

    seconds: dict[str, float] = field(default_factory=dict)
    tests: Counter[str] = field(default_factory=Counter)
    whole: float = 0.0


def recorded(report: str) -> Recorded:
    """Read a run from pytest's --junitxml report."""
    found = Recorded()
    for run in ElementTree.fromstring(report).iter("testsuite"):  # noqa: S314 - our own report
        found.whole += float(run.attrib["time"])
        for case in run.iter("testcase"):
            folders = case.attrib["classname"].split(".")
            suite = "/".join(folders[:2]) if folders[0] == "tests" else f"{folders[0]}/tests"
            found.tests[suite] += 1
            found.seconds[suite] = found.seconds.get(suite, 0.0) + float(case.attrib["time"])
    return found


def table(runs: Mapping[str, Recorded]) -> Iterable[str]:
    """Yield a row for each tier, by the clock, and for each of the slowest suites."""
    yield "| | quick | test | prove |"
    yield "|---|---|---|---|"
    whole = (f"{sum(runs[tier].tests.values()):,} in {_time(runs[tier].whole)}" for tier in TIERS)
    yield f"| all, by the clock | {' | '.join(whole)} |"
    # `make test` runs the quick tests, too.
    apart = runs["test"].seconds, runs["prove"].seconds
    seconds = {suite: sum(each.get(suite, 0.0) for each in apart) for suite in chain(*apart)}
    for suite in sorted(seconds, key=seconds.__getitem__, reverse=True)[:_SLOWEST]:
        yield f"| {suite} | {' | '.join(_cell(runs[tier], suite) for tier in TIERS)} |"


def _cell(run: Recorded, suite: str) -> str:
    tests = run.tests[suite]
    return f"{tests:,} in {_time(run.seconds[suite])}" if tests else ""


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def main(folder: str) -> None:
    runs = {tier: recorded((Path(folder) / f"{tier}.xml").read_text("utf-8")) for tier in TIERS}
    page = PAGE.read_text("utf-8")
    PAGE.write_text(replaced(page, "suites", "\n".join(table(runs))), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
