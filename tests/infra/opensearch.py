"""The synthesised stack of an existing collection and gateway."""

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


def cached_assembly(name: str = "opensearch", **context: object) -> Assembly:
    """Return the assembly, synthesised unless it is cached."""
    merged = {**EXISTING, **context}
    directory = synthesis.synthesise_once(
        name, lambda draft: _synthesise(draft, merged), inputs=json.dumps(merged)
    )
    return Assembly(directory)


def synthesised(directory: Path, **context: object) -> Assembly:
    _synthesise(directory, {**EXISTING, **context})
    return Assembly(directory)


def _synthesise(directory: Path, context: dict[str, object]) -> None:
    """Synthesise the stack; a finding of cdk-nag without acknowledgment fails it."""
    # Importing the CDK starts a Node process, which no other test needs.
    import aws_cdk as cdk  # noqa: PLC0415
    from cdk_nag import AwsSolutionsChecks  # noqa: PLC0415

    from infra.opensearch_app import build_app  # noqa: PLC0415

    app = build_app(str(directory), context)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()
