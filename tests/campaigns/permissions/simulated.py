"""
The rare ways, in simulated time: the stories of chaos, and what only goes wrong seldom.

The handlers, their clients and what they ask for are the product's own; moto and the simulator
answer. The inspection and the functions behind the gateway are not among them: those are recorded
in a local mode (`recorded.py`).
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pytest

from benchmarks.simulated_time.bedrock import ACCOUNT, REGION
from stackroom_local.recording import record
from stackroom_local.simulator.disturbances import Kind
from stackroom_local.simulator.faults import Fault
from tests.campaigns.chaos import deployment, handlers
from tests.campaigns.chaos.disruptions import ATTEMPTS
from tests.campaigns.chaos.scenarios import SCENARIOS
from tests.campaigns.chaos.trials import Trial
from tests.campaigns.chaos.wire import wired
from tests.campaigns.chaos.world import world
from tests.campaigns.permissions.needs import Line, Names
from tests.campaigns.permissions.stories import STORIES

TRIALS = (
    # The answer to our own call is lost: the job in the way is found by its description.
    Trial(
        "first drop, by jobs",
        faults=(Fault(operation="StartIngestionJob", kind=Kind.DROPPED, times=ATTEMPTS),),
    ),
    # Every execution is gone, as after a power cut: the sweep follows them.
    Trial("catalog kept, shared source", trouble=("restart", 7)),
    # A direct call is refused for so long that the sidecar, which it was to read, has gone.
    Trial(
        "delete under way, shared source",
        faults=(
            Fault(operation="IngestKnowledgeBaseDocuments", kind=Kind.UNAVAILABLE, times=ATTEMPTS),
        ),
    ),
)

_at_work: ContextVar[str] = ContextVar("name of the function that is at work", default="")


def run(tell: Callable[[str], object]) -> tuple[list[Line], Names]:
    """What each function called, whatever world it was in; what things are called there."""
    lines: list[Line] = []
    logging.getLogger("stackroom_local").setLevel(logging.ERROR)  # it tells of every fault
    with _recording(lines), wired() as wire:
        tell(f"{len(SCENARIOS)} stories of chaos")
        for name in SCENARIOS:
            Trial(name).run(wire)
        tell(f"{len(TRIALS)} of them with something going wrong")
        for trial in TRIALS:
            trial.run(wire)
        for story, terms in STORIES.items():
            tell(story.__name__.replace("_", " "))
            with world(wire, terms) as made:
                story(made)
    # Each world has a pool of one knowledge base; only in it are there data sources.
    ids = {each["parameters"].get("knowledgeBaseId") for each in lines}
    machine = {"ingest": "stackroom-ingest-catalog"}
    others = machine | dict.fromkeys((each for each in ids if each), "KnowledgeBase1")
    indexes = {each["parameters"].get("indexArn", "") for each in lines}
    others |= {each.rpartition(":")[2]: "index/Index1" for each in indexes if each}
    return lines, Names(account=ACCOUNT, region=REGION, others=others)


@contextmanager
def _recording(lines: list[Line]) -> Iterator[None]:
    """Calls of functions alone, not those of who sets a world up or looks at it."""

    def write(call: dict[str, Any]) -> None:
        if function := _at_work.get():
            lines.append({"function": function, **call})

    handle = handlers.handle

    def told(name: str, *given: Any) -> Any:
        token = _at_work.set(f"stackroom-{name.replace('_', '-')}")
        try:
            return handle(name, *given)
        finally:
            _at_work.reset(token)

    end = record(write)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deployment, "handle", told)
        try:
            yield
        finally:
            end()
