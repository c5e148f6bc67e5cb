"""The checks of the preflight, against moto and against fake responses where moto has none."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from threading import Event
from typing import Any

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError, NoCredentialsError
from moto import mock_aws

from bedrock_kb_simulator.service_errors import ServiceError
from infra import preflight, preflight_bedrock
from infra.asking import Client, Result, passed
from infra.outputs import report
from infra.preflight_bedrock import REGIONS
from infra.synthesised import Account, Model, PlannedDeployment, read_assembly
from tests.infra.assembly import Assembly
from tests.workflow.answering import answered

ROOT = Path(__file__).parents[2]
HERE = Account(id="123456789012", region="eu-central-1")
AWS = "aws --region eu-central-1"
ASK, RAISE = (
    f"{AWS} bedrock-runtime",
    f"{AWS} service-quotas request-service-quota-increase --service-code",
)
TITAN, NOVA = "amazon.titan-embed-text-v2:0", "global.amazon.nova-2-lite-v1:0"
MODELS = (Model(TITAN, TITAN), Model(NOVA, NOVA.removeprefix("global.")))
NONE = ServiceError("ResourceNotFoundException", "there is none")
REFUSED = ServiceError("ValidationException", "it takes no text")
NOWHERE = EndpointConnectionError(endpoint_url="https://aws.test")


def denied(right: str) -> ServiceError:
    return ServiceError("AccessDeniedException", f"User: me is not authorized to perform: {right}")


def available(**but: Any) -> dict[str, Any]:
    texts = {
        "agreementAvailability": {"status": "AVAILABLE"},
        # As users report for Amazon's models, which answer nevertheless.
        "authorizationStatus": "NOT_AUTHORIZED",
        "entitlementAvailability": "AVAILABLE",
        "regionAvailability": "AVAILABLE",
    }
    return {"GetFoundationModelAvailability": {**texts, **but}}


def per_minute(value: float) -> dict[str, Any]:
    named = {"QuotaName": "requests per minute for Nova 2 Lite", "QuotaCode": "L-0"}
    return {"ListServiceQuotas": {"Quotas": [{**named, "Adjustable": True, "Value": value}]}}


def concurrency(functions: int) -> dict[str, Any]:
    limit = {"UnreservedConcurrentExecutions": functions}
    return {"GetAccountSettings": {"AccountLimit": limit}}


WELL: dict[str, Any] = {
    **concurrency(1000),
    **available(),
    **per_minute(10.0),
    "Converse": {"stopReason": "end_turn"},
    "GetFoundationModel": {"modelDetails": {"modelName": "Nova 2 Lite"}},
    "GetInferenceProfile": {"status": "ACTIVE"},
    "ListInferenceProfiles": denied("bedrock:ListInferenceProfiles"),  # somebody answers
    "GetServiceQuota": {"Quota": {"QuotaName": "of jobs", "QuotaCode": "L-1", "Value": 5}},
    "ListGateways": {"items": []},
}


@dataclass
class World:
    """An account without problems, except what is put into `answers`, by operation."""

    client: Client
    planned: PlannedDeployment
    answers: dict[str, Any] = field(default_factory=lambda: dict(WELL))

    def answer(self, operation: Any, _request: dict[str, Any]) -> dict[str, Any]:
        response = self.answers[operation.name]
        if isinstance(response, Exception):
            raise response
        return dict(response)

    def run_checks(self) -> dict[str, Result]:
        return dict(preflight.run_checks(preflight.checks(self.client, self.planned, HERE.region)))


@pytest.fixture
def world(assembly: Assembly, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        client = preflight.clients(boto3.session.Session(region_name=HERE.region))
        made = World(client, read_assembly(assembly.directory, project="stackroom", models=MODELS))
        unknown = (
            "bedrock",
            "bedrock-agentcore-control",
            "bedrock-runtime",
            "service-quotas",
        )
        with answered(made.answer, client("lambda"), *map(client, unknown)):
            yield made


def test_account_without_problems_passes(world: World) -> None:
    found = world.run_checks()

    assert {each.mark for each in found.values()} == {"ok"}, found
    assert "admission_seconds_between_starts=0.2" in found["Service Quotas"].text


@pytest.mark.parametrize(
    ("check", "answers", "mark", "line"),
    [
        (TITAN, available(regionAvailability="NOT_AVAILABLE"), "bad", "export AWS_REGION=us-"),
        (TITAN, available(entitlementAvailability="NONE"), "warn", f"{ASK} invoke-model"),
        (TITAN, available(agreementAvailability={"status": "PENDING"}), "warn", f"{ASK} invoke-"),
        (NOVA, {"GetInferenceProfile": NONE}, "bad", f"{AWS} bedrock list-inference-profiles"),
        (NOVA, {"GetFoundationModelAvailability": NONE}, "warn", f"{ASK} converse"),
        (NOVA, {"Converse": REFUSED}, "bad", f"{AWS} bedrock list-inference-profiles"),
        ("region", {"ListGateways": NOWHERE}, "bad", "export AWS_REGION=us-east-1"),
        ("Service Quotas", per_minute(0.0), "bad", f"{RAISE} bedrock --quota-code L-0"),
        ("Lambda concurrency", concurrency(10), "warn", f"{RAISE} lambda --quota-code L-B99A9384"),
    ],
)
def test_problem_is_reported_with_a_command_to_type(
    world: World, check: str, answers: dict[str, Any], mark: str, line: str
) -> None:
    world.answers |= answers

    found = world.run_checks()[check]

    assert (found.mark, found.lines[0][: len(line)]) == (mark, line), found


def test_new_account_with_ten_concurrent_functions_gets_a_warning(
    world: World, customised: Assembly
) -> None:
    """Its queues and streams are configured for as few."""
    world.planned = read_assembly(customised.directory, project="docs", models=MODELS)
    world.answers |= concurrency(10)

    found = world.run_checks()["Lambda concurrency"]

    text = "10 concurrent functions, of which queues and streams may take 12"
    assert (found.mark, found.text) == ("warn", f"{text}: questions may be throttled")


def test_check_that_is_denied_becomes_a_warning_naming_the_right(world: World) -> None:
    for right in ("bedrock:Converse", "lambda:GetAccountSettings"):
        world.answers[right.partition(":")[2]] = denied(right)

    found = world.run_checks()

    texts = {name: each.text for name, each in found.items() if each.mark == "warn"}
    assert texts == {
        NOVA: "can't be checked: these credentials lack bedrock:Converse",
        "Lambda concurrency": "can't be checked: these credentials lack lambda:GetAccountSettings",
    }


def test_hanging_check_becomes_a_warning() -> None:
    never = Event()

    [(_, hung)] = preflight.run_checks([("it", lambda: passed(str(never.wait())))], seconds=0.0)
    never.set()

    assert (hung.mark, hung.text) == ("warn", "no response within 0 seconds")


@pytest.mark.parametrize(
    ("where", "error", "line"),
    [
        (None, None, "export AWS_REGION="),
        ("eu-central-1", NoCredentialsError(), "aws configure"),
        ("eu-central-1", ServiceError("ExpiredToken", "it has expired"), "aws configure"),
        ("eu-central-1", NOWHERE, "export AWS_REGION="),
    ],
)
def test_missing_credentials_or_region_end_the_preflight(
    world: World, where: str | None, error: Exception | None, line: str
) -> None:
    world.answers["GetCallerIdentity"] = error
    lines: list[str] = []

    with answered(world.answer, world.client("sts")):
        failed = preflight.preflight(where, world.client, {}, lines.append)

    assert (failed, len(lines), lines[0].split()[:2]) == (1, 1, ["bad", "credentials"])
    assert f"type: {line}" in lines[0]


def test_region_is_known_with_its_account_or_warned_of(world: World) -> None:
    found, account = preflight.credentials(HERE.region, world.client)

    assert (found.mark, account) == ("ok", HERE)
    assert preflight_bedrock.region(world.client, "sa-east-1").mark == "warn"


def test_ocr_needs_textract_in_the_region(world: World) -> None:
    world.answers["DetectDocumentText"] = REFUSED  # of one byte: it answers
    with answered(world.answer, world.client("textract")):
        there = preflight_bedrock.ocr(world.client, HERE.region)
        world.answers["DetectDocumentText"] = NOWHERE
        missing = preflight_bedrock.ocr(world.client, HERE.region)

    assert (there.mark, missing.mark) == ("ok", "bad")
    assert missing.lines[0] == 'make deploy ARGS="-c ocr=none"'


def test_report_of_a_deployment_finds_each_output_that_it_names(assembly: Assembly) -> None:
    outputs = {
        f"stackroom-{stack}": {name: f"<{name}>" for name in found.get("Outputs", ())}
        for stack, found in ((stack, assembly.template(stack)) for stack in assembly.stacks)
    }

    text = report(outputs)

    assert "stackroom deployments add stackroom --outputs cdk.out/outputs.json" in text
    assert "<McpUrl>" in text


def test_preflight_exits_with_1_if_a_check_failed() -> None:
    run = subprocess.run(
        [sys.executable, "infra/preflight.py", "-c", "project=docs"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "AWS_REGION": ""},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (run.returncode, run.stdout[:18]) == (1, "bad  credentials  "), run.stderr
    assert run.stderr == "nothing is deployed: 1 failed; type what is shown above\n"


def test_too_long_project_name_is_refused() -> None:
    found, _ = preflight.settings({"project": "a-name-of-21-letters-x"})

    assert (found.mark, found.lines) == ("bad", ("make deploy PROJECT=another",))


def test_regions_have_every_type_and_match_the_page(world: World) -> None:
    types = {resource["Type"] for resource in world.planned.resources()}
    schemas = files("cfnlint") / "data" / "schemas" / "providers"
    page = (ROOT / "docs" / "deploy.md").read_text("utf-8")
    [listed] = re.findall(r"^(`.*`) have all of them", page, re.MULTILINE)

    for region in REGIONS:
        known = json.loads((schemas / f"{region}.json").read_text("utf-8"))
        assert {each for each in types if not each.startswith("Custom::")} <= set(known), region
    assert re.findall(r"`([a-z0-9-]+)`", listed) == list(REGIONS)
