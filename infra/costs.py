"""What a stretch of time cost, estimated from what CloudWatch counts."""

from collections.abc import Iterable, Sequence

from aws_cdk import aws_cloudwatch as cloudwatch

from infra.function import HandlerFunction
from infra.measurements import metric, of_function, ours, total

# us-east-1, on demand, in dollars: per GB-second on ARM, per state transition, per read and write
# unit. https://aws.amazon.com/lambda/pricing/ and the like; other regions differ by some per
# cent. As read in November 2026.
_GB_SECOND = 0.0000133334
_TRANSITION = 0.025 / 1000
_WRITE = 0.625 / 1_000_000
_READ = 0.125 / 1_000_000
# A page of DetectDocumentText, of the first million a month. https://aws.amazon.com/textract/pricing/
_OCR_PAGE = 1.50 / 1000


def estimated(
    *, functions: Iterable[HandlerFunction], tables: Sequence[str], ocr: bool
) -> list[cloudwatch.MathExpression]:
    """
    Dollars, a line for each function and one each for the tables, the state machine, and OCR if it
    is on.
    """
    pages = [total([ours("OcrPages", "inspect")], label="OCR", factor=_OCR_PAGE)] if ocr else []
    # Account-wide, because Step Functions doesn't count transitions per machine.
    transitions = metric("AWS/States", "ConsumedCapacity", {"ServiceMetric": "StateTransition"})
    by_function = [
        total(
            [of_function(each, "Duration")],
            label=each.service,
            factor=each.memory_size / 1024 / 1000 * _GB_SECOND,
        )
        for each in functions
    ]
    return [
        *by_function,
        total(consumed(tables, "Read"), label="table reads", factor=_READ),
        total(consumed(tables, "Write"), label="table writes", factor=_WRITE),
        total([transitions], label="state transitions", factor=_TRANSITION),
        *pages,
    ]


def consumed(tables: Iterable[str], kind: str) -> list[cloudwatch.Metric]:
    """`kind` is Read or Write."""
    return [
        metric("AWS/DynamoDB", f"Consumed{kind}CapacityUnits", {"TableName": table})
        for table in tables
    ]
