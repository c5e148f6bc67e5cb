"""
Scheduled function that compares bucket, records, index and control table, and repairs differences.

The schedule sends {"action": "reconcile", "when_due": true}: each invocation makes the quick
checks, and then continues the full round in progress, for as long as a function may run, or starts
one if it is due. Without `when_due` a round continues or starts at once.

A caller that knows that all work in progress has ended, as after a power cut, says since when:
{"action": "reconcile", "idle_before": "2026-02-03T10:30:00Z"}. That invocation starts a new round
and settles everything older within it.

An operator's `stackroom reconcile` asks for a list of what was found: {"listed": true}. With
"dry_run": true nothing is repaired and no bookmark moves: `resume` in the response says where to
continue, and the next invocation gets it back.

An operator deletes a user's catalog by {"action": "delete_catalog", "user_id": "...", "catalog_id":
"..."}, because that takes rights on the bucket that only the pipeline has. While the response says
"is_asked_for": false, sending the same event again continues the deletion.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from functools import cache
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit, single_metric
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import AwareDatetime, BaseModel

from functions.telemetry import NAMESPACE, logger_for, metrics_for
from stackroom.app.function_settings import DocumentSettings, Pool
from stackroom.app.reconciler_builder import ReconcilerBuilder
from stackroom.aws.s3vectors.index_creation import S3VectorsIndexes
from stackroom.aws.session import client
from stackroom.aws.sqs.object_events import SqsInspectionRequests
from stackroom.model.records import PoolMember
from stackroom.reconciler.audit_rounds import MemoryBookmark, Reconciliation, Rounds
from stackroom.reconciler.discrepancies import Discrepancy, Kind
from stackroom.search.index_setup import Readiness, readiness_of

logger = logger_for("reconciler")
metrics = metrics_for("reconciler")

# Milliseconds. With less, nothing is started; work that takes longer is cut off, and the next
# invocation has all of its time for it.
_MIN_MILLISECONDS = 60_000
# Discrepancies in one response: some 300 bytes each, and a response has room for 6 MB [AWS Lambda
# quotas: "Invocation payload"].
_MAX_LISTED = 5_000


class ReconcilerSettings(DocumentSettings):
    kb_pool: Pool
    state_machine_arn: str
    inspections_queue_url: str


class Resume(BaseModel):
    """The progress of a dry run: its bookmark and its round."""

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
    )


def dry_run(resume: Resume) -> tuple[Reconciliation, Callable[[], Resume]]:
    """Return a reconciliation that repairs nothing, and a function that returns its progress."""
    bookmark, kept = MemoryBookmark(resume.cursor), MemoryBookmark(resume.round)
    reconciling = use_cases().reconciliation(
        inspections=inspection_requests(),
        bookmark=bookmark,
        rounds=Rounds(kept=kept),
        dry_run=True,
    )
    return reconciling, lambda: Resume(cursor=bookmark.read(), round=kept.read())


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    if event.get("action") == "delete_catalog":
        return delete(OwnedCatalog.model_validate(event))
    report_search_indexes(use_cases().pool)
    request = Request.model_validate(event)
    if request.dry_run:
        reconciling, resume = dry_run(request.resume)
    else:
        reconciling, resume = reconciliation(request.idle_before), Resume

    def has_time() -> bool:
        return context.get_remaining_time_in_millis() >= _MIN_MILLISECONDS

    listed: list[dict[str, str]] = []
    discrepancies = find_discrepancies(reconciling, has_time, when_due=request.when_due)
    counts = log_discrepancies(_listing(discrepancies, listed) if request.listed else discrepancies)
    finished = reconciling.is_over
    latest = reconciling.rounds.latest()

    if not request.dry_run:
        count_discrepancies(counts)
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
    """Delete a catalog. Raises CatalogNotFound or RecordChanged."""
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
        if len(listed) < _MAX_LISTED:
            listed.append(
                {
                    "kind": each.kind,
                    "what": each.what,
                    "remedy": each.remedy,
                    "outcome": each.outcome,
                }
            )
        yield each


def find_discrepancies(
    reconciling: Reconciliation, has_time: Callable[[], bool], *, when_due: bool
) -> Iterator[Discrepancy]:
    if when_due:
        yield from reconciling.check_between_rounds(has_time=has_time)
    if not when_due or reconciling.is_due:
        yield from reconciling.resume(has_time=has_time)


def log_discrepancies(discrepancies: Iterable[Discrepancy]) -> Counter[Kind]:
    """Log each discrepancy and return their number by kind."""
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


def count_discrepancies(counts: Counter[Kind]) -> None:
    """Record the number of discrepancies as metrics: the total, for alarms, and by kind."""
    metrics.add_metric(name="ReconcilerFindings", unit=MetricUnit.Count, value=counts.total())
    for kind, number in counts.items():
        with single_metric(
            name="ReconcilerFindings", unit=MetricUnit.Count, value=number, namespace=NAMESPACE
        ) as metric:
            metric.add_dimension(name="kind", value=kind)


# The reconciler's report on text search in the pool's indexes.

logger = logger_for("reconciler")
metrics = metrics_for("reconciler")

_UNKNOWN = "unknown"


def report_search_indexes(pool: Iterable[PoolMember]) -> None:
    """Log indexes without text search and count them, for an alarm; count all indexes by state."""
    indexes = [member.index for member in pool if member.index is not None]
    known = readiness_of(S3VectorsIndexes(client("s3vectors")), indexes)
    unready = {name: each for name, each in known.items() if each is not Readiness.ACTIVE}
    for name, readiness in unready.items():
        logger.warning("search index not ready", index=name, state=readiness or _UNKNOWN)

    metrics.add_metric(name="SearchIndexesNotReady", unit=MetricUnit.Count, value=len(unready))
    for state, count in Counter(each or _UNKNOWN for each in known.values()).items():
        with single_metric(
            name="SearchIndexes", unit=MetricUnit.Count, value=count, namespace=NAMESPACE
        ) as metric:
            metric.add_dimension(name="state", value=state)
