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
    """Service Quotas: the account's own values, and the defaults of AWS."""

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
        assert ServiceCode == "bedrock", "knowledge bases are counted there"
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
        # An account without a value of its own has the default.
        (
            FakeQuotas(applied={STARTS: 0.4}, defaults={JOBS: 6.0, DIRECT_CALLS: 12.0}),
            ("6", "12", "2.5"),
        ),
        # What nobody knows is left to the documented value.
        (FakeQuotas(applied={JOBS: 5.0, STARTS: 0.0}), ("5", None, None)),
        (FakeQuotas(failure=NoCredentialsError()), (None, None, None)),
    ],
)
def test_what_the_account_has_becomes_context(
    quotas: FakeQuotas, values: tuple[str | None, ...]
) -> None:
    said: list[str] = []

    found = list(options(quotas, said.append))

    known = [(name, value) for name, value in zip(NAMES, values, strict=True) if value]
    assert found == [part for name, value in known for part in ("-c", f"{name}={value}")]
    assert [line.partition(":")[0] for line in said] == list(NAMES)
    assert ["as in cdk.json" in line for line in said] == [value is None for value in values]
    if values[0]:
        assert said[0] == f"admission_jobs: {values[0]}, by 'quota L-795A8608'"


def test_how_many_functions_run_at_a_time_is_asked_of_lambda() -> None:
    client: Any = boto3.client("lambda", region_name="us-east-1")
    said: list[str] = []
    with Stubber(client) as stub:
        limit = {"ConcurrentExecutions": 110, "UnreservedConcurrentExecutions": 10}
        stub.add_response("get_account_settings", {"AccountLimit": limit})
        stub.add_client_error("get_account_settings", "AccessDeniedException")

        found = [[*concurrency(client, said.append)] for _ in range(2)]

    assert found == [["-c", "lambda_concurrency=10"], []]
    assert ["as in cdk.json" in line for line in said] == [False, True]
