"""Other gateways before the same local mode, each broken on purpose: the oracle must see it."""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from stackroom_local.processes import HOST, free_ports, spawn
from tests.campaigns.attack.stage import Stage
from tests.campaigns.attack.wire import Wire

Configuration = dict[str, Any]


def without_interceptor(configuration: Configuration) -> Configuration:
    """Nobody sets the headers, nor removes the client's own."""
    return {**configuration, "interceptor": None}


def without_owners(configuration: Configuration) -> Configuration:
    """Every catalog is everybody's."""
    targets = configuration["targets"]
    return {**configuration, "targets": [_ownerless(each) for each in targets]}


def _ownerless(target: Configuration) -> Configuration:
    if target["name"] != "catalogs":
        return target
    handler = "tests.campaigns.attack.broken_function.handler"
    return {**target, "function": {**target["function"], "handler": handler}}


@contextmanager
def broken(
    stage: Stage, folder: Path, change: Callable[[Configuration], Configuration]
) -> Iterator[Stage]:
    """The same stage, behind a gateway of a changed configuration."""
    state, port = stage.instance.state_dir, free_ports(1)
    shutil.copytree(state / "gateway", folder / "gateway")  # the issuer's key
    configuration = folder / "gateway.json"
    configuration.write_text(json.dumps(change(json.loads((state / "gateway.json").read_text()))))
    child = spawn(
        "gateway",
        [
            sys.executable,
            *("-m", "stackroom_local.gateway", "--port", str(port)),
            *("--config", str(configuration), "--data-dir", str(folder / "gateway")),
        ],
        log=folder / "gateway.log",
        environment={},
    )
    try:
        child.wait_until_healthy(f"http://{HOST}:{port}/.well-known/oauth-protected-resource", 300)
        yield replace(stage, wire=Wire(f"http://{HOST}:{port}/mcp", stage.wire.http))
    finally:
        child.ask_to_stop()
        child.end()
