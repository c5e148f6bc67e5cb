"""
The schedule: bucket, records, index and control table compared, and mended where they disagree.

The schedule says {"action": "reconcile", "when_due": true}: each invocation looks at what tells of
itself, and goes on with the full round that is under way, for as long as a function may, or begins
one if it is due. Without `when_due` a round is gone on with, or begun, at once.

Whoever knows that what was under way has ended, as after a power cut, says since when:
{"action": "reconcile", "idle_before": "2026-02-03T10:30:00Z"}. That invocation begins at the start,
and leaves nothing of what is older to the next.

An operator's `stackroom reconcile` wants to be told what was found: {"listed": true}. And with
"dry_run": true nothing is mended, and no bookmark moved: what is left to compare is told in
`resume`, which the next invocation is handed.

An operator deletes a user's catalog by {"action": "delete_catalog", "user_id": "...", "catalog_id":
"..."}, for it takes rights on the bucket that nobody but the pipeline has. While the answer says
"is_asked_for": false, the same event goes on with it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from functools import cache
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit, single_metric
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import AwareDatetime, BaseModel, Field

from functions.reconciler.search_indexes import report_search_indexes
from functions.telemetry import NAMESPACE, logger_for, metrics_for
from stackroom.app.function_settings import DocumentSettings, Pool
from stackroom.app.reconciler_builder import ReconcilerBuilder
from stackroom.aws.session import client
from stackroom.aws.sqs.object_events import SqsInspectionRequests
from stackroom.reconciler.audit_rounds import HeldBookmark, Reconciliation, Rounds
from stackroom.reconciler.bedrock_requests import ACCOUNT_A_SECOND, DEFAULT_A_SECOND
from stackroom.reconciler.discrepancies import Discrepancy, Kind

logger = logger_for("reconciler")
metrics = metrics_for("reconciler")

# Milliseconds. Nothing is begun with less; a piece that takes longer is cut off, and the next
# invocation has all of its time for it.
_ENOUGH = 60_000
# Of those that one answer lists: some 300 bytes each, and an answer has room for 6 MB [AWS Lambda
# quotas: "Invocation payload"].
_MOST_LISTED = 5_000


class ReconcilerSettings(DocumentSettings):
    kb_pool: Pool
    state_machine_arn: str
    inspections_queue_url: str
    # For documents of the knowledge bases, of which the account has five.
    reconciler_requests_a_second: float = Field(DEFAULT_A_SECOND, gt=0, lt=ACCOUNT_A_SECOND)


class Resume(BaseModel):
    """How far a dry run has come: what its bookmark and its round would say."""

    cursor: str | None = None
    round: str | None = None


class Request(BaseModel):
    idle_before: AwareDatetime | None = None
    when_due: bool = False
    listed: bool = False
    dry_run: bool = False
    resume: Resume = Resume()


class OwnedCatalog(BaseModel):
    user_id: str
    catalog_id: str


@cache
def use_cases() -> ReconcilerBuilder:
    return ReconcilerBuilder(settings=ReconcilerSettings.from_env(), client=client)


def inspection_requests() -> SqsInspectionRequests:
    settings = use_cases().settings
    return SqsInspectionRequests(
        client=client("sqs"),
        url=settings.need("inspections_queue_url"),
        bucket=settings.need("kb_docs_bucket"),
    )


def reconciliation(idle_before: datetime | None) -> Reconciliation:
    bookmark = use_cases().bookmark
    if idle_before is not None:
        bookmark.keep(None)
    return use_cases().reconciliation(
        inspections=inspection_requests(),
        bookmark=bookmark,
        rounds=use_cases().rounds,
        idle_before=idle_before,
        a_second=use_cases().settings.need("reconciler_requests_a_second"),
    )


def rehearsal(resume: Resume) -> tuple[Reconciliation, Callable[[], Resume]]:
    """A reconciliation that only tells; and where the next invocation goes on."""
    bookmark, kept = HeldBookmark(resume.cursor), HeldBookmark(resume.round)
    rehearsing = use_cases().reconciliation(
        inspections=inspection_requests(),
        bookmark=bookmark,
        rounds=Rounds(kept=kept),
        dry_run=True,
        a_second=use_cases().settings.need("reconciler_requests_a_second"),
    )
    return rehearsing, lambda: Resume(cursor=bookmark.read(), round=kept.read())


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    if event.get("action") == "delete_catalog":
        return delete(OwnedCatalog.model_validate(event))
    report_search_indexes(use_cases().pool)
    request = Request.model_validate(event)
    if request.dry_run:
        reconciling, resume = rehearsal(request.resume)
    else:
        reconciling, resume = reconciliation(request.idle_before), Resume

    def has_time() -> bool:
        return context.get_remaining_time_in_millis() >= _ENOUGH

    listed: list[dict[str, str]] = []
    discrepancies = found(reconciling, has_time, when_due=request.when_due)
    counts = told(_listing(discrepancies, listed) if request.listed else discrepancies)
    finished = reconciling.is_over
    latest = reconciling.rounds.latest()

    if not request.dry_run:
        count(counts)
    logger.info(
        "reconciled",
        finished=finished,
        dry_run=request.dry_run,
        found=counts.total(),
        by_kind=counts,
        round_began=latest.began if latest is not None else None,
        round_ended=latest.ended if latest is not None else None,
    )
    answer: dict[str, Any] = {"finished": finished, "found": dict(counts)}
    if request.listed:
        answer["listed"] = listed
    if request.dry_run:
        answer["resume"] = resume().model_dump()
    return answer


def delete(catalog: OwnedCatalog) -> dict[str, Any]:
    """A `CatalogDeletion`. Raises CatalogNotFound, or RecordChanged."""
    deletion = use_cases().deletions.delete_catalog(catalog.user_id, catalog.catalog_id)
    logger.info(
        "catalog deleted for an operator",
        user_id=catalog.user_id,
        catalog_id=catalog.catalog_id,
        documents=deletion.documents,
        is_asked_for=deletion.is_asked_for,
    )
    return asdict(deletion)


def _listing(
    discrepancies: Iterable[Discrepancy], listed: list[dict[str, str]]
) -> Iterator[Discrepancy]:
    for each in discrepancies:
        if len(listed) < _MOST_LISTED:
            listed.append(
                {
                    "kind": each.kind,
                    "what": each.what,
                    "remedy": each.remedy,
                    "outcome": each.outcome,
                }
            )
        yield each


def found(
    reconciling: Reconciliation, has_time: Callable[[], bool], *, when_due: bool
) -> Iterator[Discrepancy]:
    if when_due:
        yield from reconciling.look_between(has_time=has_time)
    if not when_due or reconciling.is_due:
        yield from reconciling.go_on(has_time=has_time)


def told(discrepancies: Iterable[Discrepancy]) -> Counter[Kind]:
    """Their numbers, once each is in the log."""
    counts: Counter[Kind] = Counter()
    for each in discrepancies:
        logger.warning(
            "discrepancy",
            kind=each.kind,
            what=each.what,
            remedy=each.remedy,
            outcome=each.outcome,
            exc_info=each.error,
        )
        counts[each.kind] += 1
    return counts


def count(counts: Counter[Kind]) -> None:
    """Their number, for alarms; and by kind."""
    metrics.add_metric(name="ReconcilerFindings", unit=MetricUnit.Count, value=counts.total())
    for kind, found in counts.items():
        with single_metric(
            name="ReconcilerFindings", unit=MetricUnit.Count, value=found, namespace=NAMESPACE
        ) as metric:
            metric.add_dimension(name="kind", value=kind)
