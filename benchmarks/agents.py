"""
What the tool `retrieve_from_knowledge_base` adds to its knowledge bases' answers.

    make bench-agents

With 1, 3 and 10 linked knowledge bases, in two ways. In memory each answers five passages after 50
milliseconds: what is left is the tool's alone. Over HTTP boto3 asks the simulator in a process of
its own, as an agent asks Bedrock; there boto3's work on ten calls takes turns in one process, and
simulator and tool share this machine's processors.

`own` is a call's whole time without the slowest answer's, which is measured at the port in memory
and around boto3's call over HTTP. `after` is what remains once the last has answered: ranking,
excerpts, the text for the model. Between the two lies what starts ten questions side by side.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from strands.types.tools import ToolContext

from benchmarks.serving import (
    NotMeasured,
    free_ports,
    measure,
    percentile,
    print_machine,
    scratch,
    verdict,
)
from simulator.tests.world import REGION, World, client, eventually, inline
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.documents.filters import Filter
from stackroom.documents.passages import Passage, Retrieved
from stackroom.search.linked_retrieval import LinkedKnowledgeBase, LinkedRetrieval
from stackroom.stores.linked_knowledge_bases import linked_retrieval, linked_settings
from stackroom_agents.observability import ObservedRetrieval
from stackroom_agents.registry import Registry
from stackroom_agents.retrieval_tool import retrieval_tool

NUMBERS = (1, 3, 10)
CALLS = 200
UNMEASURED = 20
AIM = 5.0  # milliseconds beyond the slowest knowledge base's answer
FAKE_SECONDS = 0.05
SPEED = 100  # the simulator scales Retrieve's 20 a second and account with it
DOCUMENTS = 5
QUESTION = "How many days of annual leave are there?"


@dataclass
class Clock:
    """When each answer began and ended, of those given since it was last looked at."""

    answers: list[tuple[float, float]] = field(default_factory=list)

    @contextmanager
    def running(self) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.answers.append((began, time.perf_counter()))

    def taken(self) -> tuple[float, float]:
        """The slowest answer's seconds, and when the last one ended."""
        slowest = max(ended - began for began, ended in self.answers)
        last = max(ended for _, ended in self.answers)
        self.answers.clear()
        return slowest, last


@dataclass(frozen=True)
class Timings:
    """Milliseconds, call by call."""

    whole: list[float] = field(default_factory=list)
    slowest: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    after: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Slow:
    """The port, with an answer of always the same time."""

    clock: Clock
    name: str

    def retrieve(
        self,
        query: str,  # noqa: ARG002
        condition: Filter | None,  # noqa: ARG002
        limit: int,  # noqa: ARG002
        *,
        deadline: Deadline = NO_DEADLINE,  # noqa: ARG002
    ) -> Retrieved:
        with self.clock.running():
            time.sleep(FAKE_SECONDS)
            return Retrieved(passages=tuple(map(self._passage, range(DOCUMENTS))))

    def _passage(self, number: int) -> Passage:
        text = f"Annual leave is {number} days, says {self.name}. " * 20
        return Passage(text=text, score=1 - number / 10, uri=f"s3://{self.name}/{number}.txt")


@dataclass(frozen=True)
class Timed:
    """boto3's client, with a clock around Retrieve."""

    client: Any
    clock: Clock

    def retrieve(self, **request: Any) -> Any:
        with self.clock.running():
            return self.client.retrieve(**request)


def main() -> None:
    print_machine()
    print(f"{CALLS} calls each, milliseconds\n")
    reached = [report("in memory, 50 ms each", in_memory)]
    with simulator() as world:
        entries = [entry_of(world, number) for number in range(max(NUMBERS))]
        runtime = client("bedrock-agent-runtime", world.endpoint, patient=True)
        reached.append(report("over HTTP", lambda number: over_http(entries[:number], runtime)))
    for way, is_reached in zip(("in memory", "over HTTP"), reached, strict=True):
        print(f"aim, at most {AIM:.0f} ms of its own (p50), {way}: {verdict(is_reached)}")


