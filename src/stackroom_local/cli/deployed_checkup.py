"""doctor of a deployment: whether it answers, to whom, and what was left undone there."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

import httpx

from stackroom_local.cli.check_results import CheckResult, tell
from stackroom_local.cli.console import Output
from stackroom_local.cli.health import Remedies, health
from stackroom_local.sites.aws import AwsSite
from stackroom_local.sites.refusals import sentence
from stackroom_local.sites.sign_in import SignIn

_SECONDS = 20.0


def doctor(site: AwsSite, *, told: Output) -> None:
    """Raises Denied where no credentials are to be had at all: no check says more."""
    caller = site.client("sts").get_caller_identity()
    who = CheckResult(True, f"{site.told}, as {caller['Arn']}")
    tell(chain([who], _stores(site), _doors(site), health(site, _remedies(site))), told)


def _stores(site: AwsSite) -> Iterator[CheckResult]:
    s3, dynamodb = site.client("s3"), site.client("dynamodb")
    yield _answering(f"bucket {site.bucket}", lambda: s3.head_bucket(Bucket=site.bucket))
    for table in (site.catalog_table, site.control_table):
        look = partial(dynamodb.describe_table, TableName=table)
        yield _answering(f"table {table}", look)


def _doors(site: AwsSite) -> Iterator[CheckResult]:
    """The gateway, which must refuse whoever has no token, and the issuer's metadata."""
    yield _answering(f"MCP endpoint {site.mcp_url}", lambda: _refuses_strangers(site.mcp_url))
    yield _answering(f"issuer {site.issuer}", lambda: SignIn(site).metadata())


def _refuses_strangers(url: str) -> None:
    answer = httpx.post(url, json={}, timeout=_SECONDS)
    if answer.status_code != httpx.codes.UNAUTHORIZED:
        raise httpx.HTTPError(f"without a token it answers {answer.status_code} instead of 401")


def _answering(what: str, ask: Callable[[], object]) -> CheckResult:
    try:
        ask()
    except Exception as error:  # whatever it is, that is the result
        return CheckResult(False, f"{what} does not answer: {sentence(error) or error}")
    return CheckResult(True, f"{what} answers")


def _remedies(site: AwsSite) -> Remedies:
    aws = f"aws --region {site.region}"
    return Remedies(
        logs="the log of the function that reads it",
        reconcile=f"stackroom --deployment {site.name} reconcile",
        purge=f"{aws} sqs purge-queue",
        invoke=f"{aws} lambda invoke",
        otherwise="see docs/deploy.md",
    )
