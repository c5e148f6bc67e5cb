"""
Writes the deployed file from its source.

    make asl        writes it anew; a test fails when it is out of date
"""

import json
from pathlib import Path
from typing import Any

from statemachines.ingest_catalog import INGEST_CATALOG

DEFINITION = Path(__file__).with_name("ingest_catalog.asl.json")


def definition() -> str:
    return _written(INGEST_CATALOG, indent="") + "\n"


def _written(value: Any, *, indent: str) -> str:
    """Return readable JSON: a list of names, or a rule of a Choice, takes one line."""
    inner = indent + "  "
    if isinstance(value, dict):
        lines = [f"{json.dumps(key)}: {_written(value[key], indent=inner)}" for key in value]
        return _block("{", lines, "}", indent)
    if isinstance(value, list) and not all(isinstance(item, str) for item in value):
        return _block("[", [_item(item, indent=inner) for item in value], "]", indent)
    return json.dumps(value, ensure_ascii=False)


def _item(value: dict[str, Any], *, indent: str) -> str:
    if all(isinstance(inner, str) for inner in value.values()):
        return f"{{ {json.dumps(value, ensure_ascii=False)[1:-1]} }}"
    return _written(value, indent=indent)


def _block(start: str, lines: list[str], end: str, indent: str) -> str:
    return f"{start}\n" + ",\n".join(f"{indent}  {line}" for line in lines) + f"\n{indent}{end}"


if __name__ == "__main__":
    DEFINITION.write_text(definition(), "utf-8")
