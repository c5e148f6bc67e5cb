"""Texts that AWS made for a deployment and keeps for it: in no template, and in no variable."""

from typing import Any

from stackroom.aws.error_mapping import store_errors


def secret_text(client: Any, arn: str) -> str:
    """Of Secrets Manager. Raises StoreUnavailable, or ServiceRefused without the right to it."""
    with store_errors():
        return str(client.get_secret_value(SecretId=arn)["SecretString"])
