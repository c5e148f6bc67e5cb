"""
The CDK app of one stack, OpenSearchRetrieveStack, for an existing collection and gateway.

    make deploy-opensearch ARGS="-c collection_arn=arn:aws:aoss:... -c gateway_id=... ..."

docs/opensearch.md lists the settings.
"""

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
if __package__ in (None, ""):  # run as a script, as the CDK's CLI does
    sys.path[0] = str(ROOT)
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")
os.environ.setdefault("JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION", "1")

import aws_cdk as cdk

from infra.contexts import create_app
from infra.deployment import Deployment
from infra.opensearch_retrieve import OpenSearchRetrieveStack
from infra.opensearch_settings import Settings


def build_app(outdir: str | None = None, context: Mapping[str, object] | None = None) -> cdk.App:
    """
    Return the app, ready for `synth()`; `context` overrides cdk.json, the CLI's `-c` overrides
    both.

    Raises ValueError that names a value that is missing, unknown or wrong.
    """
    names = [each.name for each in fields(Settings)]
    app = create_app(outdir, context, settings=["project", "bundling", *names])
    deployment = Deployment.from_context(app)
    OpenSearchRetrieveStack(
        app,
        f"{deployment.project}-opensearch",
        deployment=deployment,
        settings=_settings(app),
    )
    return app


def _settings(app: cdk.App) -> Settings:
    values: dict[str, Any] = {}
    for each in fields(Settings):
        value = app.node.try_get_context(each.name)
        if value is not None:
            values[each.name] = _parse(each.name, value, type(each.default))
    return Settings(**values)


def _parse(name: str, value: Any, kind: type[Any]) -> Any:
    """Return the value in its type; the CLI's values are strings."""
    if kind is bool:
        if str(value).lower() not in ("true", "false"):
            raise ValueError(f"{name} {value!r} must be true or false")
        return str(value).lower() == "true"
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"{name} {value!r} must be a number") from None


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Synthesise the stack of an OpenSearch collection."
    )
    parser.add_argument(
        "--outdir", default=None, help="output folder (default: cdk.out/opensearch)"
    )
    parser.add_argument("--bundle", action="store_true", help="install the function's packages")
    arguments = parser.parse_args()
    os.environ.setdefault("CDK_VALIDATION", "false")  # tests/infra runs it
    under_cli = os.environ.get("CDK_OUTDIR")
    outdir = arguments.outdir or under_cli or str(ROOT / "cdk.out" / "opensearch")
    try:
        app = build_app(outdir, {"bundling": "full"} if arguments.bundle else None)
    except ValueError as error:
        sys.exit(f"infra/opensearch_app.py: {error}")
    app.synth()


if __name__ == "__main__":
    main()
