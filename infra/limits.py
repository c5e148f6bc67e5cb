"""
The account's quotas as CDK context: ingestion quotas of Bedrock, and Lambda's concurrency.

    python infra/limits.py      prints `-c admission_jobs=5 ...`, and on stderr the source of each

`make deploy` runs it. Quotas that can't be read keep the values of cdk.json, which are the
documented ones; none of Bedrock's quotas is adjustable today.
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
    convert: Callable[[float], float]


# https://docs.aws.amazon.com/general/latest/gr/bedrock.html, "(Knowledge Bases)"
LIMITS = (
    # Concurrent ingestion jobs per account
    Limit(context="admission_jobs", quota="L-795A8608", convert=lambda value: value),
    # Concurrent IngestKnowledgeBaseDocuments and DeleteKnowledgeBaseDocuments requests per account
    Limit(context="admission_direct_calls", quota="L-8D4ED20B", convert=lambda value: value),
    # StartIngestionJob requests per second
    Limit(
        context="admission_seconds_between_starts",
        quota="L-E428575E",
        convert=lambda per_second: 1 / per_second,
    ),
)


def options(quotas: Any, write_line: Callable[[str], object]) -> Iterator[str]:
    """Yield the CLI's `-c` options for the limits that Service Quotas knows."""
    for limit in LIMITS:
        try:
            quota = get_quota(quotas, limit.quota)
        except (BotoCoreError, ClientError) as error:
            write_line(f"{limit.context}: from cdk.json; Service Quotas can't be read: {error}")
            continue
        if quota["Value"] <= 0:
            write_line(
                f"{limit.context}: from cdk.json; {quota['QuotaName']!r} is {quota['Value']}"
            )
            continue
        value = f"{limit.convert(quota['Value']):g}"
        write_line(f"{limit.context}: {value}, from {quota['QuotaName']!r}")
        yield from ("-c", f"{limit.context}={value}")


def concurrency(functions: Any, write_line: Callable[[str], object]) -> Iterator[str]:
    """
    Yield the option for Lambda's unreserved concurrency, which is low in new accounts.

    https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
    """
    try:
        limit = functions.get_account_settings()["AccountLimit"]
    except (BotoCoreError, ClientError) as error:
        write_line(f"lambda_concurrency: from cdk.json; Lambda can't be asked: {error}")
        return
    free = limit["UnreservedConcurrentExecutions"]
    write_line(f"lambda_concurrency: {free}, unreserved of {limit['ConcurrentExecutions']}")
    yield from ("-c", f"lambda_concurrency={free}")


def get_quota(quotas: Any, code: str) -> dict[str, Any]:
    """Return the account's value of a quota, or AWS's default if the account has none."""
    request = {"ServiceCode": "bedrock", "QuotaCode": code}
    try:
        quota: dict[str, Any] = quotas.get_service_quota(**request)["Quota"]
    except quotas.exceptions.NoSuchResourceException:
        quota = quotas.get_aws_default_service_quota(**request)["Quota"]
    return quota


def main() -> None:
    summary = "Print the account's quotas as context for the CDK."
    argparse.ArgumentParser(description=summary).parse_args()

    def write_line(text: str) -> object:
        return sys.stderr.write(f"{text}\n")

    # boto3 itself reads AWS_DEFAULT_REGION only.
    session = boto3.session.Session(region_name=os.environ.get("AWS_REGION"))
    try:
        quotas, functions = session.client("service-quotas"), session.client("lambda")
    except BotoCoreError as error:  # such as no region
        write_line(f"limits from cdk.json: {error}")
        return
    sys.stdout.write(" ".join([*options(quotas, write_line), *concurrency(functions, write_line)]))


if __name__ == "__main__":
    main()
