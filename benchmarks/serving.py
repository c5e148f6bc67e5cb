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
    """A figure could not be measured; the message says what happened instead."""


def measure(benchmark: Callable[[], None]) -> None:
    """Run a benchmark; a missed aim is no failure, a missing figure is."""
    try:
        benchmark()
    except (NotMeasured, StackroomError, ExceptionGroup) as error:
        sys.exit(f"could not measure: {_innermost(error)}")
    except (Stopped, KeyboardInterrupt):
        sys.exit("stopped before everything was measured")


def _innermost(error: Exception) -> Exception:
    """Unwrap an exception, which the MCP client wraps in nested groups."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


@contextmanager
def serving(speed: float) -> Iterator[Instance]:
    """Start a new local mode on free ports, in a temporary directory."""
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
    """Return the first of four free ports in a row, below those of outgoing connections."""
    for first in random.sample(range(10_000, 32_000), 50):
        if all(_is_free(first + offset) for offset in range(4)):
            return first
    raise NotMeasured("there are no four free ports in a row")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) != 0


def print_machine() -> None:
    """Describe the machine with its load, because a busy machine worsens every figure."""
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(
        f"{os.cpu_count()} CPUs ({platform.machine()}), Python {platform.python_version()}, "
        f"load before {load}"
    )


def verdict(reached: bool) -> str:
    return "reached" if reached else "NOT reached"
