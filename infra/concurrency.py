"""How many functions the account lets run at a time: read from the CDK context, checked once."""

from dataclasses import dataclass
from typing import Self

import aws_cdk as cdk

# Of an event source of SQS. https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
_LEAST_BATCHES = 2


@dataclass(frozen=True)
class Concurrency:
    """Those that no function reserves; `make deploy` asks Lambda."""

    functions: int

    @classmethod
    def from_context(cls, app: cdk.App) -> Self:
        functions = int(app.node.get_context("lambda_concurrency"))
        if functions < 1:
            raise ValueError(f"context lambda_concurrency {functions} is not 1 or more")
        return cls(functions)

    def batches(self, wanted: int) -> int:
        """
        How many of the batches that a queue would have worked on at a time it may: a tenth of the
        account's functions, so that our queues leave the others to who waits for an answer.

        By itself Lambda begins ever more. Nothing is reserved, for a reservation is taken from the
        account's other functions, and 100 must stay unreserved, which is more than many accounts
        have. https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
        """
        return max(_LEAST_BATCHES, min(wanted, self.functions // 10))