def report(way: str, made: Callable[[int], tuple[Registry, Clock]]) -> bool:
    print(
        f"  {way:22}{'whole p50':>11}{'slowest p50':>13}{'own p50':>9}{'p95':>8}{'after p50':>11}"
    )
    reached = True
    for number in NUMBERS:
        took = timed(*made(number))
        reached = reached and median(took.own) <= AIM
        told = f"{number} knowledge base{'' if number == 1 else 's'}"
        print(
            f"  {told:22}{median(took.whole):11.1f}{median(took.slowest):13.1f}"
            f"{median(took.own):9.2f}{percentile(took.own, 95):8.2f}{median(took.after):11.2f}"
        )
    return reached


def timed(registry: Registry, clock: Clock) -> Timings:
    timings = Timings()
    # What it is called with by an agent, its type of a function without a context doesn't tell.
    tool: Any = retrieval_tool(lambda: registry.retrieval)
    for number in range(UNMEASURED + CALLS):
        # The tool takes of an agent nothing but what it is asked, and for whom.
        context: Any = ToolContext(
            tool_use={"toolUseId": str(number), "name": "it", "input": {"query": QUESTION}},
            agent=None,
            invocation_state={},
        )
        began = time.perf_counter()
        answer = tool(tool_context=context)
        ended = time.perf_counter()
        if not answer["results"] or "failed_knowledge_bases" in answer["metadata"]:
            raise NotMeasured(f"the tool answered {answer['content']}")
        slowest, last = clock.taken()
        if number >= UNMEASURED:
            timings.whole.append((ended - began) * 1000)
            timings.slowest.append(slowest * 1000)
            timings.own.append((ended - began - slowest) * 1000)
            timings.after.append((ended - last) * 1000)
    return timings


def in_memory(number: int) -> tuple[Registry, Clock]:
    clock = Clock()
    linked = tuple(
        LinkedKnowledgeBase(knowledge_base_id=name, knowledge_base=Slow(clock, name))
        for name in (f"KB{each:08}" for each in range(number))
    )
    found = LinkedRetrieval(linked=linked)
    return Registry(knowledge_bases=(), retrieval=ObservedRetrieval(retrieval=found)), clock


def over_http(entries: list[dict[str, str]], runtime: Any) -> tuple[Registry, Clock]:
    clock = Clock()
    settings = linked_settings(json.dumps(entries))
    found = linked_retrieval(settings, lambda _: Timed(runtime, clock))
    return Registry(knowledge_bases=settings, retrieval=ObservedRetrieval(retrieval=found)), clock


@dataclass(frozen=True)
class Stage(World):
    def __post_init__(self) -> None:
        """Without a bucket: its documents come with the calls."""


@contextmanager
def simulator() -> Iterator[World]:
    port = free_ports()
    variables = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": REGION}
    with (
        scratch() as folder,
        patch.dict(os.environ, variables),
        subprocess.Popen(command(port, folder), stderr=subprocess.DEVNULL) as process,
    ):
        endpoint = f"http://127.0.0.1:{port}"
        try:
            yield eventually(lambda: reachable(endpoint))
        finally:
            process.terminate()


def command(port: int, folder: Path) -> list[str]:
    options = {"port": port, "data-dir": folder, "s3-endpoint": "http://127.0.0.1:9"}
    given = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    return [sys.executable, "-m", "bedrock_kb_simulator", *given, "--speed", str(SPEED)]


def reachable(endpoint: str) -> World | None:
    world = Stage(endpoint, endpoint, patient=True)
    try:
        world.agent.list_knowledge_bases()
    except Exception:  # whatever it is, it isn't up yet
        return None
    return world


def entry_of(world: World, number: int) -> dict[str, str]:
    """A knowledge base with five documents."""
    knowledge_base = world.knowledge_base()
    source = world.data_source(knowledge_base, dataSourceConfiguration={"type": "CUSTOM"})
    texts = {
        f"{number}-{each}": f"Annual leave is {each} days of the year {number}. " * 20
        for each in range(DOCUMENTS)
    }
    world.agent.ingest_knowledge_base_documents(
        knowledgeBaseId=knowledge_base,
        dataSourceId=source,
        documents=[inline(name, text, name=name) for name, text in texts.items()],
    )
    eventually(lambda: len(world.search(knowledge_base, QUESTION)) >= DOCUMENTS)
    return {"knowledgeBaseId": knowledge_base, "name": f"KB {number}", "description": "Leave."}


if __name__ == "__main__":
    measure(main)
