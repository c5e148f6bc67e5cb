"""The preflight of a second project in the local cloud, and with faults put into that."""

from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.config import Config

from infra import preflight
from infra.asking import Client, Result
from infra.synthesised import Account, Model, PlannedDeployment, read_assembly
from stackroom_local.state import ACCOUNT, REGION, Instance
from tests.infra.synthesis import deployment

VERSION = "/cdk-bootstrap/hnb659fds/version"
TITAN, NOVA = "amazon.titan-embed-text-v2:0", "eu.amazon.nova-lite-v1:0"
PATIENT = 300.0  # seconds, on a busy machine


@pytest.fixture(scope="module")
def planned() -> PlannedDeployment:
    models = (Model(TITAN, TITAN), Model(NOVA, NOVA.removeprefix("eu.")))
    return read_assembly(deployment("customised").directory, project="docs", models=models)


@pytest.fixture
def client(instance: Instance) -> Client:
    """Clients of the local cloud that repeat a call whose connection a busy machine drops."""
    key = instance.root_key
    session = boto3.session.Session(key.access_key_id, key.secret_access_key, region_name=REGION)
    config = Config(retries={"total_max_attempts": 10}, max_pool_connections=16)

    def make(service: str) -> Any:
        endpoint = instance.client(service).meta.endpoint_url
        # types-boto3 has types for literal names only.
        return session.client(service, endpoint_url=endpoint, config=config)  # type: ignore[call-overload]

    return make


def marks(client: Client, planned: PlannedDeployment) -> dict[str, Result]:
    """Service Quotas left out, which the local cloud hasn't."""
    clients = {each: client(each) for each in preflight.SERVICES}
    here = Account(id=ACCOUNT, region=REGION)
    found = preflight.run_checks(preflight.checks(clients.__getitem__, planned, here), PATIENT)
    return {name: each for name, each in found if name != "Service Quotas"}


def test_the_local_cloud_is_ready_for_a_second_project(
    client: Client, planned: PlannedDeployment
) -> None:
    found = marks(client, planned)

    # Whether a gateway or a registry has one of the names, and what CloudFormation's registry says
    # of a type, nobody there can tell.
    unsure = {name: each.text for name, each in found.items() if each.mark != "ok"}
    assert unsure.keys() == {"names", "search by words"}, unsure
    told = found["names"].text
    assert told.startswith("no name is known to be taken, but DescribeRegistry failed"), told
    assert "; ListGateways failed" in told


def test_preflight_reports_each_problem_of_the_local_cloud(
    aws: Callable[[str], Any], planned: PlannedDeployment
) -> None:
    ssm, s3, bucket = aws("ssm"), aws("s3"), f"docs-kb-docs-{ACCOUNT}-{REGION}"
    once = Config(retries={"total_max_attempts": 1})
    session = boto3.session.Session("nobody", "nobody", region_name=REGION)
    nowhere = session.client("s3vectors", endpoint_url="http://127.0.0.1:9", config=once)
    version = ssm.get_parameter(Name=VERSION)["Parameter"]["Value"]
    ssm.put_parameter(Name=VERSION, Value="5", Type="String", Overwrite=True)
    s3.create_bucket(Bucket=bucket)
    try:
        found = marks(lambda each: nowhere if each == "s3vectors" else aws(each), planned)
    finally:
        s3.delete_bucket(Bucket=bucket)
        ssm.put_parameter(Name=VERSION, Value=version, Type="String", Overwrite=True)

    failed = {name: each for name, each in found.items() if each.is_failure}
    assert failed.keys() == {"region", "bootstrap", "names"}, found
    assert "us-east-1 has no S3 Vectors" in failed["region"].text
    assert failed["bootstrap"].lines[-1].endswith(f"bootstrap aws://{ACCOUNT}/{REGION}")
    assert failed["names"].text.endswith(f": S3::Bucket {bucket}")
