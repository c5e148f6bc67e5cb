"""What CloudWatch knows of Stackroom: our own figures and those of the services it runs on."""

import re
from collections.abc import Iterable, Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from infra.function import HandlerFunction

FIVE_MINUTES = cdk.Duration.minutes(5)
_THIRD = 8  # of the 24 columns


def metric(
    namespace: str,
    name: str,
    dimensions: Mapping[str, str],
    *,
    statistic: str = "Sum",
    label: str | None = None,
    period: cdk.Duration = FIVE_MINUTES,
) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=namespace,
        metric_name=name,
        dimensions_map=dict(dimensions),
        statistic=statistic,
        label=label,
        period=period,
    )


def ours(
    name: str, service: str, *, statistic: str = "Sum", label: str | None = None, **more: str
) -> cloudwatch.Metric:
    """A figure that a function logs; `more` are its dimensions beside the service."""
    dimensions = {"service": service, **more}
    return metric("Stackroom", name, dimensions, statistic=statistic, label=label)


def of_function(
    handler: HandlerFunction, name: str, *, statistic: str = "Sum"
) -> cloudwatch.Metric:
    dimensions = {"FunctionName": handler.name}
    return metric("AWS/Lambda", name, dimensions, statistic=statistic, label=handler.service)


def of_queue(
    queue_name: str, name: str, *, statistic: str = "Maximum", period: cdk.Duration = FIVE_MINUTES
) -> cloudwatch.Metric:
    dimensions = {"QueueName": queue_name}
    return metric("AWS/SQS", name, dimensions, statistic=statistic, label=queue_name, period=period)


def total(
    metrics: Iterable[cloudwatch.IMetric], *, label: str, factor: float = 1
) -> cloudwatch.MathExpression:
    """The sum of metrics times a factor; one that was never reported is passed over."""
    # Ids are shared by all lines of a graph; one that starts with a capital is a function.
    prefix = re.sub(r"\W", "_", label).lower()
    named = {f"{prefix}_{number}": each for number, each in enumerate(metrics)}
    # SUM passes over lines without data; + would make nothing of all of them.
    expression = f"SUM([{', '.join(named)}])"
    if factor != 1:
        expression += f" * {factor:.15f}"  # plain digits: CloudWatch knows no exponents
    return cloudwatch.MathExpression(
        expression=expression, using_metrics=named, label=label, period=FIVE_MINUTES
    )


def found(
    name: str, *dimensions: str, statistic: str = "Sum", where: str = "", label: str | None = None
) -> cloudwatch.MathExpression:
    """
    Whatever services and values report this figure, one line each.

    `where` narrows the search; `label` may hold ${PROP('Dim.name')}.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/search-expression-syntax.html
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/graph-dynamic-labels.html
    """
    schema = ",".join(["Stackroom", *sorted({"service", *dimensions})])
    wanted = " ".join(filter(None, (f'MetricName="{name}"', where)))
    return cloudwatch.MathExpression(
        expression=f"SEARCH('{{{schema}}} {wanted}', '{statistic}', 300)",
        label=("" if dimensions else name) if label is None else label,
        using_metrics={},
        period=FIVE_MINUTES,
    )


def graph(
    title: str, metrics: Sequence[cloudwatch.IMetric], *, stacked: bool = False
) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(
        title=title, left=list(metrics), width=_THIRD, height=6, stacked=stacked
    )
