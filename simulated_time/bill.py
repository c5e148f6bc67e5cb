"""An account's billed amounts, and their costs."""

from collections import Counter
from dataclasses import dataclass, field

from stackroom.model import prices as core

# Dollars each in us-east-1. Step Functions, Lambda (ARM), DynamoDB on demand and Titan: the prices
# of the AWS pages of those services, November 2026. S3: https://aws.amazon.com/s3/pricing/ (PUT
# $0.005 and GET, HEAD and all other requests $0.0004 per 1,000; DELETE is free). SQS:
# https://aws.amazon.com/sqs/pricing/ ($0.40 a million; a batch of ten is one request).
# EventBridge is not here, for events of AWS services are free:
# https://aws.amazon.com/eventbridge/pricing/. S3 Vectors: a query behind each Retrieve. X-Ray, a
# trace recorded: https://aws.amazon.com/xray/pricing/. CloudWatch Logs, a byte taken in, and a
# custom metric for a month: https://aws.amazon.com/cloudwatch/pricing/ (both November 2026).
PRICES = {
    "transitions": 0.025 / 1_000,
    "lambda requests": 0.20 / 1_000_000,
    "lambda GB-s": 0.0000133334,
    "dynamodb writes": 0.625 / 1_000_000,
    "dynamodb reads": 0.125 / 1_000_000,
    "s3 puts": 0.005 / 1_000,
    "s3 gets": 0.0004 / 1_000,
    "s3 deletes": 0.0,
    "sqs requests": 0.40 / 1_000_000,
    "vector queries": core.PRICES[core.QUERY].dollars,
    "traces": 5.00 / 1_000_000,
    "log bytes": 0.50 / 1_000_000_000,
}
METRIC = 0.30
# Bytes of a log line: measured, with the 26 that CloudWatch adds. Bytes of each invocation's lines
# from Lambda and Powertools' metrics: assumed.
LOG_LINE, LOGGED = 700, 900
# X-Ray records the first request of each second, and this share of the others.
# https://docs.aws.amazon.com/xray/latest/devguide/xray-console-sampling.html
_SAMPLED = 0.05


@dataclass
class Bill:
    """
    A bill; `amounts` are by the names of PRICES. Without a price: `calls` are requests by
    operation, `accepted` those that Bedrock accepted.
    """

    amounts: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    _traced: dict[str, int] = field(
        default_factory=dict
    )  # the second of the last sampled trace, by service

    def add(self, what: str, amount: float) -> None:
        assert what in PRICES, f"nobody knows what {what} cost"
        # Counter's values are ints to the type checker; GB-s and half read units are not.
        self.amounts[what] += amount  # type: ignore[assignment]

    def trace(self, service: str, at: float) -> None:
        """Count a trace that starts with the service; calls from there belong to the same trace."""
        second = int(at)
        is_first = self._traced.get(service) != second
        self._traced[service] = second
        self.add("traces", 1 if is_first else _SAMPLED)

    def dollars(self, what: str) -> float:
        return self.amounts[what] * PRICES[what]

    @property
    def total(self) -> float:
        return sum(map(self.dollars, PRICES))
