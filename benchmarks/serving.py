"""A local mode for benchmarks, the description of the machine, and the end of a run."""

import os
import platform
import random
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from stackroom.errors import StackroomError
from stackroom.model.records import DocumentStatus
from stackroom_cli.sites.site_records import SiteRecords
from stackroom_local.processes import HOST
from stackroom_local.servers import Ports
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
def serving(speed: float) -> Iterator[Instance]:
    """A fresh local mode on free ports, in a directory that goes with it."""
    with tempfile.TemporaryDirectory(prefix="stackroom-bench-") as folder:
        state = StateDirectory(Path(folder) / "state")
        mode = LocalMode(
            state=state,
            ports=Ports(aws=free_ports()),
            speed=speed,
            announce=lambda _text: None,
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


def free_ports() -> int:
    """The first of four free ports in a row, below those that outgoing connections take."""
    for first in random.sample(range(10_000, 32_000), 50):
        if all(_is_free(first + offset) for offset in range(4)):
            return first
    raise NotMeasured("there are no four free ports in a row")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) != 0


def print_machine() -> None:
    """The load too: on a busy machine every figure is worse than the code deserves."""
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(
        f"{os.cpu_count()} CPUs ({platform.machine()}), Python {platform.python_version()}, "
        f"load before {load}"
    )


def verdict(reached: bool) -> str:
    return "reached" if reached else "NOT reached"
