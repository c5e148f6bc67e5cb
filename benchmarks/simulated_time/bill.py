"""What an account is billed for, counted; and what that costs."""

from collections import Counter
from dataclasses import dataclass, field

# Dollars each in us-east-1. Step Functions, Lambda (ARM), DynamoDB on demand and Titan: the prices
# of the AWS pages of those services, November 2026. S3: https://aws.amazon.com/s3/pricing/ (PUT
# $0.005 and GET, HEAD and all other requests $0.0004 per 1,000; DELETE is free). SQS:
# https://aws.amazon.com/sqs/pricing/ ($0.40 a million; a batch of ten is one request).
# EventBridge is not here, for events of AWS services are free:
# https://aws.amazon.com/eventbridge/pricing/. S3 Vectors: a query behind each Retrieve.
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
    "vector queries": 2.50 / 1_000_000,
}


@dataclass
class Bill:
    """
    `amounts` are of PRICES. For the record: `calls` are requests by operation, `accepted` those
    that Bedrock took, and `memory` is the GB-s of each function.
    """

    amounts: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    memory: Counter[str] = field(default_factory=Counter)

    def add(self, what: str, amount: float) -> None:
        assert what in PRICES, f"nobody knows what {what} cost"
        # Counter's values are ints to the type checker; GB-s and half read units are not.
        self.amounts[what] += amount  # type: ignore[assignment]

    def dollars(self, what: str) -> float:
        return self.amounts[what] * PRICES[what]

    @property
    def total(self) -> float:
        return sum(map(self.dollars, PRICES))
