"""
A filter in Bedrock's own words that somebody configured, for stores that Bedrock doesn't search.

It has been checked by stackroom.stores.linked_filters, which knows the grammar.
"""

from collections.abc import Mapping
from typing import Any

from stackroom.filters import AllOf, AnyOf, Compares, Comparison, Filter, Has, Lists


def parsed(condition: Mapping[str, Any]) -> Filter:
    """The same in the words of stackroom.filters."""
    [(operator, operand)] = condition.items()
    match operator:
        case "andAll":
            return AllOf(tuple(map(parsed, operand)))
        case "orAll":
            return AnyOf(tuple(map(parsed, operand)))
        case "equals":
            return Has(operand["key"], operand["value"])
        case "listContains":
            return Lists(operand["key"], operand["value"])
        case _:
            value = operand["value"]
            demanded = tuple(value) if isinstance(value, list) else value
            return Compares(operand["key"], Comparison(operator), demanded)
