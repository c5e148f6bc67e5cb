"""
A call's arguments as Cedar sees them, `context.input`: by the tool's schema an `integer` is a Long
and a `number` a Decimal (.../devguide/policy-schema-constraints.html, under
https://docs.aws.amazon.com/bedrock-agentcore/latest/).

Cedar knows less than JSON. A null is left out, as if it had not been sent. A number beyond Cedar's
is the nearest that it has, so that every comparison comes out as it should; four of its decimals
are kept. Names that Cedar's JSON gives a meaning (`__entity`, `__extn`) lose it: an argument is a
value and nothing else.
"""

from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from stackroom_local.gateway.configuration import SchemaDefinition

_LARGEST = 2**63 - 1
_LEAST = -(2**63)
_STEP = Decimal("0.0001")  # a Decimal is a Long of these


def context_input(arguments: Mapping[str, Any], schema: SchemaDefinition | None) -> dict[str, Any]:
    known = (schema.properties if schema else None) or {}
    return {
        _inert(name): _value(value, known.get(name))
        for name, value in arguments.items()
        if value is not None
    }


def _value(value: Any, schema: SchemaDefinition | None) -> Any:
    match value:
        case bool() | str():
            return value
        case int() if schema is None or schema.type != "number":
            return min(max(value, _LEAST), _LARGEST)
        case int() | float():
            return _decimal(value)
        case dict():
            return context_input(value, schema)
        case list():
            items = schema.items if schema else None
            return [_value(member, items) for member in value if member is not None]
        case _:
            raise TypeError(f"JSON has no {type(value).__name__}")


def _decimal(value: float) -> dict[str, Any]:
    steps = int((Decimal(value) / _STEP).to_integral_value(ROUND_HALF_EVEN))
    exact = min(max(steps, _LEAST), _LARGEST) * _STEP
    return {"__extn": {"fn": "decimal", "arg": f"{exact:.4f}"}}


def _inert(name: str) -> str:
    return f"argument {name}" if name.startswith("__") else name
