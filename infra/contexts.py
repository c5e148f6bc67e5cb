"""
The app of a script in this folder, with what `-c` may say to it.

cdk.json holds the defaults and the feature flags; python, pytest and the CLI must agree on them,
and only the CLI reads it by itself.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import aws_cdk as cdk

COST_TAG = "stackroom-project"  # by which the bill tells one project from others

_CDK_JSON = Path(__file__).parents[1] / "cdk.json"
# What the CDK's CLI adds by itself; the last two come of `cdk acknowledge` and `cdk cli-telemetry`.
_PREFIXES_OF_CDK = ("aws:cdk:", "@")
_NAMES_OF_CDK = ("acknowledged-issue-numbers", "cli-telemetry")


def given(told: Iterable[str]) -> dict[str, str]:
    """What a script's `-c NAME=VALUE` say. Raises ValueError for one without a value."""
    pairs = [each.partition("=") for each in told]
    if wrong := [name for name, equals, _ in pairs if not equals]:
        raise ValueError(f"-c {wrong[0]} has no value: NAME=VALUE")
    return {name: value for name, _, value in pairs}


def app_of(
    outdir: str | None,
    context: Mapping[str, object] | None,
    *,
    settings: Collection[str] | None = None,
) -> cdk.App:
    """
    Without packages for functions, unless told; `context` overrides cdk.json, `-c` overrides both.

    settings: what this app reads. Default: what cdk.json states, but for the flags.

    Raises ValueError for a name that is no setting of the app.
    """
    stated = json.loads(_CDK_JSON.read_text("utf-8"))["context"]
    app = cdk.App(
        outdir=outdir,
        analytics_reporting=False,
        context={**stated, "bundling": "none", **(context or {})},
    )
    if settings is None:
        settings = [name for name in stated if not name.startswith(_PREFIXES_OF_CDK)]
    told = app.node.get_all_context()
    unknown = sorted(
        name for name, value in told.items() if not _is_known(name, value, settings, stated)
    )
    if unknown:
        raise ValueError(
            f"context {', '.join(map(repr, unknown))} is no setting of this app; allowed:"
            f" {', '.join(sorted(settings))}"
        )
    # CloudFormation gives a stack's tags to all of its resources that take any.
    project = str(app.node.get_context("project"))
    cdk.Tags.of(app).add(COST_TAG, project, include_resource_types=["aws:cdk:stack"])
    return app


def _is_known(
    name: str, value: object, settings: Collection[str], stated: Mapping[str, object]
) -> bool:
    """The CLI hands all of cdk.json to every app: another's default is no setting that is lost."""
    is_cdks = name.startswith(_PREFIXES_OF_CDK) or name in _NAMES_OF_CDK
    return is_cdks or name in settings or value == stated.get(name)
