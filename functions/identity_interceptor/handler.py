"""REQUEST interceptor of the gateway: turns a verified token into identity headers."""

from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.telemetry import logger_for
from stackroom.access.interception import Forwarded, GatewayRequest, Interception
from stackroom.access.tokens import TokenVerifier, published_keys
from stackroom.app.function_settings import JsonList, Settings

logger = logger_for("identity_interceptor")


class InterceptorSettings(Settings):
    identity_issuer: str
    identity_jwks_url: str
    identity_client_ids: JsonList
    identity_audiences: JsonList


@cache
def interception() -> Interception:
    settings = InterceptorSettings.from_env()
    return Interception(
        verifier=TokenVerifier(
            keys=published_keys(settings.identity_jwks_url),
            issuer=settings.identity_issuer,
            client_ids=settings.identity_client_ids,
            audiences=settings.identity_audiences,
        )
    )


@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    request = GatewayRequest.model_validate(event["mcp"]["gatewayRequest"])

    outcome = interception().intercept(request)

    if isinstance(outcome, Forwarded):
        logger.info("forwarded", identified=outcome.headers is not None)
    else:
        logger.warning("denied", reason=outcome.reason)
    return outcome.output()
