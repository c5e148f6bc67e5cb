"""
How far one thing walks through the code: modules entered, and returns to one that was left before.

    python -m tests.structure.walk            (a part of `make structure`)
    python -m tests.structure.walk --check    (a part of `make check`: fails above CEILINGS)

Four ways are gone in memory, from the function's handler over the fakes of the tests, and a profile
hook notes each function of src/stackroom and functions that is given the thing: the key or its ids,
or the question. Each function counts once, as whoever reads the code opens it once, in the order
of their first calls. What the fakes call isn't counted, nor what an adapter in `aws` would do.
"""

import contextlib
import inspect
import io
import logging
import sys
import warnings
from collections.abc import Callable
from functools import partial
from itertools import groupby
from types import CodeType, FrameType, ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

from functions.catalog_tools import handler as catalog_tools
from functions.ingest import handler as ingest
from functions.retrieve import handler as retrieve
from functions.status_poller import handler as status_poller
from functions.upload_handler import handler as upload_handler
from stackroom.runs.run import Run
from statemachines.ingest_catalog import STATES
from tests.functions.pipeline import body
from tests.functions.tools import GatewayContext
from tests.support.retrieval import World
from tests.unit.pipeline import KEY, Pipeline, place_of

PLACE = place_of(KEY)
IDS = (KEY, PLACE.document_id, PLACE.catalog_id)
QUESTION = "annual leave"
COUNTED = ("stackroom.", "functions.")
FAKES = ("tests.", "simulated_time.")

Act = Callable[[], object]


class Handled(Pipeline):
    """A pipeline whose runs are moved on by the functions' handlers."""

    def _task(self, state: str, run: Run) -> Run:
        action = STATES[state]["Parameters"]["Payload"]["action"]
        function = status_poller if action == "poll" else ingest
        event = {**run.model_dump(mode="json"), "action": action}
        return Run.model_validate(function.handler(event, GatewayContext()))


def an_upload(pipeline: Pipeline) -> Act:
    pipeline.bucket.upload(KEY)
    source = "arn:aws:sqs:us-east-1:123456789012:uploads"
    event = {"Records": [{"messageId": "m1", "body": body(KEY), "eventSourceARN": source}]}
    return partial(upload_handler.handler, event, GatewayContext())


def a_run(pipeline: Pipeline) -> Act:
    pipeline.drop()
    return lambda: pipeline.go_on(pipeline.work())


def a_question(_: Pipeline) -> Act:
    asked = _asked("knowledge___knowledge_base_retrieve")
    return partial(retrieve.handler, {"query": QUESTION}, asked)


def a_deletion(pipeline: Pipeline) -> Act:
    pipeline.drop()
    pipeline.index()
    named = {"catalog_id": PLACE.catalog_id, "document_id": PLACE.document_id}
    return partial(catalog_tools.handler, named, _asked("catalogs___delete_catalog_document"))


WAYS = {an_upload: IDS, a_run: IDS, a_question: (QUESTION,), a_deletion: IDS}
# Modules and returns: lower one whenever a walk becomes shorter, and raise none.
CEILINGS = {an_upload: (8, 5), a_run: (14, 12), a_question: (10, 8), a_deletion: (12, 8)}


def _asked(tool: str) -> GatewayContext:
    return GatewayContext(headers={"X-User-Sub": "alice", "X-Session-Id": "s-1"}, tool=tool)


def _use(pipeline: Pipeline) -> None:
    """Has the handlers work on these fakes."""
    world = World()
    world.kb.put(f"{QUESTION} is 30 days", page=4, score=0.9)
    made: dict[ModuleType, dict[str, object]] = {
        upload_handler: {"uploads": pipeline.uploads, "requests": pipeline.requests},
        ingest: {"use_cases": SimpleNamespace(run_tasks=pipeline.ingestion)},
        status_poller: {"polling": pipeline.polling},
        catalog_tools: {"use_cases": SimpleNamespace(deletions=pipeline.deletions)},
        retrieve: {"retrieval": world.retrieval},
    }
    for module, fakes in made.items():
        for name, fake in fakes.items():
            patch.object(module, name, partial(lambda fake: fake, fake)).start()


def walked(act: Act, followed: tuple[str, ...]) -> list[str]:
    """The modules in which the walk goes on, one after another."""
    stays: list[str] = []
    read: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        # Nobody reads a dataclass's constructor.
        is_new = code not in read and code.co_filename != "<string>"
        if event == "call" and is_new and _is_counted(frame) and _is_given(frame, followed):
            read.add(code)
            stays.append(_module(frame))

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return [module for module, _ in groupby(stays)]


def _is_counted(frame: FrameType) -> bool:
    """Ours, and not called for a fake."""
    if not _module(frame).startswith(COUNTED):
        return False
    caller: FrameType | None = frame
    while caller is not None and _module(caller).startswith(COUNTED):
        caller = caller.f_back
    return caller is None or not _module(caller).startswith(FAKES)


def _is_given(frame: FrameType, followed: tuple[str, ...]) -> bool:
    names, more, keywords, values = inspect.getargvalues(frame)
    arguments = [each for each in (*names, more, keywords) if each not in (None, "self")]
    told = repr([values[each] for each in arguments])
    return any(each in told for each in followed)


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def main() -> None:
    logging.disable(logging.WARNING)  # what fails is told
    warnings.simplefilter("ignore")  # nothing was counted for CloudWatch
    print(f"{'':16}modules  returns")
    too_long = list[str]()
    for way, followed in WAYS.items():
        pipeline = Handled()
        _use(pipeline)
        with contextlib.redirect_stdout(io.StringIO()):  # the functions' figures
            stays = walked(way(pipeline), followed)
        entered = len(set(stays))
        returns = len(stays) - entered
        name = way.__name__.replace("_", " ")
        print(f"{name:16}{entered:7}  {returns:7}")
        print(f"  {' > '.join(stays)}")
        most = CEILINGS[way]
        if entered > most[0] or returns > most[1]:
            too_long.append(
                f"{name}: {entered}/{returns} modules/returns, {most[0]}/{most[1]} allowed"
            )
    if "--check" in sys.argv and too_long:
        sys.exit("walks that became longer: " + "; ".join(too_long))


if __name__ == "__main__":
    main()
