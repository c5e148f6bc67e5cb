"""
The schemas of events, in the format of EventBridge's Schema Registry.

`python -m functions.event_publisher.schemas` regenerates infra/event_schemas, from which CDK
registers them. tests/contract/test_golden_files.py fails when that is due.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stackroom.catalogs.changes import DETAIL_TYPES, Event

SCHEMAS = Path(__file__).parents[2] / "infra" / "event_schemas"


def schema_file(detail_type: str) -> str:
    """Return the text of an event type's schema file."""
    envelope = Event.model_json_schema(ref_template="#/definitions/{model}")
    detail = DETAIL_TYPES[detail_type].model_json_schema(ref_template="#/definitions/{model}")
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "title": detail_type,
        "type": "object",
        "properties": {
            **envelope["properties"],
            "detail-type": {"type": "string", "enum": [detail_type]},
            "detail": {name: each for name, each in detail.items() if name != "$defs"},
        },
        "definitions": detail.get("$defs", {}),
    }
    return json.dumps(_in_draft_4(schema), indent=2) + "\n"


def schema_path(detail_type: str) -> Path:
    return SCHEMAS / f"{detail_type.replace(' ', '')}.json"


def _in_draft_4(schema: Any) -> Any:
    """
    Return the schema in draft 4.

    Of the keywords that pydantic uses, draft 4 lacks only `const`. Optional fields without a value
    are omitted from events, never null; all other fields are in every event.
    """
    if isinstance(schema, list):
        return [_in_draft_4(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    converted = {name: _in_draft_4(each) for name, each in schema.items()}
    if "const" in converted:
        converted["enum"] = [converted.pop("const")]
    converted.pop("default", None)
    if _is_optional(converted):
        [kind] = [each for each in converted.pop("anyOf") if each != {"type": "null"}]
        converted |= kind
    if properties := schema.get("properties"):
        converted["required"] = [
            name for name, each in properties.items() if not _is_optional(each)
        ]
    return converted


def _is_optional(schema: Mapping[str, Any]) -> bool:
    return {"type": "null"} in schema.get("anyOf", ())


if __name__ == "__main__":
    SCHEMAS.mkdir(exist_ok=True)
    for each in DETAIL_TYPES:
        schema_path(each).write_text(schema_file(each), "utf-8")
