"""
Faults over HTTP, at a path that no AWS service has.

    GET     /_simulator/faults   report ordered and injected faults
    POST    /_simulator/faults   {"faults": [{"operation": "StartIngestionJob", "kind": "lost"}]},
                                 {"chance": {"seed": 7, "rate": 0.02}}
    DELETE  /_simulator/faults   report as GET does, then clear all
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from bedrock_kb_simulator import orders
from bedrock_kb_simulator.access_keys import AccessKey
from bedrock_kb_simulator.faults import Chance, Fault, Faults

PATH = "/_simulator/faults"
DEFAULT_RATE = 0.02

Probability = Annotated[float, Field(ge=0, le=1)]


class ChanceOrder(BaseModel):
    """A chance of faults; `rate` applies to every kind."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int
    rate: Probability = DEFAULT_RATE


class FaultOrders(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    faults: Sequence[Fault] = ()
    chance: ChanceOrder | None = None


def chance_of(text: str) -> ChanceOrder:
    """Parse `SEED` or `SEED:RATE` of a command line. Raises ValueError."""
    seed, _, rate = text.partition(":")
    return ChanceOrder(seed=int(seed), rate=float(rate or DEFAULT_RATE))


def order(endpoint: str, text: str, key: AccessKey) -> None:
    """Make the simulator at `endpoint` fail by chance; `text` as in `chance_of`."""
    orders.send(endpoint + PATH, {"chance": chance_of(text).model_dump()}, key)


def respond(faults: Faults, scope: orders.Message, body: bytes) -> orders.Response:
    def take(body: bytes) -> None:
        order = FaultOrders.model_validate_json(body)
        faults.ask(*order.faults)
        if order.chance is not None:
            faults.chance = Chance.even(order.chance.seed, order.chance.rate)

    return orders.respond(
        scope, body, report=lambda: _report(faults), clear=faults.clear, take=take
    )


def _report(faults: Faults) -> dict[str, Any]:
    counts: dict[str, dict[str, int]] = {}
    for (operation, kind), count in faults.counts.items():
        counts.setdefault(operation, {})[kind] = count
    return {
        "asked": [asdict(fault) for fault in faults.asked],
        "chance": asdict(faults.chance) if faults.chance else None,
        "total": sum(faults.counts.values()),
        "counts": counts,
        "injected": [asdict(injection) for injection in faults.injected],
    }
