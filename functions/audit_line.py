"""What each call of a tool leaves behind: its audit line, and the figures that are made of it."""

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from functions.telemetry import NAMESPACE
from stackroom.access.access_log import EVENT, Access


def report(access: Access, *, logger: Logger) -> None:
    logger.info(EVENT, extra=access.fields())
    named = {"service": logger.service, "tool": access.tool, "outcome": access.outcome}
    with single_metric(
        name="ToolLatency",
        unit=MetricUnit.Milliseconds,
        value=access.latency_ms,
        namespace=NAMESPACE,
        default_dimensions=named,
    ):
        pass
    if access.is_fault:
        # Beside the latency by outcome, for an alarm takes ten figures, and there are more tools.
        with single_metric(
            name="ToolFaults",
            unit=MetricUnit.Count,
            value=1,
            namespace=NAMESPACE,
            default_dimensions={"service": logger.service},
        ):
            pass
