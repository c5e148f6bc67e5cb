"""
The catalog tools and the search under load, and what a long listing takes of DynamoDB.

    make bench-tools

Fifty agents, each a user with a catalog and a document that is indexed, call tools over MCP through
the gateway of a local mode, and think for about a second between two turns. Each tool's calls,
errors and times are printed, and what memory the gateway's and the functions' processes hold at
the beginning, in the middle and at the end. The gateway here runs at most four environments of a
function, where AWS starts as many as there are calls: what they wait for one is in their times.
"""

import argparse
import asyncio
import base64
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import mcp_types
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.listings import report_listings
from benchmarks.serving import (
    NotMeasured,
    measure,
    percentile,
    print_machine,
    serving,
    verdict,
    wait_until_indexed,
)
from benchmarks.sizes import Sizes, print_sizes, sizes_of
from stackroom_client.calls import SEARCH as RETRIEVE
from stackroom_local.cli.callers import issuer_of
from stackroom_local.state import Instance

AGENTS, SECONDS, THINKING = 50, 60.0, 1.0
SPEED = 20
AIM_GROWTH = 10.0  # % of memory, from the middle to the end
_TEXT = base64.b64encode(b"The ferry of the fjord leaves at noon, and returns at six.").decode()
_QUESTION = "when does the ferry leave?"


@dataclass
class Load:
    """Milliseconds by tool; errors by what was said."""

    took: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    sizes: list[Sizes] = field(default_factory=list)


@dataclass
class Agent:
    """One user's; what it may ask for is what it has."""

    user: str
    client: Client
    load: Load
    chance: random.Random
    catalog_id: str = ""
    document_id: str = ""
    made: int = 0

    async def prepare(self) -> None:
        created = await self.call("create_catalog", catalog_name="Harbour")
        self.catalog_id = created["metadata"]["catalog_id"]
        self.document_id = (await self._upload("ferry.txt"))["metadata"]["document_id"]

    async def warm(self) -> None:
        """A process more is no growth once every function has as many as it gets."""
        for way in (self._look, self._search):
            await way()

    async def work(self, until: float, thinking: float) -> None:
        await asyncio.sleep(self.chance.uniform(0, thinking))
        while time.monotonic() < until:
            await self.chance.choice(self._ways())()
            await asyncio.sleep(self.chance.uniform(0.5, 1.5) * thinking)

    def _ways(self) -> list[Any]:
        """Asking is what agents do most."""
        ways = [self._look, self._question, self._search, self._fetch]
        return [*ways, *ways, self._replace, self._come_and_go, self._shelve]

    async def _look(self) -> None:
        await self.call("list_catalogs")
        await self.call("list_catalog_documents", catalog_id=self.catalog_id)
        await self.call("get_indexing_status", catalog_id=self.catalog_id)

    async def _question(self) -> None:
        await self.call("select_catalog", catalog_id=self.catalog_id)
        await self.call("query_catalog", query=_QUESTION)

    async def _search(self) -> None:
        await self.call(RETRIEVE, query=_QUESTION, top_k=5)

    async def _fetch(self) -> None:
        named = {"catalog_id": self.catalog_id, "document_id": self.document_id}
        await self.call("download_from_catalog", **named)

    async def _replace(self) -> None:
        await self._upload(f"note-{self.chance.randrange(3)}.txt", replace=True)

    async def _come_and_go(self) -> None:
        self.made += 1
        uploaded = await self._upload(f"passing-{self.made}.txt")
        document_id = uploaded["metadata"].get("document_id", "")
        named = {"catalog_id": self.catalog_id, "document_id": document_id}
        await self.call("delete_catalog_document", **named)

    async def _shelve(self) -> None:
        self.made += 1
        created = await self.call("create_catalog", catalog_name=f"Shelf {self.made}")
        catalog_id = created["metadata"].get("catalog_id", "")
        await self.call("delete_catalog", catalog_id=catalog_id, confirm=True)

    async def _upload(self, filename: str, *, replace: bool = False) -> dict[str, Any]:
        return await self.call(
            "upload_to_catalog",
            catalog_id=self.catalog_id,
            filename=filename,
            file_content=_TEXT,
            replace=replace,
        )

    async def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """The answer; an error is counted, and told by its code and text."""
        name = tool if tool == RETRIEVE else f"catalogs___{tool}"
        began = time.perf_counter()
        try:
            result = await self.client.call_tool(name, arguments)
        except Exception as error:  # whatever it is, it is an error
            self.load.errors[f"{tool}: {type(error).__name__}: {error}"] += 1
            return {"metadata": {}}
        self.load.took[tool].append((time.perf_counter() - began) * 1000)
        [content] = result.content
        assert isinstance(content, mcp_types.TextContent), "the gateway answers with text"
        answer = {} if result.is_error else json.loads(content.text)
        if answer.get("status") != "success" and not answer.get("success"):
            self.load.errors[f"{tool}: {content.text[:200]}"] += 1
        return answer if "metadata" in answer else {"metadata": {}}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--agents", type=int, default=AGENTS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--thinking", type=float, default=THINKING, help="seconds between turns")
    options = parser.parse_args()
    print_machine()
    with serving(SPEED) as instance:
        report_listings(instance)
        print(
            f"\n{options.agents} agents for {options.seconds:g} s, each thinking for about"
            f" {options.thinking:g} s between turns; at most 4 environments of a function"
        )
        report(asyncio.run(loaded(instance, options)), options)


async def loaded(instance: Instance, options: argparse.Namespace) -> Load:
    load = Load()
    async with AsyncExitStack() as stack:
        agents = [
            await stack.enter_async_context(agent_of(instance, f"agent-{number}", load))
            for number in range(options.agents)
        ]
        await asyncio.gather(*(each.prepare() for each in agents))
        if load.errors:
            raise NotMeasured(f"the agents were not ready: {load.errors.most_common(3)}")
        for each in agents:
            key = f"{each.user}/{each.catalog_id}/ferry.txt"
            await asyncio.to_thread(wait_until_indexed, instance, each.user, {key})
        await asyncio.gather(*(each.warm() for each in agents))
        load.took.clear()
        until = time.monotonic() + options.seconds
        load.sizes.append(sizes_of(instance))
        work = asyncio.gather(*(each.work(until, options.thinking) for each in agents))
        await asyncio.sleep(options.seconds / 2)
        load.sizes.append(sizes_of(instance))
        await work
        load.sizes.append(sizes_of(instance))
    return load


@asynccontextmanager
async def agent_of(instance: Instance, user: str, load: Load) -> AsyncIterator[Agent]:
    headers = {"Authorization": f"Bearer {issuer_of(instance).mint(user)}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(instance.mcp_url, http_client=http)) as client,
    ):
        yield Agent(user, client, load, random.Random(user))


def report(load: Load, options: argparse.Namespace) -> None:
    calls = sum(map(len, load.took.values()))
    print(f"\n{'milliseconds':28}{'calls':>8}{'p50':>9}{'p99':>9}")
    for tool, took in sorted(load.took.items()):
        p50, p99 = (percentile([*took, *took[:1]], each) for each in (50, 99))
        print(f"{tool.rpartition('___')[2]:28}{len(took):8}{p50:9.1f}{p99:9.1f}")
    errors = load.errors.total()
    print(f"{'all':28}{calls:8}   {calls / options.seconds:.1f} a second")
    print(f"errors                      {errors:8}   aim 0: {verdict(errors == 0)}")
    for told, number in load.errors.most_common(10):
        print(f"  {number} x {told}")
    print_sizes(load.sizes, aim=AIM_GROWTH)


if __name__ == "__main__":
    measure(main)
