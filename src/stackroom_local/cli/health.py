"""doctor's look at what is deployed, wherever that is: what was given up, rounds, indexes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from stackroom.errors import ServiceRefused, Unavailable
from stackroom.ports.search_index import Readiness
from stackroom.retrieval.index_setup import readiness_of
from stackroom_local.cli.check_results import CheckResult
from stackroom_local.product import Product
from stackroom_local.sites.refusals import sentence
from stackroom_local.sites.site import Site

_FAILURES = (Unavailable, ServiceRefused, BotoCoreError, ClientError)


@dataclass(frozen=True, kw_only=True)
class Remedies:
    """Commands for whoever runs it, as they are typed there."""

    logs: str
    reconcile: str
    purge: str  # aws sqs purge-queue
    invoke: str  # aws lambda invoke
    otherwise: str


def health(site: Site, remedies: Remedies) -> Iterator[CheckResult]:
    yield from dead_letters(site, remedies)
    yield from _rounds(site, remedies)
    yield from _search_indexes(site, remedies)


def dead_letters(site: Site, remedies: Remedies) -> Iterator[CheckResult]:
    sqs = site.client("sqs")
    try:
        listed = sqs.list_queues(QueueNamePrefix=f"{site.project}-").get("QueueUrls", [])
        dead = {url: _waiting_in(sqs, url) for url in listed if url.endswith("-dead")}
    except (BotoCoreError, ClientError) as error:
        yield CheckResult(
            False, f"queues can't be looked at ({sentence(error) or error}); {remedies.otherwise}"
        )
        return
    full = {url: count for url, count in dead.items() if count}
    if not full:
        yield CheckResult(True, "no event was given up")
    for url, count in full.items():
        events = "1 event that was" if count == 1 else f"{count} events that were"
        yield CheckResult(
            False,
            f"queue {url.rpartition('/')[2]} holds {events} given up after several tries; see why "
            f"in {remedies.logs}, have the files mended: "
            f"{remedies.reconcile}, then empty it: {remedies.purge} --queue-url {url}",
        )


def _waiting_in(sqs: Any, url: str) -> int:
    answer = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])
    return int(answer["Attributes"]["ApproximateNumberOfMessages"])


def _rounds(site: Site, remedies: Remedies) -> Iterator[CheckResult]:
    """How far the reconciler's own full round has come, or when the last one ended."""
    try:
        latest = Product(site).stores.rounds.latest()
    except _FAILURES as error:
        yield CheckResult(
            False, f"rounds can't be looked at ({sentence(error) or error}); {remedies.otherwise}"
        )
        return
    if latest is None:
        yield CheckResult(True, "no full round of the reconciler yet")
    elif latest.ended is None:
        told = f"the reconciler's full round began at {latest.began:%H:%M} UTC; read: {latest}"
        yield CheckResult(True, told)
    else:
        told = f"the reconciler's last full round ended at {latest.ended:%H:%M} UTC; read: {latest}"
        yield CheckResult(True, told)


def _search_indexes(site: Site, remedies: Remedies) -> Iterator[CheckResult]:
    try:
        deployed = Product(site).use_cases.deployment
        indexes = [member.index for member in deployed.pool if member.index is not None]
        known = readiness_of(deployed.search_indexes, indexes)
    except _FAILURES as error:
        yield CheckResult(
            False, f"indexes can't be looked at ({sentence(error) or error}); {remedies.otherwise}"
        )
        return
    for arn, readiness in known.items():
        yield search_index(arn.rpartition("/")[2], readiness, site.project, remedies)


def search_index(
    name: str, readiness: Readiness | None, project: str, remedies: Remedies
) -> CheckResult:
    instead = "searches go through Retrieve, by meaning alone"
    match readiness:
        case Readiness.ACTIVE:
            return CheckResult(True, f"index {name} is ENHANCED and its text search ACTIVE")
        case Readiness.BUILDING:
            told = f"index {name} is BUILDING its text search; until it is ACTIVE, {instead}"
            return CheckResult(True, told)
        case Readiness.MISSING:
            make = f"{remedies.invoke} --function-name {project}-search-index /dev/stdout"
            told = f"index {name} has no text search, so {instead}; have it made: {make}"
            return CheckResult(False, told)
        case None:
            return CheckResult(False, f"index {name} can't be looked at; {remedies.otherwise}")
