"""Other gateways before the same local mode, each broken on purpose: the oracle must see it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.campaigns.attack.stage import Stage
from tests.campaigns.attack.wire import Wire
from tests.campaigns.gateways import another_gateway, configuration_of

Configuration = dict[str, Any]


def without_interceptor(configuration: Configuration) -> Configuration:
    """Nobody sets the headers, nor removes the client's own."""
    return {**configuration, "interceptor": None}


def without_owners(configuration: Configuration) -> Configuration:
    """Every catalog is everybody's."""
    for target in configuration["targets"]:
        if target["name"] == "catalogs":
            target["function"]["handler"] = "tests.campaigns.attack.broken_function.handler"
    return configuration


@contextmanager
def broken(
    stage: Stage, folder: Path, change: Callable[[Configuration], Configuration]
) -> Iterator[Stage]:
    """The same stage, behind a gateway of a changed configuration."""
    changed = change(configuration_of(stage.instance))
    with another_gateway(stage.instance, changed, folder) as url:
        yield replace(stage, wire=Wire(url, stage.wire.http))
