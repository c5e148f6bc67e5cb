"""The command line with a folder of its own for deployments."""

from pathlib import Path

import pytest

from stackroom_cli.sites.known_deployments import KnownDeployments
from stackroom_cli.sites.site import AwsSite

OUTPUTS = {
    "docs-data": {
        "BucketName": "docs-kb-docs-123456789012-eu-west-1",
        "CatalogTableName": "docs-kb-catalog",
        "ControlTableName": "docs-kb-control",
        "UserPoolId": "eu-west-1_abc",
    },
    "docs-gateway": {
        "McpUrl": "https://gateway.example/mcp",
        "IssuerUrl": "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc",
        "ClientId": "client",
    },
}


@pytest.fixture
def site() -> AwsSite:
    return AwsSite(
        name="prod",
        project="docs",
        region="eu-west-1",
        bucket="docs-kb-docs-123456789012-eu-west-1",
        catalog_table="docs-kb-catalog",
        control_table="docs-kb-control",
        mcp_url="https://gateway.example/mcp",
        issuer="https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc",
        client_id="client",
    )


@pytest.fixture
def deployments(tmp_path: Path) -> KnownDeployments:
    return KnownDeployments(tmp_path / "config")
