"""
Extract text in a process of its own, with bounds on time and memory.

A hostile or broken file may crash a parser or keep it busy for ever. Here that ends the child and
nothing else. Run as a module, this is the child: name and bounds in the arguments, file on standard
input, JSON on standard output.
"""

import json
import math
import os
import resource
import subprocess
import sys
from contextlib import suppress
from dataclasses import astuple

from stackroom.errors import Illegible, Unreadable
from stackroom.model.formats import extension_of
from stackroom.text.extraction import Heading, Page, PageGap, read_pages

_MEMORY_BYTES = 1_073_741_824  # leaves a function of 1,536 MB room for the file and our own code
_SCANS, _OCR = "--scans", "--ocr"
_KEPT = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH")


def read_pages_apart(
    body: bytes, filename: str, *, seconds: float, scans: bool = False, ocr: bool = False
) -> tuple[Page, ...] | None:
    """
    Return the same as `read_pages`; None if the reader crashed, ran out of memory or took longer.
    """
    try:
        # Nothing of the owner's is on the command line but the extension of the name.
        child = subprocess.run(  # noqa: S603
            [
                sys.executable,
                *("-m", __name__, f"file.{extension_of(filename)}", str(seconds)),
                *[_SCANS] * scans,
                *[_OCR] * ocr,
            ],
            input=body,
            capture_output=True,
            timeout=seconds,
            check=True,
            env=environment(),
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    answer = json.loads(child.stdout)
    if "illegible" in answer:
        raise Illegible(answer["illegible"])
    if "unreadable" in answer:
        raise Unreadable(answer["unreadable"])
    return tuple(
        Page(
            number,
            text,
            tuple(Heading(*heading) for heading in headings),
            title,
            PageGap(gap) if gap else None,
            tuple(missing),
        )
        for number, text, headings, title, gap, missing in answer["pages"]
    )


def environment() -> dict[str, str]:
    """
    Return the variables that an interpreter needs to start, and no credentials: files are hostile
    until read.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    # A Lambda function finds its packages by a path that its runtime put together.
    return {**kept, "PYTHONPATH": os.pathsep.join(sys.path)}


def _main(filename: str, seconds: float, *, scans: bool, ocr: bool) -> None:
    bound_process(seconds)
    try:
        pages = read_pages(sys.stdin.buffer.read(), filename, scans=scans, ocr=ocr)
    except Illegible as defect:
        answer: dict[str, object] = {"illegible": defect.reason}
    except Unreadable as defect:
        answer = {"unreadable": defect.reason}
    else:
        answer = {"pages": [astuple(page) for page in pages]}
    json.dump(answer, sys.stdout)


def bound_process(seconds: float) -> None:
    _bound(resource.RLIMIT_AS, _MEMORY_BYTES)
    # Should the parent be killed: nobody would be left to stop the child.
    _bound(resource.RLIMIT_CPU, math.ceil(seconds) + 1)


def _bound(what: int, limit: int) -> None:
    with suppress(ValueError, OSError):  # not every system bounds memory; time the parent does
        resource.setrlimit(what, (limit, limit))


if __name__ == "__main__":
    _main(sys.argv[1], float(sys.argv[2]), scans=_SCANS in sys.argv, ocr=_OCR in sys.argv)
