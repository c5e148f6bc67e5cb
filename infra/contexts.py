"""
Creates the CDK app of a script in this folder, with its context.

cdk.json holds the defaults and the feature flags. Python, pytest and the CLI must agree on them,
and only the CLI reads the file by itself.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import aws_cdk as cdk

_Text = TypeVar("_Text", bound=str)

COST_TAG = "stackroom-project"  # tells projects apart in the bill

_CDK_JSON = Path(__file__).parents[1] / "cdk.json"
# The context that the CDK CLI adds; the last two come from `cdk acknowledge` and `cdk
# cli-telemetry`.
_PREFIXES_OF_CDK = ("aws:cdk:", "@")
_NAMES_OF_CDK = ("acknowledged-issue-numbers", "cli-telemetry")


def parse_context(arguments: Iterable[str]) -> dict[str, str]:
    """Return the values of `-c NAME=VALUE` arguments. Raises ValueError for one without a value."""
    pairs = [each.partition("=") for each in arguments]
    if wrong := [name for name, equals, _ in pairs if not equals]:
        raise ValueError(f"-c {wrong[0]} has no value: use -c NAME=VALUE")
    return {name: value for name, _, value in pairs}


def choice(app: cdk.App, name: str, allowed: Sequence[_Text]) -> _Text:
    """Return a setting. Raises ValueError if it is none of the allowed texts."""
    value = str(app.node.get_context(name))
    for each in allowed:
        if each == value:
            return each
    raise ValueError(f"context {name} {value!r} must be one of {', '.join(map(repr, allowed))}")


def text(app: cdk.App, name: str, form: re.Pattern[str], meaning: str) -> str:
    """Return a setting. Raises ValueError with the form's meaning if it has another form."""
    value = str(app.node.get_context(name))
    if not form.fullmatch(value):
        raise ValueError(f"context {name} {value!r} must be {meaning}")
    return value


def create_app(
    outdir: str | None,
    context: Mapping[str, object] | None,
    *,
    settings: Collection[str] | None = None,
) -> cdk.App:
    """
    Return the app; `context` overrides cdk.json, and `-c` overrides both.

    The functions come without packages unless the context says otherwise. `settings` are the names
    that this app reads, by default those in cdk.json that are no flags.

    Raises ValueError for a name that is no setting of the app.
    """
    defaults = json.loads(_CDK_JSON.read_text("utf-8"))["context"]
    app = cdk.App(
        outdir=outdir,
        analytics_reporting=False,
        context={**defaults, "bundling": "none", **(context or {})},
    )
    if settings is None:
        settings = [name for name in defaults if not name.startswith(_PREFIXES_OF_CDK)]
    values = app.node.get_all_context()
    unknown = sorted(
        name for name, value in values.items() if not _is_known(name, value, settings, defaults)
    )
    if unknown:
        raise ValueError(
            f"context {', '.join(map(repr, unknown))} is no setting of this app; use one of"
            f" {', '.join(sorted(settings))}"
        )
    # CloudFormation passes a stack's tags to all of its resources that can have tags.
    project = str(app.node.get_context("project"))
    cdk.Tags.of(app).add(COST_TAG, project, include_resource_types=["aws:cdk:stack"])
    return app


def _is_known(
    name: str, value: object, settings: Collection[str], defaults: Mapping[str, object]
) -> bool:
    """Return True for settings, the CDK's own context, and defaults of other apps.
    The CLI passes all of cdk.json to every app.
    """
    is_cdks = name.startswith(_PREFIXES_OF_CDK) or name in _NAMES_OF_CDK
    return is_cdks or name in settings or value == defaults.get(name)
