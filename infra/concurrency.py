"""The account's Lambda concurrency, read from the CDK context and checked once."""

from dataclasses import dataclass
from typing import Self

import aws_cdk as cdk

# The minimum of an SQS event source.
# https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
_MIN_BATCHES = 2


@dataclass(frozen=True)
class Concurrency:
    """The unreserved concurrency of the account; `make deploy` asks Lambda."""

    functions: int

    @classmethod
    def from_context(cls, app: cdk.App) -> Self:
        functions = int(app.node.get_context("lambda_concurrency"))
        if functions < 1:
            raise ValueError(f"context lambda_concurrency {functions} is not 1 or more")
        return cls(functions)

    def batches(self, wanted: int) -> int:
        """
        Return the number of batches of a queue that may run at a time: at most a tenth of the
        account's.

        That leaves the rest to functions that somebody is waiting for; by itself Lambda starts ever
        more. Nothing is reserved, because a reservation is taken from the account's other
        functions, and 100 must stay unreserved, which is more than many accounts have.
        https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
        """
        return max(_MIN_BATCHES, min(wanted, self.functions // 10))
