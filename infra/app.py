"""
The CDK app: the stacks and what each receives.

    python infra/app.py [--outdir cdk.out] [--bundle]     synthesise, offline unless --bundle

Without --bundle the functions lack their packages: enough to read, test and run locally. The CDK
CLI reads cdk.json, which bundles.
"""

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
if __package__ in (None, ""):  # run as a script, as cdk.json does
    sys.path[0] = str(ROOT)
os.environ.setdefault("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20")
os.environ.setdefault("JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION", "1")

import aws_cdk as cdk

from infra.console import ConsoleStack
from infra.contexts import create_app, parse_context
from infra.customer_key import encrypt
from infra.data import DataStack
from infra.deployment import Deployment
from infra.gateway import GatewayStack
from infra.knowledge_base import KnowledgeBaseStack
from infra.operations import OperationsStack
from infra.pipeline import PipelineStack
from infra.variables import check_variables


def build_app(outdir: str | None = None, context: Mapping[str, object] | None = None) -> cdk.App:
    """
    Return the app, ready for `synth()`. `context` overrides cdk.json; the CLI's `-c` overrides
    both.

    Raises ValueError that names a setting that is unknown or wrong.
    """
    app = create_app(outdir, context)
    deployment = Deployment.from_context(app)

    data = DataStack(app, f"{deployment.project}-data", deployment=deployment)
    knowledge_base = KnowledgeBaseStack(
        app,
        f"{deployment.project}-knowledge-base",
        deployment=deployment,
        documents=data.bucket,
        key=data.key,
    )
    pipeline = PipelineStack(
        app,
        f"{deployment.project}-pipeline",
        deployment=deployment,
        data=data,
        knowledge_base=knowledge_base,
    )
    gateway = GatewayStack(
        app,
        f"{deployment.project}-gateway",
        deployment=deployment,
        data=data,
        knowledge_base=knowledge_base,
    )
    console = None
    if deployment.console is not None:
        console = ConsoleStack(
            app,
            f"{deployment.project}-console",
            deployment=deployment,
            settings=deployment.console,
            data=data,
            knowledge_base=knowledge_base,
            gateway=gateway,
        )
    OperationsStack(
        app,
        f"{deployment.project}-operations",
        deployment=deployment,
        data=data,
        pipeline=pipeline,
        gateway=gateway,
        console=console,
    )
    if data.key is not None:
        encrypt(app, data.key)
    check_variables(app)
    return app


def main() -> None:
    parser = argparse.ArgumentParser(description="Synthesise Stackroom's CloudFormation templates.")
    parser.add_argument("--outdir", default=None, help="output folder (default: cdk.out)")
    parser.add_argument("--bundle", action="store_true", help="install the functions' packages")
    parser.add_argument("-c", "--context", action="append", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()
    # The validator doubles the time; tests/infra runs it instead.
    os.environ.setdefault("CDK_VALIDATION", "false")
    under_cli = os.environ.get("CDK_OUTDIR")
    outdir = arguments.outdir or under_cli or str(ROOT / "cdk.out")
    try:
        context = parse_context(arguments.context)
        app = build_app(outdir, {**context, "bundling": "full"} if arguments.bundle else context)
    except ValueError as error:
        sys.exit(f"infra/app.py: {error}")
    app.synth()


if __name__ == "__main__":
    main()
