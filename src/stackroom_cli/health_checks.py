"""
The `doctor` command: check what could keep Stackroom from working, and suggest remedies.
"""

import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import httpx
from botocore.exceptions import BotoCoreError, ClientError
from rich.markup import escape

from stackroom.aws.s3vectors.index_creation import S3VectorsIndexes
from stackroom.errors import ServiceRefused, StackroomError, Unavailable
from stackroom.search.index_setup import Readiness, readiness_of
from stackroom.tools.texts import counted, size
from stackroom_cli.callers import sign_in_of
from stackroom_cli.json_output import CheckTold, DoctorAnswer
from stackroom_cli.output import Output
from stackroom_cli.sites.aws_refusals import sentence
from stackroom_cli.sites.site import AwsSite, Site
from stackroom_cli.sites.site_services import SiteServices
from stackroom_cli.untrusted_text import one_line
from stackroom_local.local_errors import LocalModeError, command
from stackroom_local.ministack.disk_reserve import SPARE_BYTES
from stackroom_local.state import LOOK_SECONDS, Instance, StateDirectory

# The results of checks, and how they are printed.


class SomeBad(StackroomError):
    def __init__(self, count: int, of: int) -> None:
        super().__init__(f"{count} of {of} checks failed; see above")


def well(text: str) -> CheckTold:
    return CheckTold(good=True, text=text)


def bad(text: str) -> CheckTold:
    """Return a failed check; the text names the command that repairs it."""
    return CheckTold(good=False, text=text)


def tell(results: Iterable[CheckTold], output: Output) -> None:
    """Print each result as soon as it is known. Raises `SomeBad` unless all checks pass."""
    known = list[CheckTold]()
    for result in results:
        known.append(result)
        mark = "[green]ok  [/green]" if result.good else "[red]bad [/red]"
        output.people.print(mark, escape(one_line(result.text)))
    output.answer(DoctorAnswer(checks=known))
    if count := sum(not result.good for result in known):
        raise SomeBad(count, len(known))


# Checks of any site: failed events, rounds, indexes.

_OF_WEBHOOKS, _OF_EVENTS = "-webhooks-dead.fifo", "-events-dead"
_OF_AGENTS = "-agent-runs-dead"
_DEAD = ("-dead", _OF_WEBHOOKS)
_FAILURES = (Unavailable, ServiceRefused, BotoCoreError, ClientError)
_FREE_BYTES = 500 * 1024**2
_SECONDS = 20.0


@dataclass(frozen=True, kw_only=True)
class Remedies:
    """The commands that `doctor` recommends, as they are typed on this site."""

    logs: str
    reconcile: str
    redeliver: str
    purge: str  # aws sqs purge-queue
    invoke: str  # aws lambda invoke
    otherwise: str


def health(site: Site, remedies: Remedies) -> Iterator[CheckTold]:
    for what, check in (
        ("queues", dead_letters),
        ("rounds", _rounds),
        ("indexes", _search_indexes),
        ("the reader's settings", _ocr),
    ):
        try:
            yield from check(site, remedies)
        except _FAILURES as error:
            why = sentence(error) or error
            yield bad(f"{what} can't be read ({why}); {remedies.otherwise}")


def dead_letters(site: Site, remedies: Remedies) -> Iterator[CheckTold]:
    sqs = site.client("sqs")
    listed = sqs.list_queues(QueueNamePrefix=f"{site.project}-").get("QueueUrls", [])
    dead = {url: _waiting_in(sqs, url) for url in listed if url.endswith(_DEAD)}
    full = {url: count for url, count in dead.items() if count}
    if not full:
        yield well("no events have failed for good")
    for url, count in full.items():
        events = counted(count, "event")
        yield bad(
            f"queue {url.rpartition('/')[2]} has {events} that failed several times; see the"
            f" reasons in {remedies.logs}, {_remedy(url, remedies)}"
        )


def _remedy(url: str, remedies: Remedies) -> str:
    """Return what to do about the messages of a dead-letter queue."""
    if url.endswith(_OF_WEBHOOKS):
        return f"have the receivers repaired, then: {remedies.redeliver}"
    empty = f"then empty the queue: {remedies.purge} --queue-url {url}"
    if url.endswith(_OF_EVENTS):  # each has a position in a stream whose records are too old
        return f"repair the cause (no event tells of these changes any more), {empty}"
    if url.endswith(_OF_AGENTS):
        return f"repair the cause and have the users ask again, {empty}"
    return f"repair the files with: {remedies.reconcile}, {empty}"


def _waiting_in(sqs: Any, url: str) -> int:
    answer = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])
    return int(answer["Attributes"]["ApproximateNumberOfMessages"])


def _rounds(site: Site, _remedies: Remedies) -> Iterator[CheckTold]:
    """Report the progress of the reconciler's full round, or when the last one ended."""
    latest = SiteServices(site).stores.rounds.latest()
    if latest is None:
        yield well("the reconciler has made no full round yet")
    elif latest.ended is None:
        yield well(f"the reconciler's full round began at {latest.began:%H:%M} UTC")
    else:
        yield well(f"the reconciler's last full round ended at {latest.ended:%H:%M} UTC")


def _search_indexes(site: Site, remedies: Remedies) -> Iterator[CheckTold]:
    pool = SiteServices(site).use_cases.pool
    indexes = [member.index for member in pool if member.index is not None]
    known = readiness_of(S3VectorsIndexes(site.client("s3vectors")), indexes)
    for arn, readiness in known.items():
        yield search_index(arn.rpartition("/")[2], readiness, site.project, remedies)


