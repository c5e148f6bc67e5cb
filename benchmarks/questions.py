"""
How long an agent waits for passages and for answers, with one knowledge base and with five.

    make bench-questions

The same documents, a catalog in each knowledge base of the larger pool, and the same questions in
turns: `knowledge_base_retrieve` over all catalogs, the same over one, and `query_catalog` of one.
All go over MCP through the gateway. Locally the answers are extracted, not generated: of
query_catalog this measures everything but the model's own writing, which takes seconds.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from statistics import median

from benchmarks.corpus import SOURCE, corpus, sentences
from benchmarks.serving import (
    Agent,
    NotMeasured,
    agent_of,
    measure,
    percentile,
    print_machine,
    serving,
    wait_until_indexed,
)
from stackroom.documents.keys import catalog_id_of
from stackroom_local.sites.site_records import SiteRecords
from stackroom_local.state import Instance

SPEED = 20  # the simulator scales Retrieve's 20 a second and account with it
POOLS = (1, 5)
CATALOGS = 5
QUERIES = 60
UNMEASURED = 5
USER = "alice"
ALL, ONE, ANSWER = "retrieve, all catalogs", "retrieve, one catalog", "query_catalog"

Timings = dict[str, list[float]]


def main() -> None:
    print_machine()
    files = next(corpus().batches())
    print(f"searched: {len(files)} files of {SOURCE}, in each of {CATALOGS} catalogs")
    print(f"{QUERIES} questions each way, milliseconds:\n")
    print(f"  {'knowledge bases':20}{'way':26}{'p50':>7}{'p95':>8}{'p99':>8}")
    for pool in POOLS:
        with serving(SPEED, knowledge_base_pool_size=str(pool)) as instance:
            fill(instance, files)
            homes = {
                catalog.knowledge_base_id
                for catalog in SiteRecords(instance).catalogs()
                if catalog.user_id == USER
            }
            if len(homes) != pool:
                raise NotMeasured(f"the catalogs lie in {len(homes)} of {pool} knowledge bases")
            timings = asyncio.run(timed(instance))
        for way, took in timings.items():
            figures = (median(took), percentile(took, 95), percentile(took, 99))
            print(f"  {pool:<20}{way:26}" + "".join(f"{each:8.1f}" for each in figures))


def fill(instance: Instance, files: Mapping[str, bytes]) -> None:
    s3, keys = instance.client("s3"), set[str]()
    for number in range(CATALOGS):
        for name, body in files.items():
            key = f"{USER}/{catalog(number)}/{name}"
            s3.put_object(Bucket=instance.bucket, Key=key, Body=body)
            keys.add(key)
        wait_until_indexed(instance, USER, keys)  # one after the other, so that they spread


def catalog(number: int) -> str:
    return f"catalog {number}"


async def timed(instance: Instance) -> Timings:
    timings: Timings = {}
    async with agent_of(instance, USER) as agent:
        for number, question in enumerate(list(sentences())[: UNMEASURED + QUERIES]):
            one = catalog_id_of(USER, catalog(number % CATALOGS))
            for way, call in ways(agent, question[:1000], one, turn=number):
                began = time.perf_counter()
                await call()
                if number >= UNMEASURED:
                    timings.setdefault(way, []).append((time.perf_counter() - began) * 1000)
    return timings


def ways(
    agent: Agent, question: str, one: str, *, turn: int
) -> list[tuple[str, Callable[[], Awaitable[object]]]]:
    """No way always comes first."""
    calls: list[tuple[str, Callable[[], Awaitable[object]]]] = [
        (ALL, lambda: agent.search(query=question)),
        (ONE, lambda: agent.search(query=question, catalog_id=one)),
        (ANSWER, lambda: agent.ask(query=question, catalog_id=one)),
    ]
    first = turn % len(calls)
    return calls[first:] + calls[:first]


if __name__ == "__main__":
    measure(main)
