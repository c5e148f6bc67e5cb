"""
The schedule: bucket, records, index and control table compared, and mended where they disagree.

An invocation works for as long as a function may, and the next one goes on where it stopped.
Whoever knows that what was under way has ended, as after a power cut, says since when:
{"action": "reconcile", "idle_before": "2026-02-03T10:30:00Z"}. That invocation begins at the start,
and leaves nothing of what is older to the next.
"""

from collections import Counter
from datetime import datetime
from functools import cache
from typing import Any

from aws_lambda_powertools.metrics import MetricUnit, single_metric
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import AwareDatetime, BaseModel

from functions.observability import NAMESPACE, logger_for, metrics_for
from functions.reconciler.search_indexes import report_search_indexes
from stackroom.audits.discrepancies import Kind
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


class Request(BaseModel):
    idle_before: AwareDatetime | None = None


@cache
def use_cases() -> UseCases:
    return UseCases.of(ReconcilerSettings.from_env(), client)


def reconciliation(idle_before: datetime | None) -> Reconciliation:
    bookmark = use_cases().deployment.bookmark
    if idle_before is not None:
        bookmark.keep(None)
    return reconciliation_of(use_cases(), bookmark=bookmark, idle_before=idle_before)


@logger.inject_lambda_context(clear_state=True)
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    report_search_indexes(use_cases().deployment)
    counts: Counter[Kind] = Counter()
    reconciling = reconciliation(Request.model_validate(event).idle_before)
    steps = reconciling.go_on(has_time=lambda: context.get_remaining_time_in_millis() >= _ENOUGH)
    for each in steps:
        logger.warning(
            "discrepancy",
            kind=each.kind,
            what=each.what,
            remedy=each.remedy,
            outcome=each.outcome,
            exc_info=each.error,
        )
        counts[each.kind] += 1
    finished = reconciling.is_over

    count(counts)
    logger.info("reconciled", finished=finished, found=counts.total(), by_kind=counts)
    return {"finished": finished, "found": dict(counts)}


def count(counts: Counter[Kind]) -> None:
    """Their number, for alarms; and by kind."""
    metrics.add_metric(name="ReconcilerFindings", unit=MetricUnit.Count, value=counts.total())
    for kind, found in counts.items():
        with single_metric(
            name="ReconcilerFindings", unit=MetricUnit.Count, value=found, namespace=NAMESPACE
        ) as metric:
            metric.add_dimension(name="kind", value=kind)
