from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError, NoCredentialsError

from infra.limits import options

JOBS, DIRECT_CALLS, STARTS = "L-795A8608", "L-8D4ED20B", "L-E428575E"


class NoSuchResource(ClientError):
    pass


@dataclass
class FakeQuotas:
    """Service Quotas: the account's own values, and the defaults of AWS."""

    applied: dict[str, float] = field(default_factory=dict)
    defaults: dict[str, float] = field(default_factory=dict)
    exceptions = SimpleNamespace(NoSuchResourceException=NoSuchResource)

    def get_service_quota(self, **request: str) -> dict[str, Any]:
        return self._quota(self.applied, **request)

    def get_aws_default_service_quota(self, **request: str) -> dict[str, Any]:
        return self._quota(self.defaults, **request)

    # The arguments are spelled as boto3 spells them.
    def _quota(self, values: dict[str, float], ServiceCode: str, QuotaCode: str) -> dict[str, Any]:  # noqa: N803
        assert ServiceCode == "bedrock", "knowledge bases are counted there"
        if QuotaCode not in values:
            raise NoSuchResource(
                {"Error": {"Code": "NoSuchResourceException", "Message": "none"}}, "GetServiceQuota"
            )
        return {"Quota": {"QuotaName": f"quota {QuotaCode}", "Value": values[QuotaCode]}}


@pytest.fixture
def said() -> list[str]:
    return []


def test_what_the_account_has_becomes_context(said: list[str]) -> None:
    quotas = FakeQuotas(applied={JOBS: 5.0, DIRECT_CALLS: 10.0, STARTS: 0.1})

    found = list(options(quotas, said.append))

    assert found == [
        *("-c", "admission_jobs=5"),
        *("-c", "admission_direct_calls=10"),
        *("-c", "admission_seconds_between_starts=10"),
    ]
    assert said[0] == "admission_jobs: 5, by 'quota L-795A8608'"


def test_an_account_without_a_value_of_its_own_has_the_default(said: list[str]) -> None:
    quotas = FakeQuotas(applied={STARTS: 0.4}, defaults={JOBS: 6.0, DIRECT_CALLS: 12.0})

    found = list(options(quotas, said.append))

    assert found[1::2] == [
        "admission_jobs=6",
        "admission_direct_calls=12",
        "admission_seconds_between_starts=2.5",
    ]


def test_a_quota_that_nobody_knows_is_left_to_the_documented_value(said: list[str]) -> None:
    quotas = FakeQuotas(applied={JOBS: 5.0, STARTS: 0.0})

    found = list(options(quotas, said.append))

    assert found == ["-c", "admission_jobs=5"]
    assert [line.partition(":")[0] for line in said] == [
        "admission_jobs",
        "admission_direct_calls",
        "admission_seconds_between_starts",
    ]
    assert all("as in cdk.json" in line for line in said[1:])


def test_without_credentials_everything_is_left_to_the_documented_values(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_request: str) -> dict[str, Any]:
        raise NoCredentialsError

    quotas = FakeQuotas()
    monkeypatch.setattr(quotas, "get_service_quota", refuse)

    found = list(options(quotas, said.append))

    assert found == []
    assert len(said) == 3
