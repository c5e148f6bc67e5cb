"""Bedrock's concurrency quotas for ingestion, read from the CDK context and checked once."""

from dataclasses import dataclass
from typing import Self

import aws_cdk as cdk


@dataclass(frozen=True, kw_only=True)
class Admission:
    """
    The quotas that admission enforces; `make deploy` reads them from Service Quotas if it may.
    """

    jobs: int
    direct_calls: int
    seconds_between_starts: float

    @classmethod
    def from_context(cls, app: cdk.App) -> Self:
        return cls(
            jobs=int(_number(app, "admission_jobs", at_least=1)),
            direct_calls=int(_number(app, "admission_direct_calls", at_least=1)),
            seconds_between_starts=_number(app, "admission_seconds_between_starts", at_least=0),
        )

    @property
    def environment(self) -> dict[str, str]:
        return {
            "ADMISSION_JOBS": str(self.jobs),
            "ADMISSION_DIRECT_CALLS": str(self.direct_calls),
            "ADMISSION_SECONDS_BETWEEN_STARTS": f"{self.seconds_between_starts:g}",
        }


def _number(app: cdk.App, name: str, *, at_least: float) -> float:
    value = float(app.node.get_context(name))  # text, if it came by the CLI's -c
    if value < at_least:
        raise ValueError(f"context {name} {value:g} is not {at_least:g} or more")
    return value
