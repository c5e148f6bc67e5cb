"""
What the retrieve function adds to the knowledge base's own answer.

    make bench-retrieve

The same queries, one after another and each in three ways that take turns: boto3's Retrieve straight
at the knowledge base, the function's handler in this process with the context that the gateway
gives it, and the whole way over MCP through the gateway, for information. The catalogs hold the
examples and a corpus with a PDF of more than a hundred pages, so that pages are looked up.
"""

import asyncio
import contextlib
import io
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

from benchmarks.corpus import BOOK, SOURCE, Corpus, corpus, sentences
from benchmarks.serving import (
    Agent,
    NotMeasured,
    agent_of,
    measure,
    percentile,
    print_machine,
    serving,
    verdict,
    wait_until_indexed,
)
from stackroom.identity import Caller, identity_headers
from stackroom_local.cli.asking import TOOL
from stackroom_local.clients import client
from stackroom_local.demo import EXAMPLES
from stackroom_local.dropping import find
from stackroom_local.gateway.configuration import FunctionConfiguration, GatewayConfiguration
from stackroom_local.state import Instance

SPEED = 100  # the simulator scales Retrieve's 20 a second and account with it
AIM = 5.0
QUERIES = 300
UNMEASURED = 10  # connections are made and page maps read
USER = "alice"
TOP = 5

Timings = dict[str, list[float]]  # milliseconds by way


@dataclass(frozen=True)
class Context:
    """What awslambdaric makes of the gateway's invocation."""

    client_context: SimpleNamespace
    function_name: str = "retrieve"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:000000000000:function:retrieve"
    aws_request_id: str = "00000000-0000-0000-0000-000000000000"


def main() -> None:
    print_machine()
    found = corpus()
    print(f"the examples, and {found.pages} PDF pages of {SOURCE}")
    with serving(SPEED) as instance:
        fill(instance, found)
        timings = asyncio.run(timed(instance))
    report(timings)


def fill(instance: Instance, found: Corpus) -> None:
    files = {each.name: each.path.read_bytes() for each in find([EXAMPLES / USER]).files}
    files |= {f"reference/{name}": body for name, body in found.files.items()}
    s3 = client("s3", instance.aws_endpoint)
    for name, body in files.items():
        s3.put_object(Bucket=instance.bucket, Key=f"{USER}/{name}", Body=body)
    wait_until_indexed(instance, USER, {f"{USER}/{name}" for name in files})


async def timed(instance: Instance) -> Timings:
    function = retrieve_function(instance)
    queries = list(sentences())[: QUERIES + UNMEASURED]
    timings: Timings = {"bare": [], "handler": [], "mcp": []}
    async with agent_of(instance, USER) as agent:
        with in_place_of(function):
            bare, handler = bare_call(instance, function), handler_call()
            for number, query in enumerate(queries):
                # Neither always follows the other: who comes second finds caches warm.
                ways = [("bare", bare), ("handler", handler)][:: 1 if number % 2 else -1]
                for name, call in ways:
                    began = time.perf_counter()
                    call(query)
                    timings[name].append((time.perf_counter() - began) * 1000)
                began = time.perf_counter()
                await agent.search(query=query, top_k=TOP)
                timings["mcp"].append((time.perf_counter() - began) * 1000)
    return {name: each[UNMEASURED:] for name, each in timings.items()}
