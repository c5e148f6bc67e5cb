"""
The costs of a deployment: an idle month, and a thousand documents.

    make bench-costs        writes the tables into docs/deploy.md, within a minute

Idle costs are counted in the synthesised templates. The product's code ingests documents in
simulated time, and each call is billed (simulated_time/bill.py has the prices and their date); the
documents are assumed below. Free tiers are not considered.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.scenarios import settle
from benchmarks.serving import measure
from benchmarks.shapes import Shape
from benchmarks.stage import Stage
from simulated_time.bill import LOGGED, METRIC, PRICES, Bill
from simulated_time.queues import IDLE_REQUESTS
from stackroom.model.prices import PRICES as MODEL_PRICES
from stackroom.model.prices import TITAN
from stackroom_local import synthesis

PAGE = Path(__file__).parents[1] / "docs" / "deploy.md"
_FIRST, _LAST = "<!-- costs -->", "<!-- /costs -->"
_MONTH = 30 * 86_400.0
_GB = 1e9

# CloudWatch: each metric of an alarm, and a dashboard, for a month,
# https://aws.amazon.com/cloudwatch/pricing/; a secret, https://aws.amazon.com/secrets-manager/pricing/
# (both November 2026).
_ALARM, _DASHBOARD, _SECRET = 0.10, 3.00, 0.40
# Metrics that are recorded even if nothing happens: RunsFollowed, OldestWaitSeconds, ParkedRuns,
# Grants, ReconcilerFindings, SearchIndexesNotReady.
_METRICS = 6
# Assumed GB-seconds per invocation of the reconciler's two schedules, by rate.
_GB_SECONDS = {5: 0.5 * 0.2, 15: 0.5 * 2.0}
_RATE = re.compile(r"rate\((\d+) minutes\)")

DOCUMENT_BYTES, _TEXT_SHARE = 50_000, 0.2  # the share that is text (model/records.py)
_BYTES_A_TOKEN = 4
_TOKENS_A_CHUNK, _NEW_TOKENS = 300, 240  # 20 % overlap
_CHUNK_BYTES = 1_200 + 500 + 4 * 1_024  # text, filterable attributes with the key, vector
# S3 Vectors: a GB written, one stored for a month, the bytes that a PutVectors is billed for at
# least, aws.amazon.com/s3/pricing, by
# https://caylent.com/blog/architecting-gen-ai-at-scale-lessons-from-aws-s-3-vector-store-and-the-nuances-of-hybrid-vector-storage
# S3, a GB kept for a month: https://aws.amazon.com/s3/pricing/ (November 2026).
_WRITTEN_GB, _STORED_GB, _KEPT_GB = 0.20, 0.06, 0.023
_LEAST_WRITTEN = 128 * 1024
_THOUSAND = 1_000
_BURST = Shape(uploads=1_000, catalogs=50)
_APART = Shape(uploads=120, catalogs=12, apart=30)
_BILLED = {
    "Step Functions, transitions": ("transitions",),
    "Lambda": ("lambda requests", "lambda GB-s"),
    "DynamoDB, reads and writes": ("dynamodb reads", "dynamodb writes"),
    "S3, requests": ("s3 puts", "s3 gets"),
    "SQS": ("sqs requests",),
    "logs and traces": ("log bytes", "traces"),
    "searches that prove a deletion": ("vector queries",),
}

Template = Mapping[str, Any]


@dataclass(frozen=True)
class Item:
    what: str
    dollars: float
    why: str


def idle(templates: Iterable[Template]) -> list[Item]:
    """Return the items of a month, the most expensive first."""
    resources = [each for one in templates for each in one["Resources"].values()]

    def of(kind: str) -> list[Mapping[str, Any]]:
        return [each.get("Properties", {}) for each in resources if each["Type"] == kind]

    alarms = of("AWS::CloudWatch::Alarm")
    # Polling a stream is free; streams are the mappings with a starting position.
    mappings = of("AWS::Lambda::EventSourceMapping")
    queues = [each for each in mappings if "StartingPosition" not in each]
    metrics = sum(map(_metrics_of, alarms))
    dashboards, secrets = of("AWS::CloudWatch::Dashboard"), of("AWS::SecretsManager::Secret")
    rates = [
        int(found[1])
        for rule in of("AWS::Events::Rule")
        if (found := _RATE.fullmatch(rule.get("ScheduleExpression", "")))
    ]
    polling = len(queues) * IDLE_REQUESTS * _MONTH * PRICES["sqs requests"]
    items = [
        Item(f"{len(alarms)} alarms", metrics * _ALARM, f"{metrics} metrics at ${_ALARM:.2f}"),
        Item(f"{len(dashboards)} dashboard", len(dashboards) * _DASHBOARD, "CloudWatch"),
        Item(f"{_METRICS} figures of our own", _METRICS * METRIC, f"metrics at ${METRIC:.2f}"),
        Item(f"{len(queues)} queues", polling, "Lambda asks each 15 times a minute"),
        Item(f"{len(secrets)} secrets", len(secrets) * _SECRET, "keys: of sessions, of webhooks"),
        Item("sweeps and rounds", sum(map(_rounds, rates)), "the reconciler, with its traces"),
    ]
    return sorted(items, key=lambda each: -each.dollars)


def _metrics_of(alarm: Mapping[str, Any]) -> int:
    """Count metrics, because an alarm on a formula is billed by each metric in it."""
    return sum("MetricStat" in each for each in alarm.get("Metrics", [])) or 1


def _rounds(minutes: int) -> float:
    each = PRICES["lambda requests"] + PRICES["traces"] + PRICES["log bytes"] * LOGGED
    each += PRICES["lambda GB-s"] * _GB_SECONDS[minutes]
    return _MONTH / 60 / minutes * each


def embedding(documents: int) -> float:
    return _tokens(documents) * MODEL_PRICES[TITAN].dollars


def vectors_written(documents: int, *, writes: int = 0) -> float:
    """Return the cost of vectors in this many calls of PutVectors, 0 for full ones."""
    return max(_vector_bytes(documents), writes * _LEAST_WRITTEN) / _GB * _WRITTEN_GB


def _tokens(documents: int) -> float:
    new = documents * DOCUMENT_BYTES * _TEXT_SHARE / _BYTES_A_TOKEN
    return new * _TOKENS_A_CHUNK / _NEW_TOKENS


def _vector_bytes(documents: int) -> float:
    return _tokens(documents) / _TOKENS_A_CHUNK * _CHUNK_BYTES


def billed(shape: Shape, *, seed: int = 1) -> Bill:
    return settle(Stage(seed=seed), shape.planned(seed)).bill


def thousand(burst: Bill, apart: Bill) -> Iterator[tuple[str, float, float]]:
    """Return the costs of a thousand documents by item, in a burst and one by one."""
    shares = [(bill, _THOUSAND / each.uploads) for bill, each in ((burst, _BURST), (apart, _APART))]
    for what, kinds in _BILLED.items():
        first, second = (share * sum(map(bill.dollars, kinds)) for bill, share in shares)
        yield (what, first, second)
    yield ("Titan, embedding", embedding(_THOUSAND), embedding(_THOUSAND))
    one_by_one = vectors_written(_THOUSAND, writes=_THOUSAND)
    yield ("S3 Vectors, written", vectors_written(_THOUSAND), one_by_one)


def idle_table(templates: Iterable[Template]) -> str:
    items = idle(templates)
    rows = [f"| {each.what} | ${each.dollars:.2f} | {each.why} |" for each in items]
    total = sum(each.dollars for each in items)
    head = ["| an idle deployment | a month | |", "|---|---|---|"]
    return "\n".join([*head, *rows, f"| altogether | ${total:.2f} | |"])


def thousand_table(burst: Bill, apart: Bill) -> str:
    lines = [*thousand(burst, apart)]
    rows = [f"| {what} | ${first:.3f} | ${second:.3f} |" for what, first, second in lines]
    first, second = sum(each for _, each, _ in lines), sum(each for _, _, each in lines)
    kept = _THOUSAND * DOCUMENT_BYTES / _GB * _KEPT_GB
    vectors = _vector_bytes(_THOUSAND) / _GB * _STORED_GB
    return "\n".join(
        [
            "| a thousand documents of 50 KB | a thousand at once | one each 30 s |",
            "|---|---|---|",
            *rows,
            f"| altogether | ${first:.3f} | ${second:.3f} |",
            "",
            f"Keeping them costs ${kept:.4f} a month in S3 and ${vectors:.4f} in S3 Vectors, which"
            " bills a write for 128 KB at least. AWS doesn't say how many documents Bedrock writes"
            " at once: the first column is with full writes, the second with one per document.",
        ]
    )


def templates_of(assembly: Path) -> Sequence[Template]:
    return [json.loads(path.read_text("utf-8")) for path in assembly.glob("*.template.json")]


def main() -> None:
    tables = [idle_table(templates_of(synthesis.assembly()))]
    tables.append(thousand_table(billed(_BURST), billed(_APART)))
    text = "\n\n".join(tables)
    print(text)
    before, _, rest = PAGE.read_text("utf-8").partition(_FIRST)
    after = rest.partition(_LAST)[2]
    PAGE.write_text(f"{before}{_FIRST}\n{text}\n{_LAST}{after}", "utf-8")


if __name__ == "__main__":
    measure(main)
