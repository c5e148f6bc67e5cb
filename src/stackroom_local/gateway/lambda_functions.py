"""The functions behind the gateway, invoked through Lambda as the gateway's role."""

import base64
import json
import logging
from dataclasses import dataclass
from typing import Any

import boto3
import botocore.session
from botocore.config import Config
from botocore.credentials import AssumeRoleCredentialFetcher, DeferredRefreshableCredentials
from botocore.exceptions import BotoCoreError, ClientError

logger = logging.getLogger(__name__)

MAX_CONCURRENT_INVOCATIONS = 64
_LONGEST_SECONDS = 900  # that Lambda lets a function run


@dataclass(frozen=True)
class InvocationOutcome:
    """The result of an invocation: the function's JSON, or an error object in its place."""

    payload: bytes
    failed: bool = False


@dataclass(frozen=True)
class LambdaFunction:
    """A function; `client` is a client of Lambda. `invoke` may be called from many threads."""

    client: Any
    arn: str

    def invoke(self, event: bytes, *, client_context: str = "") -> InvocationOutcome:
        encoded = base64.b64encode(client_context.encode()).decode()
        context = {"ClientContext": encoded} if encoded else {}
        try:
            answer = self.client.invoke(FunctionName=self.arn, Payload=event, **context)
        except (ClientError, BotoCoreError) as error:  # throttled, denied, or never answered
            logger.warning("%s was not invoked: %s", self.arn, error)
            document = {"errorType": type(error).__name__, "errorMessage": str(error)}
            return InvocationOutcome(json.dumps(document).encode(), failed=True)
        return InvocationOutcome(answer["Payload"].read(), failed="FunctionError" in answer)


def lambda_client(role_arn: str | None) -> Any:
    """Return a client of Lambda that acts as this role, or as the environment's key."""
    session: Any = botocore.session.get_session()
    if role_arn is not None:
        key = session.get_credentials()
        fetcher = AssumeRoleCredentialFetcher(session.create_client, key, role_arn)
        session = botocore.session.get_session()
        session._credentials = DeferredRefreshableCredentials(
            fetcher.fetch_credentials, "assume-role"
        )
    config = Config(
        retries={"total_max_attempts": 1},
        read_timeout=_LONGEST_SECONDS,
        max_pool_connections=MAX_CONCURRENT_INVOCATIONS,
    )
    return boto3.Session(botocore_session=session).client("lambda", config=config)
