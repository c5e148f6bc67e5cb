"""
How far one S3 key walks through the code: modules entered, and returns to one that it had left.

    python -m benchmarks.walk

Each situation is brought about in memory and `Uploads.reconcile` is called with its key; a profile
hook notes in which module of src/stackroom each call goes on. A short walk reads well.
"""

import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

from tests.unit.pipeline import KEY, Pipeline

Situation = Callable[[Pipeline], str]


def a_new_file(pipeline: Pipeline) -> str:
    pipeline.bucket.upload(KEY)
    return KEY


def the_same_event_again(pipeline: Pipeline) -> str:
    pipeline.drop()
    return KEY


def another_version(pipeline: Pipeline) -> str:
    pipeline.drop()
    pipeline.bucket.upload(KEY, "other")
    return KEY


def a_file_that_is_gone(pipeline: Pipeline) -> str:
    pipeline.drop()
    pipeline.bucket.delete(KEY)
    return KEY


def a_file_that_cannot_be_taken(pipeline: Pipeline) -> str:
    pipeline.bucket.upload("alice/research/a.exe")
    return "alice/research/a.exe"


def a_file_of_no_catalog(pipeline: Pipeline) -> str:
    pipeline.bucket.upload("alice/loose.txt")
    return "alice/loose.txt"


SITUATIONS: tuple[Situation, ...] = (
    a_new_file,
    the_same_event_again,
    another_version,
    a_file_that_is_gone,
    a_file_that_cannot_be_taken,
    a_file_of_no_catalog,
)


def walked(situation: Situation) -> list[str]:
    """The modules in which the walk goes on, one after another."""
    pipeline = Pipeline()
    key = situation(pipeline)
    stays: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        # A call goes on in the module called; after its return, the walk is back at the caller's.
        at = frame if event == "call" else frame.f_back
        if event not in ("call", "return") or at is None:
            return
        is_written = Path(at.f_code.co_filename).exists()  # a dataclass's constructor is not
        name = at.f_globals.get("__name__", "")
        if is_written and name.startswith("stackroom."):
            stays.append(name)

    sys.setprofile(note)
    try:
        pipeline.uploads.reconcile(key)
    finally:
        sys.setprofile(None)
    return [name for name, _ in groupby(stays)]


def main() -> None:
    print(f"{'':32}modules  returns")
    for situation in SITUATIONS:
        stays = walked(situation)
        entered = len(set(stays))
        print(f"{situation.__name__.replace('_', ' '):32}{entered:7}  {len(stays) - entered:7}")


if __name__ == "__main__":
    main()
