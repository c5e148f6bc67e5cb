"""A cold start of an agent's function with each store: what its adapter alone adds to it."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.agents.entries import ENTRIES

ROOT = Path(__file__).parents[2]
RUNS = 5
# What the function of an agent imports whatever it is given; then what it is given.
_CODE = """
import time
began = time.perf_counter()
from stackroom_agents import registry
imported = time.perf_counter()
registry.from_environment()
print(imported - began, time.perf_counter() - imported)
"""


@dataclass(frozen=True)
class Start:
    """Milliseconds: to import what every agent needs, and to be given the store."""

    imported: float
    given: float


def starts() -> dict[str, Start]:
    """By the name of the store; the best of several fresh processes, which take turns."""
    rounds = [{name: _started(entry) for name, entry in ENTRIES.items()} for _ in range(RUNS)]
    return {
        name: Start(
            imported=min(each[name].imported for each in rounds),
            given=min(each[name].given for each in rounds),
        )
        for name in ENTRIES
    }


def _started(entry: Mapping[str, object]) -> Start:
    environment = {
        **os.environ,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "KNOWLEDGE_BASES_CONFIG": json.dumps([entry]),
    }
    told = subprocess.run(
        [sys.executable, "-c", _CODE],
        cwd=ROOT,
        env=environment,
        check=True,
        text=True,
        capture_output=True,
    ).stdout
    imported, given = (float(part) * 1000 for part in told.split())
    return Start(imported=imported, given=given)
