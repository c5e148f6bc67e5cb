"""What a scenario came to, in figures and beside its aims."""

from benchmarks.observation import percentile
from benchmarks.serving import verdict
from benchmarks.simulated_time.bill import PRICES
from benchmarks.stage import Outcome

_DOLLARS = 0.12  # per 1,000 documents that trickle in
_CLASSES = (10, 100, 1_000)  # uploads of a catalog


def print_truth(outcome: Outcome) -> None:
    print(f"documents lost              {outcome.lost:12,}")
    print(f"false failures              {outcome.false_failures:12,}")
    print(f"false dead letters          {outcome.dead_letters:12,}")


def print_work(outcome: Outcome) -> None:
    accepted, amounts = outcome.bill.accepted, outcome.bill.amounts
    per_run = amounts["transitions"] / outcome.executions
    print(f"executions                  {outcome.executions:12,}, broken {outcome.broken}")
    print(f"state transitions           {amounts['transitions']:12,.0f}, {per_run:.1f} a run")
    for label, operation in (
        ("jobs started", "StartIngestionJob"),
        ("direct calls", "IngestKnowledgeBaseDocuments"),
        ("direct deletes", "DeleteKnowledgeBaseDocuments"),
        ("reads of statuses", "GetKnowledgeBaseDocuments"),
        ("searches to prove", "Retrieve"),
    ):
        print(f"{label:<28}{accepted[operation]:12,}")
    print(
        f"simulated                   {outcome.simulated / 3600:12,.1f} h in {outcome.took:,.1f} s"
    )


def print_bill(outcome: Outcome, *, has_aim: bool = False) -> None:
    thousand = outcome.observation.uploads / 1_000
    print(f"\n{'billed':<28}{'amount':>12}  {'$ per 1,000':>12}")
    for what in PRICES:
        if amount := outcome.bill.amounts[what]:
            print(f"{what:<28}{amount:12,.0f}  {outcome.bill.dollars(what) / thousand:12.5f}")
        if what == "lambda GB-s":
            for function, amount in outcome.bill.memory.most_common():
                print(f"  of {function:<23}{amount:12,.0f}")
    dollars = outcome.bill.total / thousand
    beside = f", {aim(dollars, _DOLLARS)}" if has_aim else ""
    print(f"{'altogether':<28}{'':>12}  {dollars:12.5f}{beside}")
    print("(no embedding, no metrics by the month; the uploader's own requests are theirs)")


def print_classes(outcome: Outcome) -> None:
    lowest = 1
    for highest in (*_CLASSES, None):
        members = [
            waits
            for waits in outcome.observation.waits.values()
            if lowest <= len(waits) and (highest is None or len(waits) < highest)
        ]
        label = f"{lowest:,} uploads or more" if highest is None else f"{lowest:,}-{highest - 1:,}"
        waits = sorted(wait for each in members for wait in each)
        if waits:
            print(f"  catalogs with {label:<18}{len(members):6,}: {waiting(waits)}")
        lowest = highest or lowest


def aim(figure: float, aim: float) -> str:
    return f"aim {aim:g} at most: {verdict(figure <= aim)}"


def waiting(waits: list[float]) -> str:
    return f"p50 {percentile(waits, 0.5):,.1f} s, p99 {percentile(waits, 0.99):,.1f} s"
