"""
The schedule: bucket, records, index and control table compared, and mended where they disagree.

The schedule says {"action": "reconcile", "when_due": true}: each invocation looks at what tells of
itself, and goes on with the full round that is under way, for as long as a function may, or begins
one if it is due. Without `when_due` a round is gone on with, or begun, at once.

Whoever knows that what was under way has ended, as after a power cut, says since when:
{"action": "reconcile", "idle_before": "2026-02-03T10:30:00Z"}. That invocation begins at the start,
and leaves nothing of what is older to the next.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import cache
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit, single_metric
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import AwareDatetime, BaseModel, Field

from functions.observability import NAMESPACE, logger_for, metrics_for
from functions.reconciler.search_indexes import report_search_indexes
from stackroom.audits.discrepancies import Discrepancy, Kind
from stackroom.audits.pace import ACCOUNT_A_SECOND, DEFAULT_A_SECOND
from stackroom.audits.reconciliation import Reconciliation
from stackroom.aws.reconciliation import reconciliation_of
from stackroom.aws.session import client
from stackroom.aws.settings import Pool, Settings
from stackroom.aws.use_cases import UseCases

logger = logger_for("reconciler")
metrics = metrics_for("reconciler")

# Milliseconds. Nothing is begun with less; a piece that takes longer is cut off, and the next
# invocation has all of its time for it.
_ENOUGH = 60_000


class ReconcilerSettings(Settings):
    kb_catalog_table: str
    kb_control_table: str
    kb_docs_bucket: str
    kb_pool: Pool
    state_machine_arn: str
    # For documents of the knowledge bases, of which the account has five.
    reconciler_requests_a_second: float = Field(DEFAULT_A_SECOND, gt=0, lt=ACCOUNT_A_SECOND)


class Request(BaseModel):
    idle_before: AwareDatetime | None = None
    when_due: bool = False


@cache
def use_cases() -> UseCases:
    return UseCases.of(ReconcilerSettings.from_env(), client)


def reconciliation(idle_before: datetime | None) -> Reconciliation:
    bookmark = use_cases().deployment.bookmark
    if idle_before is not None:
        bookmark.keep(None)
    return reconciliation_of(
        use_cases(),
        bookmark=bookmark,
        rounds=use_cases().deployment.rounds,
        idle_before=idle_before,
        a_second=use_cases().deployment.settings.need("reconciler_requests_a_second"),
    )


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    report_search_indexes(use_cases().deployment)
    request = Request.model_validate(event)
    reconciling = reconciliation(request.idle_before)

    def has_time() -> bool:
        return context.get_remaining_time_in_millis() >= _ENOUGH

    counts = told(found(reconciling, has_time, when_due=request.when_due))
    finished = reconciling.is_over
    latest = reconciling.rounds.latest()

    count(counts)
    logger.info(
        "reconciled",
        finished=finished,
        found=counts.total(),
        by_kind=counts,
        round_began=latest.began if latest is not None else None,
        round_ended=latest.ended if latest is not None else None,
        read=latest.read if latest is not None else {},
    )
    return {"finished": finished, "found": dict(counts)}


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
