"""
Contracts with other programs as the code has them now, by golden file.

`make golden` writes the files, and tests/contract/test_golden_files.py compares them.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from typer.core import TyperArgument, TyperGroup, TyperOption
from typer.main import get_command

from docs.cli import ANSWERS
from functions.event_publisher.schemas import schema_file, schema_path
from functions.telemetry import NAMESPACE
from functions.tool_targets import SCHEMAS, STANDALONE, TARGETS
from functions.tool_targets import schema_file as tools_of
from stackroom.catalogs.changes import DETAIL_TYPES, Stated, change_of
from stackroom.model.records import DocumentStatus
from stackroom_cli.commands import EXIT_CODES
from stackroom_cli.json_output import Failed
from stackroom_cli.program import commands
from statemachines.ingest_catalog import STATES
from tests.support.emitted_metrics import emitted_metrics
from tests.support.records import NOW, REACHED, a_catalog, a_document, a_receipt

FOLDER = Path(__file__).parent


def event_examples() -> dict[str, Any]:
    """An event of each type, by the type."""
    failed = a_document(
        status=DocumentStatus.FAILED, status_reason="it has no text", receipt_id="r"
    )
    changes: list[tuple[Stated | None, Stated]] = [
        (a_document(), failed),
        (None, a_catalog()),
        (None, a_receipt()),
        (None, REACHED),
    ]
    told = [change_of(old, new, event_id="e-1", at=NOW) for old, new in changes]
    examples = {event.detail_type: event.to_json() for event in told if event is not None}
    assert list(examples) == list(DETAIL_TYPES), "each type has an example"
    return examples


def verbs() -> dict[str, list[dict[str, Any]]]:
    """Each verb's arguments and options, by what is typed; the first has those of every verb."""
    return dict(_verbs(get_command(commands), ("stackroom",)))


def _verbs(command: Any, typed: tuple[str, ...]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    yield " ".join(typed), [_parameter(each) for each in command.params]
    if isinstance(command, TyperGroup):
        for name, each in command.commands.items():
            yield from _verbs(each, (*typed, name))


def _parameter(parameter: TyperArgument | TyperOption) -> dict[str, Any]:
    bounds = {"min": parameter.min, "max": parameter.max, "variable": parameter.envvar}
    return {
        "names": ", ".join([*parameter.opts, *parameter.secondary_opts]),
        "takes": "nothing" if getattr(parameter, "is_flag", False) else parameter.bare_type(),
        "required": parameter.required,
        "many": parameter.multiple or parameter.nargs != 1,
        **{name: bound for name, bound in bounds.items() if bound is not None},
    }


def answers() -> dict[str, Any]:
    """The JSON Schema of what each verb prints with --json; null where it is the tool's own."""
    shapes: dict[str, type[BaseModel] | None] = {**ANSWERS, "any verb that fails": Failed}
    return {
        verb: None if shape is None else _without_prose(shape.model_json_schema())
        for verb, shape in shapes.items()
    }


def _without_prose(schema: Any) -> Any:
    """Titles and descriptions may be reworded; a member may be called so all the same."""
    if isinstance(schema, list):
        return [_without_prose(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _without_prose(each)
        for name, each in schema.items()
        if not (name in ("title", "description") and isinstance(each, str))
    }


def errors() -> list[str]:
    """The names that a Retry or a Catch of the state machine matches."""
    rules = [
        rule
        for state in STATES.values()
        for rule in (*state.get("Retry", ()), *state.get("Catch", ()))
    ]
    return sorted({name for rule in rules for name in rule["ErrorEquals"]})


def metrics() -> dict[str, Any]:
    return {NAMESPACE: [asdict(each) for each in emitted_metrics()]}


def _json(made: Callable[[], Any]) -> Callable[[], str]:
    return lambda: json.dumps(made(), indent=2, ensure_ascii=False) + "\n"


# Tools and events have theirs where they are deployed from.
FILES: Mapping[Path, Callable[[], str]] = {
    **{SCHEMAS / f"{each}.json": partial(tools_of, each) for each in (*TARGETS, *STANDALONE)},
    **{schema_path(each): partial(schema_file, each) for each in DETAIL_TYPES},
    FOLDER / "event_examples.json": _json(event_examples),
    FOLDER / "verbs.json": _json(verbs),
    FOLDER / "answers.json": _json(answers),
    FOLDER / "exit_codes.json": _json(lambda: list(EXIT_CODES)),
    FOLDER / "metrics.json": _json(metrics),
    FOLDER / "errors.json": _json(errors),
}
