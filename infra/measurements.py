"""CloudWatch metrics: our own, and those of the services that Stackroom runs on."""

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


def own_metric(
    name: str, service: str, *, statistic: str = "Sum", label: str | None = None, **more: str
) -> cloudwatch.Metric:
    """Return a metric that a function logs; `more` are its dimensions other than the service."""
    dimensions = {"service": service, **more}
    return metric("Stackroom", name, dimensions, statistic=statistic, label=label)


def function_metric(
    handler: HandlerFunction, name: str, *, statistic: str = "Sum"
) -> cloudwatch.Metric:
    dimensions = {"FunctionName": handler.name}
    return metric("AWS/Lambda", name, dimensions, statistic=statistic, label=handler.service)


def queue_metric(
    queue_name: str, name: str, *, statistic: str = "Maximum", period: cdk.Duration = FIVE_MINUTES
) -> cloudwatch.Metric:
    dimensions = {"QueueName": queue_name}
    return metric("AWS/SQS", name, dimensions, statistic=statistic, label=queue_name, period=period)


def total(
    metrics: Iterable[cloudwatch.IMetric], *, label: str, factor: float = 1
) -> cloudwatch.MathExpression:
    """Return the sum of metrics times a factor; metrics without data are skipped."""
    # Ids are shared by all lines of a graph; a name that starts with a capital is a function.
    prefix = re.sub(r"\W", "_", label).lower()
    ids = {f"{prefix}_{number}": each for number, each in enumerate(metrics)}
    # SUM skips lines without data; + would return no data for any.
    expression = f"SUM([{', '.join(ids)}])"
    if factor != 1:
        expression += f" * {factor:.15f}"  # plain digits: CloudWatch doesn't parse exponents
    return cloudwatch.MathExpression(
        expression=expression, using_metrics=ids, label=label, period=FIVE_MINUTES
    )


def search_metric(
    name: str, *dimensions: str, statistic: str = "Sum", where: str = "", label: str | None = None
) -> cloudwatch.MathExpression:
    """
    Return one line for each service and dimension value that reports this metric.

    `where` narrows the search; `label` may contain ${PROP('Dim.name')}.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/search-expression-syntax.html
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/graph-dynamic-labels.html
    """
    schema = ",".join(["Stackroom", *sorted({"service", *dimensions})])
    query = " ".join(filter(None, (f'MetricName="{name}"', where)))
    return cloudwatch.MathExpression(
        expression=f"SEARCH('{{{schema}}} {query}', '{statistic}', 300)",
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
