"""
What this account is allowed, as CDK context: Bedrock's quotas for the admission of ingestion, and
how many functions run side by side.

    python infra/limits.py      prints `-c admission_jobs=5 ...`, and on stderr where each is from

Run by `make deploy`. What can't be read is left to cdk.json, which has the documented values; none
of Bedrock's quotas is adjustable today.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError


@dataclass(frozen=True, kw_only=True)
class Limit:
    context: str
    quota: str
    of: Callable[[float], float]


# https://docs.aws.amazon.com/general/latest/gr/bedrock.html, "(Knowledge Bases)"
LIMITS = (
    # Concurrent ingestion jobs per account
    Limit(context="admission_jobs", quota="L-795A8608", of=lambda value: value),
    # Concurrent IngestKnowledgeBaseDocuments and DeleteKnowledgeBaseDocuments requests per account
    Limit(context="admission_direct_calls", quota="L-8D4ED20B", of=lambda value: value),
    # StartIngestionJob requests per second
    Limit(
        context="admission_seconds_between_starts",
        quota="L-E428575E",
        of=lambda per_second: 1 / per_second,
    ),
)


def options(quotas: Any, say: Callable[[str], object]) -> Iterator[str]:
    """The CLI's `-c` options for those limits that the client of Service Quotas knows."""
    for limit in LIMITS:
        try:
            quota = quota_of(quotas, limit.quota)
        except (BotoCoreError, ClientError) as error:
            say(f"{limit.context}: as in cdk.json, for Service Quotas can't be read: {error}")
            continue
        if quota["Value"] <= 0:
            say(f"{limit.context}: as in cdk.json, for {quota['QuotaName']!r} is {quota['Value']}")
            continue
        value = f"{limit.of(quota['Value']):g}"
        say(f"{limit.context}: {value}, by {quota['QuotaName']!r}")
        yield from ("-c", f"{limit.context}={value}")


def concurrency(functions: Any, say: Callable[[str], object]) -> Iterator[str]:
    """
    The same for functions at a time, of which a new account has few: what no function reserves.
    https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
    """
    try:
        limit = functions.get_account_settings()["AccountLimit"]
    except (BotoCoreError, ClientError) as error:
        say(f"lambda_concurrency: as in cdk.json, for Lambda can't be asked: {error}")
        return
    free = limit["UnreservedConcurrentExecutions"]
    say(f"lambda_concurrency: {free}, not reserved of {limit['ConcurrentExecutions']}")
    yield from ("-c", f"lambda_concurrency={free}")


def quota_of(quotas: Any, code: str) -> dict[str, Any]:
    """The account's own value, or AWS's default where the account has none."""
    named = {"ServiceCode": "bedrock", "QuotaCode": code}
    try:
        found: dict[str, Any] = quotas.get_service_quota(**named)["Quota"]
    except quotas.exceptions.NoSuchResourceException:
        found = quotas.get_aws_default_service_quota(**named)["Quota"]
    return found


def main() -> None:
    summary = "Print what the account is allowed as context for the CDK."
    argparse.ArgumentParser(description=summary).parse_args()

    def say(text: str) -> object:
        return sys.stderr.write(f"{text}\n")

    # boto3 itself reads AWS_DEFAULT_REGION only.
    session = boto3.session.Session(region_name=os.environ.get("AWS_REGION"))
    try:
        quotas, functions = session.client("service-quotas"), session.client("lambda")
    except BotoCoreError as error:  # such as no region
        say(f"limits as in cdk.json: {error}")
        return
    sys.stdout.write(" ".join([*options(quotas, say), *concurrency(functions, say)]))


if __name__ == "__main__":
    main()
