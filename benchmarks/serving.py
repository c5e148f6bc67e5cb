"""What the benchmarks of the local mode share: one of their own to measure, an agent, and facts."""

import json
import os
import platform
import random
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any

import httpx2
import mcp_types
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from stackroom.documents.model import DocumentStatus
from stackroom.errors import StackroomError
from stackroom_client.calls import SEARCH
from stackroom_local.cli.callers import issuer_of
from stackroom_local.processes import HOST
from stackroom_local.servers import Ports
from stackroom_local.sites.site_records import SiteRecords
from stackroom_local.state import Instance, StateDirectory
from stackroom_local.supervisor import LocalMode, Stopped

_LOOK_SECONDS = 0.2
_PATIENCE = 600.0


class NotMeasured(Exception):
    """What was to be measured did not happen; the message says what came instead."""


def measure(benchmark: Callable[[], None]) -> None:
    """Runs a benchmark; a figure short of its aim is no failure, one not taken is."""
    try:
        benchmark()
    except (NotMeasured, StackroomError, ExceptionGroup) as error:
        sys.exit(f"could not measure: {_innermost(error)}")
    except (Stopped, KeyboardInterrupt):
        sys.exit("stopped before everything was measured")


def _innermost(error: Exception) -> Exception:
    """The MCP client wraps what is raised beside it in groups of groups."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


@contextmanager
def serving(speed: float, **context: str) -> Iterator[Instance]:
    """
    A fresh local mode on free ports, in a directory that goes with it; `context` is of CDK.
    """
    with scratch() as folder:
        state = StateDirectory(folder / "state")
        mode = LocalMode(
            state=state,
            ports=Ports(aws=free_ports()),
            speed=speed,
            announce=lambda _text: None,
            context=context,
        )
        with state.held(), mode.running() as instance:
            yield instance


def wait_until_indexed(instance: Instance, user: str, keys: Collection[str]) -> None:
    deadline = time.monotonic() + _PATIENCE
    records = SiteRecords(instance)
    while time.monotonic() < deadline:
        documents = [
            document
            for listing in records.listings(user)
            for document in listing.documents
            if document.s3_key in keys
        ]
        for document in documents:
            if document.status is DocumentStatus.FAILED:
                raise NotMeasured(f"{document.s3_key} failed: {document.status_reason}")
        indexed = [each for each in documents if each.status is DocumentStatus.INDEXED]
        if len(indexed) == len(keys):
            return
        time.sleep(_LOOK_SECONDS)
    raise NotMeasured(f"{', '.join(keys)} not indexed within {_PATIENCE:g} s")


@contextmanager
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="stackroom-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_ports() -> int:
    """The first of four free ports in a row, below those that outgoing connections take."""
    for first in random.sample(range(10_000, 32_000), 50):
        if all(is_free(first + offset) for offset in range(4)):
            return first
    raise NotMeasured("there are no four free ports in a row")


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) != 0


@dataclass(frozen=True)
class Agent:
    """An MCP client that stays connected, as an agent's does between its calls."""

    client: Client

    async def search(self, **arguments: Any) -> dict[str, Any]:
        """The retrieve tool's answer."""
        answer = await self.call(SEARCH, **arguments)
        if not answer["success"]:
            raise NotMeasured(f"the search answered {answer['errorType']}: {answer['error']}")
        return answer

    async def ask(self, **arguments: Any) -> dict[str, Any]:
        """What query_catalog answers."""
        answer = await self.call("catalogs___query_catalog", **arguments)
        if answer["status"] != "success":
            raise NotMeasured(f"the question was answered {answer['content'][0]['text']}")
        return answer

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        [content] = result.content
        assert isinstance(content, mcp_types.TextContent), "the gateway answers with text"
        if result.is_error:
            raise NotMeasured(f"the tool answered {content.text}")
        return dict(json.loads(content.text))


@asynccontextmanager
async def agent_of(instance: Instance, user: str) -> AsyncIterator[Agent]:
    headers = {"Authorization": f"Bearer {issuer_of(instance).mint(user)}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(instance.mcp_url, http_client=http)) as client,
    ):
        yield Agent(client)


def percentile(values: Sequence[float], percent: int) -> float:
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def print_machine() -> None:
    """The load too: on a busy machine every figure is worse than the code deserves."""
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(
        f"{os.cpu_count()} CPUs ({platform.machine()}), Python {platform.python_version()}, "
        f"load before {load}"
    )


def verdict(reached: bool) -> str:
    return "reached" if reached else "NOT reached"
