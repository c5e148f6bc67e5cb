from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, NoCredentialsError
from botocore.stub import Stubber

from infra.limits import concurrency, options

JOBS, DIRECT_CALLS, STARTS = "L-795A8608", "L-8D4ED20B", "L-E428575E"
NAMES = ("admission_jobs", "admission_direct_calls", "admission_seconds_between_starts")


class NoSuchResource(ClientError):
    pass


@dataclass
class FakeQuotas:
    """Service Quotas: the account's own values, and AWS's defaults."""

    applied: dict[str, float] = field(default_factory=dict)
    defaults: dict[str, float] = field(default_factory=dict)
    failure: Exception | None = None
    exceptions = SimpleNamespace(NoSuchResourceException=NoSuchResource)

    def get_service_quota(self, **request: str) -> dict[str, Any]:
        return self._quota(self.applied, **request)

    def get_aws_default_service_quota(self, **request: str) -> dict[str, Any]:
        return self._quota(self.defaults, **request)

    # The arguments are spelled as boto3 spells them.
    def _quota(self, values: dict[str, float], ServiceCode: str, QuotaCode: str) -> dict[str, Any]:  # noqa: N803
        assert ServiceCode == "bedrock", "the quotas of knowledge bases are Bedrock's"
        if self.failure:
            raise self.failure
        if QuotaCode not in values:
            raise NoSuchResource(
                {"Error": {"Code": "NoSuchResourceException", "Message": "none"}}, "GetServiceQuota"
            )
        return {"Quota": {"QuotaName": f"quota {QuotaCode}", "Value": values[QuotaCode]}}


@pytest.mark.parametrize(
    ("quotas", "values"),
    [
        (FakeQuotas(applied={JOBS: 5.0, DIRECT_CALLS: 10.0, STARTS: 0.1}), ("5", "10", "10")),
        # An account without a value of its own has AWS's default.
        (
            FakeQuotas(applied={STARTS: 0.4}, defaults={JOBS: 6.0, DIRECT_CALLS: 12.0}),
            ("6", "12", "2.5"),
        ),
        # Unknown quotas keep the documented value.
        (FakeQuotas(applied={JOBS: 5.0, STARTS: 0.0}), ("5", None, None)),
        (FakeQuotas(failure=NoCredentialsError()), (None, None, None)),
    ],
)
def test_quotas_of_the_account_become_context(
    quotas: FakeQuotas, values: tuple[str | None, ...]
) -> None:
    lines: list[str] = []

    found = list(options(quotas, lines.append))

    known = [(name, value) for name, value in zip(NAMES, values, strict=True) if value]
    assert found == [part for name, value in known for part in ("-c", f"{name}={value}")]
    assert [line.partition(":")[0] for line in lines] == list(NAMES)
    assert ["from cdk.json" in line for line in lines] == [value is None for value in values]
    if values[0]:
        assert lines[0] == f"admission_jobs: {values[0]}, from 'quota L-795A8608'"


def test_unreserved_concurrency_becomes_context() -> None:
    client: Any = boto3.client("lambda", region_name="us-east-1")
    lines: list[str] = []
    with Stubber(client) as stub:
        limit = {"ConcurrentExecutions": 110, "UnreservedConcurrentExecutions": 10}
        stub.add_response("get_account_settings", {"AccountLimit": limit})
        stub.add_client_error("get_account_settings", "AccessDeniedException")

        found = [[*concurrency(client, lines.append)] for _ in range(2)]

    assert found == [["-c", "lambda_concurrency=10"], []]
    assert ["from cdk.json" in line for line in lines] == [False, True]
