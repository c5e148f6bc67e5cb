"""The stack of a collection and a gateway that are there already, synthesised."""

import json
from pathlib import Path

from tests.infra import synthesis
from tests.infra.assembly import Assembly

ACCOUNT = "000000000000"
EXISTING = {
    "collection_arn": f"arn:aws:aoss:us-east-1:{ACCOUNT}:collection/abcdefghij0123456789",
    "collection_name": "finance-docs",
    "gateway_id": "docs-abc1234567",
    "gateway_role_arn": f"arn:aws:iam::{ACCOUNT}:role/service-role/gateway",
    "tenancy": "shared",
}
ROLE = f"arn:aws:iam::{ACCOUNT}:role/stackroom-opensearch-retrieve-us-east-1"


def kept(name: str = "opensearch", **context: object) -> Assembly:
    """Synthesised, or found as it was."""
    told = {**EXISTING, **context}
    made = synthesis.kept(
        name, lambda directory: _synthesise(directory, told), told=json.dumps(told)
    )
    return Assembly(made)


def synthesised(directory: Path, **context: object) -> Assembly:
    _synthesise(directory, {**EXISTING, **context})
    return Assembly(directory)


def _synthesise(directory: Path, context: dict[str, object]) -> None:
    """A finding of cdk-nag without acknowledgment fails it."""
    # Importing the CDK starts a Node process, which no other test has a use for.
    import aws_cdk as cdk  # noqa: PLC0415
    from cdk_nag import AwsSolutionsChecks  # noqa: PLC0415

    from infra.opensearch_app import build_app  # noqa: PLC0415

    app = build_app(str(directory), context)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()
