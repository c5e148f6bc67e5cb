"""
Questions of 200 tenants at one knowledge base, one of whom asks far more than it accepts.

Retrieve accepts 20 questions a second of an account (rule rate.Retrieve). The search, the adapter
of Bedrock and its pacing are as deployed, one of each per environment of the function; Retrieve's
answers and throttles are the simulator's, and time is simulated. The flooding tenant ignores the
requested waiting time, and never stops. A question's time is that of its caller, including a cold
start of 0.8 seconds.

Assumed: a search takes 300 ms at the median, log-normal; a refusal takes 20 ms.
"""

import time

from benchmarks.observation import percentile
from benchmarks.retrieval_world import FLOODER, CallerResults, World

_SECONDS, _FLOOD = 120.0, 100.0  # duration; the flooder's questions a second


def print_questions(seed: int) -> None:
    print((__doc__ or "").strip())
    quiet = shown("nobody floods", seed, flood=0.0)
    flooded = shown(f"{FLOODER} asks {_FLOOD:g} a second", seed, flood=_FLOOD)
    others = flooded.results[False]
    ratio = _p99(others) / _p99(quiet.results[False])
    unanswered = len(others.shed) + others.failed
    print(
        f"\nthe others: {ratio:.2f} times the p99 without a flood,"
        f" {unanswered:,} of {others.asked:,} without an answer"
    )


def shown(what: str, seed: int, *, flood: float) -> World:
    began = time.perf_counter()
    world = World(seed=seed)
    world.asked(_SECONDS, flood)
    print(f"\n{what}")
    for name, results in (("the others", world.results[False]), (FLOODER, world.results[True])):
        if results.asked and (flood or name != FLOODER):
            _print_results(name, results, _SECONDS)
    bill = world.account.bill
    refused = bill.calls["Retrieve"] - bill.accepted["Retrieve"]
    print(f"  Retrieve            {bill.calls['Retrieve']:8,} asked, {refused:,} of them refused")
    print(f"  environments        {world.environments:8,}")
    million = sum(each.asked for each in world.results.values()) / 1e6
    lambdas = bill.dollars("lambda GB-s") + bill.dollars("lambda requests")
    print(f"  Lambda              ${lambdas / million:7.2f} per million questions")
    print(f"  simulated in        {time.perf_counter() - began:8.1f} s")
    return world


def _print_results(name: str, results: CallerResults, seconds: float) -> None:
    waits = sorted(each for _, each in results.answered)
    p50, p99 = (1000 * percentile(waits, share) for share in (0.5, 0.99))
    print(
        f"  {name:<12}{results.asked:7,} asked, {len(waits):6,} answered"
        f" ({len(waits) / seconds:.1f} a second), p50 {p50:,.0f} ms, p99 {p99:,.0f} ms"
    )
    later = sorted(each for each in results.shed if each is not None)
    when = f" (told to come again in {later[0]}-{later[-1]} s)" if later else ""
    print(
        f"  {'':<12}{len(results.shed):7,} sent away{when}, {results.failed} failed,"
        f" {results.wrong} wrong answers"
    )


def _p99(results: CallerResults) -> float:
    return percentile(sorted(each for _, each in results.answered), 0.99)