def _ocr(site: Site, _remedies: Remedies) -> Iterator[CheckTold]:
    if SiteServices(site).ocr != "none":
        # https://aws.amazon.com/textract/pricing/, us-east-1, the first million pages a month
        yield well("pages without text are read by Textract, on AWS at $1.50 per 1,000 pages")


def search_index(
    name: str, readiness: Readiness | None, project: str, remedies: Remedies
) -> CheckTold:
    instead = "searches use Retrieve, by meaning alone"
    match readiness:
        case Readiness.ACTIVE:
            return well(f"index {name} is ENHANCED and its text search ACTIVE")
        case Readiness.BUILDING:
            return well(f"index {name} is BUILDING its text search; until it is ACTIVE, {instead}")
        case Readiness.MISSING:
            make = f"{remedies.invoke} --function-name {project}-search-index /dev/stdout"
            return bad(f"index {name} has no text search, so {instead}; create it with: {make}")
        case None:
            return bad(f"index {name} can't be read; {remedies.otherwise}")


def _answers(what: str, ask: Callable[[], object], remedy: str = "") -> CheckTold:
    try:
        ask()
    except Exception as error:  # whatever it is, that is the result
        why = f"({error}); {remedy}" if remedy else f"({sentence(error) or error})"
        return bad(f"{what} does not answer {why}")
    return well(f"{what} answers")


# Checks of the local mode.


def doctor(state_dir: Path, *, output: Output) -> None:
    state = StateDirectory(state_dir)
    tell(chain([_disk(state.path)], _instance(state)), output)


def _disk(path: Path) -> CheckTold:
    existing = next(each for each in (path, *path.parents) if each.exists())
    free = shutil.disk_usage(existing).free
    if free >= _FREE_BYTES:
        return well(f"{size(free)} free for {path}")
    remedy = "free 500 MB or more, or name a directory on another disk with --state-dir"
    refused = "; uploads are refused" if free < SPARE_BYTES else ""
    return bad(f"only {size(free)} free for {path}{refused}; {remedy}")


def _instance(state: StateDirectory) -> Iterator[CheckTold]:
    try:
        if state.holder() is None:
            start = f"start it with: {command()} up"
            yield well(f"the local mode is not running in {state.path}; {start}")
            return
        instance = state.instance().within(LOOK_SECONDS)
    except LocalModeError as error:
        yield bad(str(error))
        return
    s3, bedrock = instance.client("s3"), instance.client("bedrock-agent")
    for what, ask in (
        (f"bucket {instance.bucket}", partial(s3.head_bucket, Bucket=instance.bucket)),
        (f"Bedrock's stand-in at {instance.simulator_endpoint}", bedrock.list_knowledge_bases),
    ):
        yield _answers(what, ask, _anew(instance))
    yield from health(instance, _remedies(instance))


def _remedies(instance: Instance) -> Remedies:
    aws = f"{_as_operator(instance)} && .venv/bin/aws"
    return Remedies(
        logs=str(instance.state_dir / "logs"),
        reconcile=_command(instance, "reconcile"),
        redeliver=_command(instance, "webhooks redeliver"),
        # Users' keys may not do it; and the pinned AWS CLI goes to an address of its own for SQS,
        # whatever AWS_ENDPOINT_URL says.
        purge=f"{aws} sqs purge-queue --endpoint-url {instance.aws_endpoint}",
        invoke=f"{aws} lambda invoke",
        otherwise=_anew(instance),
    )


def _as_operator(instance: Instance) -> str:
    return f'eval "$({_command(instance, "env --operator")})"'


def _anew(instance: Instance) -> str:
    logs = instance.state_dir / "logs"
    return f"see {logs}, then restart: {_command(instance, 'down')}; {command()} up"


def _command(instance: Instance, name: str) -> str:
    return f"{command()} {name} --state-dir {shlex.quote(str(instance.state_dir))}"


# Checks of a deployment.


def doctor_of_deployment(site: AwsSite, *, output: Output) -> None:
    """
    Check a deployment. Raises Denied if there are no credentials at all, since no check would pass.
    """
    caller = site.client("sts").get_caller_identity()
    who = well(f"{site.label}, as {caller['Arn']}")
    tell(chain([who], _stores(site), _doors(site), health(site, deployment_remedies(site))), output)


def _stores(site: AwsSite) -> Iterator[CheckTold]:
    s3, dynamodb = site.client("s3"), site.client("dynamodb")
    yield _answers(f"bucket {site.bucket}", lambda: s3.head_bucket(Bucket=site.bucket))
    for table in (site.catalog_table, site.control_table):
        describe = partial(dynamodb.describe_table, TableName=table)
        yield _answers(f"table {table}", describe)


def _doors(site: AwsSite) -> Iterator[CheckTold]:
    """
    Check that the gateway refuses requests without a token, and that the issuer serves its
    metadata.
    """
    yield _answers(f"MCP endpoint {site.mcp_url}", lambda: _refuses_strangers(site.mcp_url))
    yield _answers(f"issuer {site.issuer}", sign_in_of(site).metadata)


def _refuses_strangers(url: str) -> None:
    answer = httpx.post(url, json={}, timeout=_SECONDS)
    if answer.status_code != httpx.codes.UNAUTHORIZED:
        raise httpx.HTTPError(f"without a token it answers {answer.status_code} instead of 401")


def deployment_remedies(site: AwsSite) -> Remedies:
    aws = f"aws --region {site.region}"
    return Remedies(
        logs="the log of the function that reads it",
        reconcile=f"stackroom --deployment {site.name} reconcile",
        redeliver=f"stackroom --deployment {site.name} webhooks redeliver",
        purge=f"{aws} sqs purge-queue",
        invoke=f"{aws} lambda invoke",
        otherwise="see docs/deploy.md",
    )
