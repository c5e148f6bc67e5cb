"""
What the retrieve function adds to the knowledge base's own answer.

    make bench-retrieve

The same queries in three ways that take turns: boto3's Retrieve straight at the knowledge base, the
function's handler in this process with the context that the gateway gives it, and, for information,
the whole way over MCP through the gateway. What is searched are the examples and a corpus with a
PDF of about a hundred pages, so that place maps are read, kept, and looked up in.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import patch

from aws_lambda_powertools.utilities.typing import LambdaContext

from benchmarks.corpus import SOURCE, Corpus, corpus, sentences
from benchmarks.serving import (
    NotMeasured,
    agent_of,
    measure,
    percentile,
    print_machine,
    serving,
    verdict,
    wait_until_indexed,
)
from stackroom.access.identity import Caller, identity_headers
from stackroom.aws import session
from stackroom.wiring.function_settings import Pool, Settings
from stackroom_client.calls import SEARCH
from stackroom_local.cli.demo import EXAMPLES
from stackroom_local.gateway.gateway_configuration import (
    FunctionConfiguration,
    GatewayConfiguration,
)
from stackroom_local.sites.file_drop import find
from stackroom_local.state import REGION, Instance

SPEED = 20  # the simulator scales Retrieve's 20 a second and account with it
AIM = 5.0
QUERIES = 300
UNMEASURED = 20  # for connections, place maps, and the first call of everything
USER = "alice"
TOP = 5
BARE, HANDLER, GATEWAY = "Retrieve alone", "retrieve function", "over MCP, through the gateway"

Call = Callable[[str], Awaitable[None]]


@dataclass(frozen=True)
class Context:
    """What the Lambda runtime makes of an invocation by the gateway."""

    client_context: SimpleNamespace = field(
        default_factory=lambda: SimpleNamespace(
            custom={
                "bedrockAgentCoreToolName": SEARCH,
                "bedrockAgentCorePropagatedHeaders": identity_headers(Caller(USER)),
            }
        )
    )
    function_name: str = "retrieve"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:000000000000:function:retrieve"
    aws_request_id: str = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True)
class Timings:
    """Milliseconds of every way, query by query; how many passages had a page of a PDF."""

    ways: dict[str, list[float]] = field(default_factory=dict)
    paged: list[int] = field(default_factory=list)


class _Pooled(Settings):
    kb_pool: Pool


def main() -> None:
    print_machine()
    found = corpus()
    print(f"searched: the examples, and {found.pages} PDF pages of {SOURCE}")
    with serving(SPEED) as instance:
        fill(instance, found)
        timings = asyncio.run(timed(instance))
    report(timings)


def fill(instance: Instance, found: Corpus) -> None:
    files = {each.name: each.path.read_bytes() for each in find([EXAMPLES / USER]).files}
    files |= {f"reference/{name}": body for name, body in found.files.items()}
    s3 = instance.client("s3")
    for name, body in files.items():
        s3.put_object(Bucket=instance.bucket, Key=f"{USER}/{name}", Body=body)
    wait_until_indexed(instance, USER, {f"{USER}/{name}" for name in files})


async def timed(instance: Instance) -> Timings:
    timings = Timings()
    async with agent_of(instance, USER) as agent:

        async def asked(query: str) -> None:
            require_all(await agent.search(query=query, top_k=TOP))

        with as_function(instance) as knowledge_base_id:
            calls: dict[str, Call] = {
                BARE: bare_call(knowledge_base_id),
                HANDLER: handler_call(timings.paged),
                GATEWAY: asked,
            }
            for number, query in enumerate(list(sentences())[: UNMEASURED + QUERIES]):
                await take_turns(calls, query, number, timings)
    return timings


async def take_turns(calls: dict[str, Call], query: str, number: int, timings: Timings) -> None:
    """No way always comes first, and none always after the same other one."""
    ways = list(calls) if number % 2 else list(reversed(calls))
    first = number % len(ways)
    for way in (*ways[first:], *ways[:first]):
        began = time.perf_counter()
        await calls[way](query)
        took = (time.perf_counter() - began) * 1000
        if number >= UNMEASURED:
            timings.ways.setdefault(way, []).append(took)


@contextlib.contextmanager
def as_function(instance: Instance) -> Iterator[str]:
    """The function's environment and role, as in the gateway; answers the knowledge base's id."""
    region = {"AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION}
    with (
        patch.dict(os.environ, {**retrieve_function(instance).environment, **region}),
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),  # where the function logs, and counts
    ):
        [member] = _Pooled.from_env().kb_pool
        yield member.knowledge_base_id


def retrieve_function(instance: Instance) -> FunctionConfiguration:
    written = (instance.state_dir / "gateway.json").read_bytes()
    targets = GatewayConfiguration.model_validate_json(written).targets
    [function] = [each.function for each in targets if SEARCH.startswith(f"{each.name}___")]
    return function


def bare_call(knowledge_base_id: str) -> Call:
    runtime = session.client("searches")  # the one that the handler has

    async def call(query: str) -> None:
        runtime.retrieve(
            knowledgeBaseId=knowledge_base_id,
            retrievalQuery={"text": query},
            retrievalConfiguration={
                "vectorSearchConfiguration": {
                    "numberOfResults": TOP,
                    "filter": {"equals": {"key": "user_id", "value": USER}},
                }
            },
        )

    return call


def handler_call(paged: list[int]) -> Call:
    # Imported here, because its logger takes standard output as it is then.
    from functions.retrieve.handler import handler  # noqa: PLC0415 - see above

    context = cast("LambdaContext", Context())

    async def call(query: str) -> None:
        answer = handler({"query": query, "top_k": TOP}, context)
        require_all(answer)
        paged.append(sum(each["source"]["page"] is not None for each in answer["results"]))

    return call


def require_all(answer: dict[str, Any]) -> None:
    if not answer["success"] or len(answer["results"]) != TOP:
        raise NotMeasured(f"a search answered {answer}")


def report(timings: Timings) -> None:
    ways = timings.ways
    print(f"{QUERIES} queries each way, {TOP} passages an answer, milliseconds:\n")
    print(f"  {'':32}{'p50':>7}{'p95':>8}")
    for way in (BARE, HANDLER, GATEWAY):
        took = ways[way]
        print(f"  {way:32}{median(took):7.1f}{percentile(took, 95):8.1f}")
    added = [handler - bare for handler, bare in zip(ways[HANDLER], ways[BARE], strict=True)]
    at_p50 = median(ways[HANDLER]) - median(ways[BARE])
    at_p95 = percentile(ways[HANDLER], 95) - percentile(ways[BARE], 95)
    print(
        f"  {'added by the function':32}{at_p50:7.1f}{at_p95:8.1f}"
        f"   aim {AIM:g} at p50: {verdict(at_p50 <= AIM)}"
    )
    print(f"\nadded, query by query: p50 {median(added):.1f}, p95 {percentile(added, 95):.1f}")
    share = sum(timings.paged) / (TOP * len(timings.paged))
    print(f"{share:.0%} of the passages had the page of a PDF looked up and found")


if __name__ == "__main__":
    measure(main)
