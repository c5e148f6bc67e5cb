"""The estimated cost of a period, from CloudWatch's metrics."""

from collections.abc import Iterable, Sequence

from aws_cdk import aws_cloudwatch as cloudwatch

from infra.function import HandlerFunction
from infra.measurements import function_metric, metric, own_metric, total

# us-east-1, on demand, in dollars: per GB-second on ARM, per state transition, per read and write
# unit. https://aws.amazon.com/lambda/pricing/ and the like; other regions differ by a few
# cent. As read in November 2026.
_GB_SECOND = 0.0000133334
_TRANSITION = 0.025 / 1000
_WRITE = 0.625 / 1_000_000
_READ = 0.125 / 1_000_000
# A page of DetectDocumentText, of the first million a month. https://aws.amazon.com/textract/pricing/
_OCR_PAGE = 1.50 / 1000


def estimated_costs(
    *, functions: Iterable[HandlerFunction], tables: Sequence[str], ocr: bool
) -> list[cloudwatch.MathExpression]:
    """
    Return dollars: one line per function, and one each for tables, state machine, and OCR if it is
    on.
    """
    pages = (
        [total([own_metric("OcrPages", "inspect")], label="OCR", factor=_OCR_PAGE)] if ocr else []
    )
    # Account-wide, because Step Functions doesn't report transitions per state machine.
    transitions = metric("AWS/States", "ConsumedCapacity", {"ServiceMetric": "StateTransition"})
    by_function = [
        total(
            [function_metric(each, "Duration")],
            label=each.service,
            factor=each.memory_size / 1024 / 1000 * _GB_SECOND,
        )
        for each in functions
    ]
    return [
        *by_function,
        total(consumed_capacity(tables, "Read"), label="table reads", factor=_READ),
        total(consumed_capacity(tables, "Write"), label="table writes", factor=_WRITE),
        total([transitions], label="state transitions", factor=_TRANSITION),
        *pages,
    ]


def consumed_capacity(tables: Iterable[str], kind: str) -> list[cloudwatch.Metric]:
    """Return the tables' consumed capacity; `kind` is Read or Write."""
    return [
        metric("AWS/DynamoDB", f"Consumed{kind}CapacityUnits", {"TableName": table})
        for table in tables
    ]
