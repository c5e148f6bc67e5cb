"""
docs/testing.md's table of the suites: what each holds, in which tier, and how long that took.

    make times      runs the three tiers, and writes the table anew from what they took
"""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from docs.tables import replaced

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "testing.md"
TIERS = ("quick", "test", "prove")
HOLDS = {
    "tests/unit": "the use cases over fakes with state",
    "tests/functions": "the handlers over fakes with state",
    "tests/agents": "the tools in an agent's process, by a scripted model in Strands' own loop",
    "tests/evaluation": "questions whose answers are known: their file, figures, runs, the bar",
    "tests/client": (
        "what the Python client makes of answers, of none, of webhooks and of signing in"
    ),
    "tests/aws": "each adapter against moto, or botocore's own model of the service",
    "tests/contract": (
        "what several hold to: ports by fakes and adapters, the state machine by outcomes, actions"
        " and errors, tool schemas by models, every store by one set of promises"
    ),
    "tests/workflow": "the state machine with the real handlers, every path, Retry and Catch",
    "simulator/tests": "the simulator: limits, errors, chunks, searches, restarts",
    "tests/opensearch": "the stand-in for OpenSearch Serverless, which other suites ask",
    "tests/gateway": "the gateway's stand-in: sign-in, identity, MCP",
    "tests/local": "starting, stopping, the command line, what stands in for AWS's other services",
    "tests/sites": "the command line at a deployment's own AWS",
    "tests/simulated_time": "small runs of the benchmarks' scenarios in simulated time",
    "tests/console": "the console in the process: pages, API, sessions, and what others try",
    "tests/browser": "the console in Chromium: what people do there, what they see",
    "tests/infra": "the synthesised templates, their rights and rules; deployments, rehearsed",
    "tests/constructs": "the constructs that anyone can import",
    "tests/e2e": "the local mode as a user has it, with real clients",
    "tests/clients": "docs/clients.md: each client's lines as they stand on the page",
    "tests/campaigns": "a sample of each campaign: chaos, soak, attack, permissions",
}


@dataclass
class Recorded:
    """Of one tier's run: seconds by suite, tests by suite, and the seconds of the whole."""

    seconds: dict[str, float] = field(default_factory=dict)
    tests: Counter[str] = field(default_factory=Counter)
    whole: float = 0.0


def recorded(report: str) -> Recorded:
    """What pytest's --junitxml says of a run."""
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
    """Raises ValueError for a suite that HOLDS says nothing of."""
    yield "| suite | what it holds | quick | test | prove |"
    yield "|---|---|---|---|---|"
    suites = {suite for run in runs.values() for suite in run.tests}
    for suite in sorted(suites, key=list(HOLDS).index):
        cells = (_cell(runs[tier], suite) for tier in TIERS)
        yield f"| {suite} | {HOLDS[suite]} | {' | '.join(cells)} |"
    whole = (
        f"**{sum(runs[tier].tests.values()):,} in {_time(runs[tier].whole)}**" for tier in TIERS
    )
    yield f"| all, by the clock | | {' | '.join(whole)} |"


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
