"""
The schemas of events, as EventBridge's Schema Registry takes them.

`python -m functions.event_publisher.schemas` writes infra/event_schemas anew, from which CDK
registers them. tests/contract/test_golden_files.py says when that is due.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stackroom.catalogs.changes import DETAIL_TYPES, Event

SCHEMAS = Path(__file__).parents[2] / "infra" / "event_schemas"


def schema_file(detail_type: str) -> str:
    """The text of the file that is named by the type without its spaces."""
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


def file_of(detail_type: str) -> Path:
    return SCHEMAS / f"{detail_type.replace(' ', '')}.json"


def _in_draft_4(schema: Any) -> Any:
    """
    Of what pydantic says in a later draft, just `const` is no word of the fourth's. What there is
    nothing of is left out, never null; all else is in every event.
    """
    if isinstance(schema, list):
        return [_in_draft_4(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    said = {name: _in_draft_4(each) for name, each in schema.items()}
    if "const" in said:
        said["enum"] = [said.pop("const")]
    said.pop("default", None)
    if _may_be_left_out(said):
        [kind] = [each for each in said.pop("anyOf") if each != {"type": "null"}]
        said |= kind
    if properties := schema.get("properties"):
        said["required"] = [name for name, each in properties.items() if not _may_be_left_out(each)]
    return said


def _may_be_left_out(schema: Mapping[str, Any]) -> bool:
    return {"type": "null"} in schema.get("anyOf", ())


if __name__ == "__main__":
    SCHEMAS.mkdir(exist_ok=True)
    for each in DETAIL_TYPES:
        file_of(each).write_text(schema_file(each), "utf-8")
