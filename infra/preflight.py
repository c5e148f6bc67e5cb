"""
Finds what would stop or break a deployment before anything is built; changes nothing.

    python infra/preflight.py -c project=stackroom      run by `make preflight`

Each check says what is right, or what to type. Checks that can't run, for lack of a right or of a
response, become warnings. The exit code is 1 if a check failed.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from functools import partial
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, EndpointConnectionError

if __package__ in (None, ""):  # run as a script
    sys.path[0] = str(Path(__file__).parents[1])

from infra.asking import Check, Client, Result, failed, passed, reason_of, warning
from infra.preflight_bedrock import CHOOSE_REGION, model, ocr, quotas, region
from infra.synthesised import Account, PlannedDeployment, plan_deployment

# The time for one response, and for a whole check, after which it counts as unanswered.
_RESPONSE_SECONDS, _CHECK_SECONDS = 4, 15.0
SERVICES = (
    *("bedrock", "bedrock-agent", "bedrock-agentcore-control", "bedrock-runtime"),
    *("lambda", "s3vectors", "service-quotas", "sts", "textract"),
)
# The quota of concurrent executions, adjustable; new accounts start with few of them.
# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
_CONCURRENCY = "L-B99A9384"
_MORE_CONCURRENCY = 1000
_PER_QUESTION = 2  # functions: the gateway's interceptor, and the tool's


def credentials(where: str | None, client: Client) -> tuple[Result, Account | None]:
    """Check the credentials and return the account, without which no other check can run."""
    if not where:
        return failed("no region is chosen", CHOOSE_REGION), None
    try:
        caller = client("sts").get_caller_identity()
    except ClientError as error:
        return failed(f"AWS refuses them: {error}", "aws configure   # or sign in again"), None
    except EndpointConnectionError as error:
        return failed(f"there is no endpoint for region {where!r}: {error}", CHOOSE_REGION), None
    except BotoCoreError as error:
        return failed(str(error), "aws configure   # or: export AWS_PROFILE=..."), None
    account = Account(id=caller["Account"], region=where)
    return passed(f"account {account.id}, {where}, as {caller['Arn']}"), account


def settings(context: Mapping[str, str]) -> tuple[Result, PlannedDeployment | None]:
    """Check the settings by synthesising the whole app with `context`."""
    try:
        found = plan_deployment(context)
    except ValueError as error:
        is_project = str(error).startswith("context project")
        line = (
            "make deploy PROJECT=another"
            if is_project
            else 'make deploy ARGS="-c NAME=VALUE"   # docs/deploy.md#settings'
        )
        return failed(str(error), line), None
    return passed(f"project {found.project!r}, {len(found.stacks)} stacks"), found


def concurrency(functions: Any, planned: PlannedDeployment, where: str) -> Result:
    """Check that questions find free concurrency beside queues and streams."""
    free = functions.get_account_settings()["AccountLimit"]["UnreservedConcurrentExecutions"]
    # Lambda reads each shard of a stream with one function; a stream has at least one shard.
    # https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
    reserved = sum(
        resource["Properties"].get("ScalingConfig", {}).get("MaximumConcurrency", 1)
        for resource in planned.resources()
        if resource["Type"] == "AWS::Lambda::EventSourceMapping"
    )
    text = f"{free} concurrent functions, of which queues and streams may take {reserved}"
    if free >= reserved + _PER_QUESTION:
        return passed(text)
    return warning(
        f"{text}: questions may be throttled",
        f"aws --region {where} service-quotas request-service-quota-increase"
        f" --service-code lambda --quota-code {_CONCURRENCY} --desired-value {_MORE_CONCURRENCY}",
    )


def checks(client: Client, planned: PlannedDeployment, where: str) -> list[tuple[str, Check]]:
    """Return all checks by name; none needs another's result."""
    return [
        ("region", partial(region, client, where)),
        *((each.id, partial(model, client, each, where)) for each in planned.models),
        ("Service Quotas", partial(quotas, client, planned.models, where)),
        ("Lambda concurrency", partial(concurrency, client("lambda"), planned, where)),
        *([("OCR", partial(ocr, client, where))] if planned.ocr else []),
    ]


def run_checks(
    checks: list[tuple[str, Check]], seconds: float = _CHECK_SECONDS
) -> Iterator[tuple[str, Result]]:
    """Run all checks in parallel and yield their results in order."""
    threads = ThreadPoolExecutor(len(checks))
    futures = [(name, threads.submit(_run, check)) for name, check in checks]
    end = time.monotonic() + seconds
    for name, future in futures:
        try:
            yield name, future.result(max(0.0, end - time.monotonic()))
        except TookTooLong:
            yield name, warning(f"no response within {seconds:g} seconds")
    threads.shutdown(wait=False)


def _run(check: Check) -> Result:
    try:
        return check()
    except ClientError as error:
        return warning(f"can't be checked: {reason_of(error)}")
    except BotoCoreError as error:
        return warning(f"can't be checked: {error}")


def format_result(name: str, result: Result) -> str:
    return "".join(
        [
            f"{result.mark:<5}{name:<31} {result.text}\n",
            *(f"{'':<36} type: {line}\n" for line in result.lines),
        ]
    )


def preflight(
    where: str | None,
    client: Client,
    context: Mapping[str, str],
    write_line: Callable[[str], object],
) -> int:
    """Run all checks and return how many failed."""

    def print_result(name: str, result: Result) -> bool:
        write_line(format_result(name, result))
        return result.is_failure

    identity, account = credentials(where, client)
    print_result("credentials", identity)
    if account is None:
        return 1
    result, planned = settings(context)
    print_result("settings", result)
    if planned is None:
        return 1
    return sum(print_result(*each) for each in run_checks(checks(client, planned, account.region)))


def clients(session: Any) -> Client:
    """Create all clients in advance: threads may share a client, but not a session."""
    config = Config(
        connect_timeout=_RESPONSE_SECONDS,
        read_timeout=_RESPONSE_SECONDS,
        retries={"total_max_attempts": 3},
        max_pool_connections=16,
    )
    return {each: session.client(each, config=config) for each in SERVICES}.__getitem__


def main() -> None:
    parser = argparse.ArgumentParser(description="Find what would stop a deployment.")
    parser.add_argument("-c", "--context", action="append", default=[], metavar="NAME=VALUE")
    arguments, _ = parser.parse_known_args()  # make's ARGS may contain more, for the CDK
    context = dict(each.split("=", 1) for each in arguments.context if "=" in each)
    try:
        # boto3 itself reads AWS_DEFAULT_REGION only.
        session = boto3.session.Session(region_name=os.environ.get("AWS_REGION"))
        client = clients(session) if session.region_name else dict[str, Any]().__getitem__
    except BotoCoreError as error:  # such as an unknown profile
        sys.exit(f"credentials: {error}; type: aws configure list-profiles")
    failed = preflight(session.region_name, client, context, sys.stdout.write)
    if failed:
        sys.stderr.write(f"nothing is deployed: {failed} failed; type what is shown above\n")
    sys.stdout.flush()
    # Don't wait for checks that have not responded, as Python would for its threads.
    os._exit(1 if failed else 0)


if __name__ == "__main__":
    main()
