"""One boto3 session per process; a client is made on first use, since each costs start-up time."""

from functools import cache
from typing import Any

import boto3
from botocore.config import Config

# Standard mode retries throttles and 5xx three times within a few seconds; what lasts longer is
# Step Functions' and SQS's to retry, so a function never sleeps for minutes on paid time.
CONFIG = Config(
    retries={"mode": "standard", "total_max_attempts": 4}, connect_timeout=3, read_timeout=20
)
# A search asks up to 20 knowledge bases at once, and one that hangs must leave time for a partial
# answer within the retrieve function's 30 seconds.
_SEARCH = CONFIG.merge(
    Config(
        retries={"mode": "standard", "total_max_attempts": 2},
        read_timeout=8,
        max_pool_connections=25,
    )
)
# Links to S3 are signed here, and not every region takes the older way that boto3 would choose.
_LINKS = CONFIG.merge(Config(signature_version="s3v4"))
_CONFIGS = {"bedrock-agent-runtime": _SEARCH, "s3": _LINKS}


@cache
def _session() -> boto3.session.Session:
    return boto3.session.Session()


@cache
def client(service: str) -> Any:
    """The boto3 client of a service, shared by all callers (boto3 clients are thread-safe)."""
    # The service is a name known when it runs; types-boto3 has types for literal names only.
    return _session().client(service, config=_CONFIGS.get(service, CONFIG))  # type: ignore[call-overload]
