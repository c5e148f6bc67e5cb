"""Stackroom's own stacks, put into the local cloud by the CDK's CLI as they are put into AWS."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from stackroom_local.clients import client
from stackroom_local.state import ACCOUNT, REGION, Instance
from tests.e2e.island import cdk
from tests.e2e.people import eventually
from tests.local.running import local_mode

ROOT = Path(__file__).parents[2]
APP = f"{sys.executable} infra/app.py"
CONTEXT = ("-c", "project=second", "-c", "bundling=none")


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """A local mode of its own, where a second Stackroom comes beside the one of `make up`."""
    with local_mode(tmp_path_factory.mktemp("second") / "state") as running:
        yield running


@pytest.fixture(scope="module")
def assembly(instance: Instance, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all stacks, once the pipeline and what it stands on are deployed."""
    folder = tmp_path_factory.mktemp("second-cdk")
    output = f"--output={folder}"
    cdk(instance, "bootstrap", f"aws://{ACCOUNT}/{REGION}", *CONTEXT, output, cwd=ROOT, app=APP)
    cdk(
        instance,
        "deploy",
        "second-pipeline",
        "--require-approval=never",
        *CONTEXT,
        output,
        cwd=ROOT,
        app=APP,
    )
    return folder


def test_bootstrapped_and_deployed_the_pipeline_indexes_what_is_dropped(
    instance: Instance, assembly: Path
) -> None:
    outputs = deployed(instance)
    assert len(list(assembly.glob("second-*.template.json"))) == 6
    assert outputs.keys() == {"second-data", "second-knowledge-base", "second-pipeline"}
    key, data = "zoe/travel/ferry.txt", outputs["second-data"]

    client("s3", instance.aws_endpoint).put_object(
        Bucket=data["BucketName"], Key=key, Body=b"The ferry to Harrow leaves at 21:15."
    )

    def status() -> str | None:
        items = client("dynamodb", instance.aws_endpoint).scan(TableName=data["CatalogTableName"])
        found = [each for each in items["Items"] if each.get("s3_key") == {"S": key}]
        return found[0]["status"]["S"] if found else None

    eventually(lambda: status() == "indexed", f"{key} is indexed")


def test_a_gateway_of_ones_own_is_refused_by_name_before_anything_is_made(
    instance: Instance, assembly: Path
) -> None:
    cloudformation = client("cloudformation", instance.aws_endpoint)

    with pytest.raises(ClientError, match="AWS::BedrockAgentCore::Gateway"):
        cloudformation.create_stack(
            StackName="second-gateway",
            TemplateBody=(assembly / "second-gateway.template.json").read_text("utf-8"),
            Capabilities=["CAPABILITY_NAMED_IAM"],
        )
    assert "second-gateway" not in deployed(instance)


def deployed(instance: Instance) -> dict[str, dict[str, str]]:
    """The outputs of the second Stackroom's stacks, by stack."""
    found = client("cloudformation", instance.aws_endpoint).describe_stacks()["Stacks"]
    return {
        each["StackName"]: {out["OutputKey"]: out["OutputValue"] for out in each.get("Outputs", [])}
        for each in found
        if each["StackName"].startswith("second-") and each["StackStatus"] == "CREATE_COMPLETE"
    }
