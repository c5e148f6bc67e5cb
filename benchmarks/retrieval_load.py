"""
Questions of 200 tenants at one knowledge base, one of whom asks far more than it takes.

Retrieve takes 20 questions a second of an account (rule rate.Retrieve). The search, the adapter of
Bedrock, turns and pacing are as deployed, each environment of the function with its own; Retrieve's
answers and its throttles are the simulator's, and time is simulated. The tenant who floods ignores
the waiting time that it is given, and never stops. A question's time is what its caller measures,
a cold start of 0.8 seconds included.

Assumed: a search takes 300 ms at the median, log-normal; a refusal takes 20 ms, DynamoDB 6 ms.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from benchmarks.observation import percentile
from benchmarks.retrieval_world import FLOODER, Told, World
from benchmarks.serving import verdict
from stackroom.documents.filters import Has
from stackroom.documents.passages import Retrieved
from stackroom.search.cached_embeddings import asked_by
from stackroom.search.wrappers import Coalesced

_SECONDS, _FLOOD = 120.0, 100.0  # how long they ask; the flooder's questions a second
_AIM = 2.0  # times the quiet p99, for everybody but the one who floods
_BEGINNING = 5.0  # seconds, in which the function's environments hear of a flood
_TOGETHER, _DISTINCT = 16, 4


def print_questions(seed: int) -> None:
    print((__doc__ or "").strip())
    flooding = f"{FLOODER} asks {_FLOOD:g} a second"
    quiet = shown("nobody floods", seed, flood=0.0, paced=True)
    with_turns = shown(f"{flooding}, with turns", seed, flood=_FLOOD, paced=True)
    without = shown(f"{flooding}, without", seed, flood=_FLOOD, paced=False)
    print("\nthe others' p99, against that without a flood; and how many had no answer")
    for name, world in (("with turns", with_turns), ("without", without)):
        others = world.told[False]
        ratio, unanswered = _p99(others) / _p99(quiet.told[False]), len(others.shed) + others.failed
        is_kept = ratio <= _AIM and not unanswered
        print(f"  {name:<14}{ratio:6.2f}, {unanswered:,}; aim {_AIM:g}, 0: {verdict(is_kept)}")
    first = [each for each in with_turns.told[False].answered if each[0] < _BEGINNING]
    ratio = _p99(Told(answered=first)) / _p99(quiet.told[False])
    print(f"  of these, in the first {_BEGINNING:g} seconds: {ratio:.2f} ({len(first)} questions)")
    print_coalesced()


def shown(what: str, seed: int, *, flood: float, paced: bool) -> World:
    began = time.perf_counter()
    world = World(paced=paced, seed=seed)
    world.asked(_SECONDS, flood)
    print(f"\n{what}")
    for name, told in (("the others", world.told[False]), (FLOODER, world.told[True])):
        if told.asked and (flood or name != FLOODER):
            _print_told(name, told, _SECONDS)
    bill = world.account.bill
    refused = bill.calls["Retrieve"] - bill.accepted["Retrieve"]
    print(f"  Retrieve            {bill.calls['Retrieve']:8,} asked, {refused:,} of them refused")
    print(f"  environments        {world.environments:8,}")
    million = sum(each.asked for each in world.told.values()) / 1e6
    if world.book is not None:
        reads, writes = bill.amounts["dynamodb reads"], bill.amounts["dynamodb writes"]
        dollars = bill.dollars("dynamodb reads") + bill.dollars("dynamodb writes")
        print(
            f"  ledger of turns     {reads:8,.0f} read units, {writes:,.0f} write units:"
            f" ${dollars / million:.2f} per million questions; {world.book.largest:,} bytes at most"
        )
    lambdas = bill.dollars("lambda GB-s") + bill.dollars("lambda requests")
    print(f"  Lambda              ${lambdas / million:7.2f} per million questions")
    print(f"  simulated in        {time.perf_counter() - began:8.1f} s")
    return world


def _print_told(name: str, told: Told, seconds: float) -> None:
    waits = sorted(each for _, each in told.answered)
    p50, p99 = (1000 * percentile(waits, share) for share in (0.5, 0.99))
    print(
        f"  {name:<12}{told.asked:7,} asked, {len(waits):6,} answered"
        f" ({len(waits) / seconds:.1f} a second), p50 {p50:,.0f} ms, p99 {p99:,.0f} ms"
    )
    later = sorted(each for each in told.shed if each is not None)
    when = f" (told to come again in {later[0]}-{later[-1]} s)" if later else ""
    print(
        f"  {'':<12}{len(told.shed):7,} sent away{when}, {told.failed} failed,"
        f" {told.wrong} wrong answers"
    )


def _p99(told: Told) -> float:
    return percentile(sorted(each for _, each in told.answered), 0.99)


def print_coalesced() -> None:
    """With threads and in real time, as in an agent's process."""
    asked: list[str] = []

    class Slow:
        def retrieve(self, query: str, *_: object, **__: object) -> Retrieved:
            asked.append(query)
            time.sleep(0.3)
            return Retrieved(passages=())

    knowledge_base = Coalesced(Slow())
    ready = threading.Barrier(_TOGETHER)

    def ask(number: int) -> None:
        with asked_by(FLOODER):
            ready.wait()
            query = f"question {number % _DISTINCT}"
            knowledge_base.retrieve(query, Has("user_id", FLOODER), 5)

    with ThreadPoolExecutor(_TOGETHER) as threads:
        list(threads.map(ask, range(_TOGETHER)))
    print(
        f"\ncoalesced: of {_TOGETHER} questions at once in an agent's process, {_DISTINCT} of them"
        f" distinct, {_TOGETHER - len(asked)}; in a function none, which has one at a time"
    )
