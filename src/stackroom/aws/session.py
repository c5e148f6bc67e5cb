"""One boto3 session per process; a client is made on first use, since each costs start-up time."""

from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from stackroom.aws.error_mapping import store_errors

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
# Throttles are answered by stackroom.search.wrappers, which knows what else the process asks.
_PACED = _SEARCH.merge(Config(retries={"mode": "standard", "total_max_attempts": 1}))
# Up to four calls in a row ask an index: what it is like, a guardrail, the question's vector, and
# the index. Each takes a few hundred milliseconds; if each hung, an answer or a failure would still
# come within those 30 seconds. S3 Vectors: "sub-second" when cold.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors.html
_DIRECT_SEARCH = _SEARCH.merge(Config(connect_timeout=2, read_timeout=3))
# Links to S3 are signed here, and not every region takes the older signature that boto3 would
# choose. boto3 would also name the global endpoint, which answers 400 for buckets in regions that
# were launched after 2019-03-20, and may redirect for others:
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html
# Virtual addressing names the region's endpoint everywhere but in us-east-1, which has a setting of
# its own. An endpoint that is an IP address, as the local mode's is, keeps the bucket in the path.
_LINKS = CONFIG.merge(
    Config(
        signature_version="s3v4",
        s3={"addressing_style": "virtual", "us_east_1_regional_endpoint": "regional"},
    )
)
# A model takes seconds to write, and longer under load. Twice this, and connecting, is below a
# minute: the timeout that a function which asks for answers needs.
_ANSWERS = CONFIG.merge(
    Config(retries={"mode": "standard", "total_max_attempts": 2}, read_timeout=25)
)
# A model that reads a document and calls tools writes for minutes, none of which it streams; who
# asks holds the whole of it to what is left of the function's time.
_AGENTS = CONFIG.merge(Config(read_timeout=120))
# "We recommend a retry count of 5."
# https://docs.aws.amazon.com/textract/latest/dg/handling-errors.html
_OCR = CONFIG.merge(Config(retries={"mode": "standard", "total_max_attempts": 6}))
_CONFIGS = {
    "bedrock-agent-runtime": _SEARCH,
    "embeddings": _DIRECT_SEARCH,
    "s3": _LINKS,
    "s3vectors": _DIRECT_SEARCH,
    "searches": _PACED,
    "textract": _OCR,
    "writing": _ANSWERS,
}
# Names of ours for services, with more patience or less.
ALIASES = {
    "embeddings": "bedrock-runtime",
    "searches": "bedrock-agent-runtime",
    "writing": "bedrock-runtime",
}


@cache
def _session() -> boto3.session.Session:
    return boto3.session.Session()


def credentials() -> Any:
    """
    Return botocore's credentials, which renew themselves, for services that boto3 has no client of;
    or None.
    """
    return _session().get_credentials()


def region() -> str | None:
    return _session().region_name


def of_agents() -> dict[str, Any]:
    """
    Return the arguments with which Strands' `BedrockModel` makes its client:
    `BedrockModel(**of_agents(), ...)`.
    """
    return {"boto_session": _session(), "boto_client_config": _AGENTS}


@cache
def client(service: str) -> Any:
    """
    Return the boto3 client of a service, shared by all callers (boto3 clients are thread-safe).

    `searches` is bedrock-agent-runtime without retries, `embeddings` and `writing` are
    bedrock-runtime with the timeouts of a search and of Converse.
    """
    # The service is a name known when it runs; types-boto3 has types for literal names only.
    name, config = ALIASES.get(service, service), _CONFIGS.get(service, CONFIG)
    return _session().client(name, config=config)  # type: ignore[call-overload]


def secret_text(client: Any, arn: str) -> str:
    """
    Return a text that AWS made for a deployment and stores in Secrets Manager, outside templates
    and variables. Raises StoreUnavailable, or ServiceRefused without the right to it.
    """
    with store_errors():
        return str(client.get_secret_value(SecretId=arn)["SecretString"])
