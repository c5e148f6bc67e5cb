"""The audit line of a tool call and the metrics that are derived from it."""

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from functions.telemetry import NAMESPACE
from stackroom.access.access_log import EVENT, Access


def report(access: Access, *, logger: Logger) -> None:
    logger.info(EVENT, extra=access.fields())
    dimensions = {"service": logger.service, "tool": access.tool, "outcome": access.outcome}
    with single_metric(
        name="ToolLatency",
        unit=MetricUnit.Milliseconds,
        value=access.latency_ms,
        namespace=NAMESPACE,
        default_dimensions=dimensions,
    ):
        pass
    if access.is_fault:
        # Separate from the latency by outcome: an alarm takes at most ten metrics, and there are
        # more tools.
        with single_metric(
            name="ToolFaults",
            unit=MetricUnit.Count,
            value=1,
            namespace=NAMESPACE,
            default_dimensions={"service": logger.service},
        ):
            pass
