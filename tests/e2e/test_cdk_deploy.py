"""
Stacks of the local cloud: the agents of docs/agents.md by the CDK's CLI, and anybody's with
resources of the simulator. Catalogs with data sources of type S3.
"""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, WaiterError

from stackroom_local.state import Instance
from tests.e2e.people import Person, eventually, logs_of_functions
from tests.local.running import ANY_SCORE, local_mode
from tests.local.templates import a_knowledge_base

ROOT = Path(__file__).parents[2]
SECTIONS = (ROOT / "docs" / "agents.md").read_text("utf-8").split("\n## ")
FIRST, INTERACTIVE = SECTIONS[1:3]
PILOT = "ann/harbour/pilot.txt"
MARK = "----- the next step -----"


@pytest.fixture(scope="module", autouse=True)
def cli() -> None:
    subprocess.run(["make", "cdk"], cwd=ROOT, check=True)


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """
    A local mode of its own: others' stacks would be counted in the one that all share. Its catalogs
    have data sources of type S3.
    """
    options = ("-c", "catalog_data_sources=s3", *ANY_SCORE)
    with local_mode(tmp_path_factory.mktemp("cdk") / "state", *options) as running:
        yield running


def blocks(language: str, section: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def test_the_page_shows_parts_of_the_apps_that_are_deployed() -> None:
    for section, name in ((FIRST, "first_agent"), (INTERACTIVE, "interactive_agent")):
        [shown] = blocks("python", section)
        assert shown in (ROOT / "examples" / name / "app.py").read_text("utf-8")


def printed(instance: Instance, tmp_path: Path, *sections: str) -> list[str]:
    """Return what each bash block of the sections prints, run as they stand in one shell."""
    for name in (".venv", "cdk.json", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)  # what is written there is nobody else's
    steps = [step for section in sections for step in blocks("bash", section)]
    script = f"\necho '{MARK}'\n".join(["set -euo pipefail\n", *steps])

    run = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "STACKROOM_STATE_DIR": str(instance.state_dir)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )

    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    return run.stdout.split(MARK)[1:]


def test_commands_of_the_page_lead_to_answers_and_leave_nothing(
    instance: Instance, tmp_path: Path
) -> None:
    before = there(instance)

    _, _, ingested, asked, _, deployed, streamed, _ = printed(
        instance, tmp_path, FIRST, INTERACTIVE
    )

    [answer] = blocks("text", FIRST)
    assert '"COMPLETE"' in ingested
    assert re.sub(r"s3://firstagent-documents[^/]*", "s3://...", asked).endswith(
        " ".join(answer.split())
    )
    [shown] = blocks("text", INTERACTIVE)
    events = [
        json.loads(line.removeprefix("data: ")) for line in streamed.split("\n") if "data:" in line
    ]
    assert '"COMPLETE"' in deployed
    assert streamed.strip().startswith(shown.strip())
    assert "Probation lasts **four months**." in "".join(each.get("text", "") for each in events)
    assert events[-1] == {"done": True}
    assert there(instance) == before


def there(instance: Instance) -> list[set[str]]:
    """Stacks, functions, buckets and knowledge bases."""
    aws = instance.client
    bases = aws("bedrock-agent").list_knowledge_bases()["knowledgeBaseSummaries"]
    return [
        {each["StackName"] for each in aws("cloudformation").describe_stacks()["Stacks"]},
        {each["FunctionName"] for each in aws("lambda").list_functions()["Functions"]},
        {each["Name"] for each in aws("s3").list_buckets()["Buckets"]},
        {each["knowledgeBaseId"] for each in bases},
    ]


@pytest.fixture(scope="module")
def cloudformation(instance: Instance) -> Any:
    return instance.client("cloudformation")


@pytest.fixture(scope="module")
def bedrock_agent(instance: Instance) -> Any:
    return instance.client("bedrock-agent")


def test_mutable_properties_are_updated_in_place(cloudformation: Any, bedrock_agent: Any) -> None:
    template = a_knowledge_base("changed")
    template["Resources"]["Base"]["DeletionPolicy"] = "Retain"

    with stack(cloudformation, "changed", template) as made:
        template["Resources"]["Base"]["Properties"] |= {"Description": "Of herons."}
        template["Resources"]["Source"]["Properties"] |= {"DataDeletionPolicy": "RETAIN"}
        update(cloudformation, "changed", template)
        tags = bedrock_agent.list_tags_for_resource(resourceArn=made["Arn"])["tags"]
        after = outputs(cloudformation, "changed")
        base = bedrock_agent.get_knowledge_base(knowledgeBaseId=made["Id"])["knowledgeBase"]
        source = bedrock_agent.get_data_source(
            knowledgeBaseId=made["Id"], dataSourceId=made["SourceId"]
        )["dataSource"]

    assert after == made
    assert base["description"] == "Of herons."
    assert source["dataDeletionPolicy"] == "RETAIN"
    assert tags == {"team": "birds"}
    # What a template retains stays.
    bedrock_agent.delete_knowledge_base(knowledgeBaseId=made["Id"])


def test_resource_with_an_immutable_change_is_replaced_and_deleted(
    cloudformation: Any, bedrock_agent: Any
) -> None:
    template = a_knowledge_base("replaced")

    with stack(cloudformation, "replaced", template) as made:
        template["Resources"]["Source"]["Properties"] |= {
            "Name": "whole-documents",
            "VectorIngestionConfiguration": {"ChunkingConfiguration": {"ChunkingStrategy": "NONE"}},
        }
        update(cloudformation, "replaced", template)
        after = outputs(cloudformation, "replaced")
        listed = bedrock_agent.list_data_sources(knowledgeBaseId=made["Id"])["dataSourceSummaries"]

    assert after["Id"] == made["Id"]
    assert after["SourceId"] != made["SourceId"]
    assert [each["dataSourceId"] for each in listed] == [after["SourceId"]]


def test_refusal_by_bedrock_rolls_the_stack_back_with_the_reason(
    instance: Instance, cloudformation: Any
) -> None:
    s3vectors = instance.client("s3vectors")
    template = a_knowledge_base("refused")
    template["Resources"]["Index"]["Properties"]["Dimension"] = 256
    misspelt = a_knowledge_base("misspelt")
    misspelt["Resources"]["Base"]["Properties"]["Descriptoin"] = "Of herons."

    for name, wrong in (("refused", template), ("misspelt", misspelt)):
        with pytest.raises(WaiterError), stack(cloudformation, name, wrong):
            pass

    said = reasons(cloudformation, "refused", "Base")
    assert "descriptoin" in reasons(cloudformation, "misspelt", "Base")
    names = [each["vectorBucketName"] for each in s3vectors.list_vector_buckets()["vectorBuckets"]]
    assert "HandlerErrorCode: InvalidRequest" in said
    assert "ValidationException" in said
    assert not [name for name in names if name.startswith("refused-")]
    gateway = {"Resources": {"Gateway": {"Type": "AWS::BedrockAgentCore::Gateway"}}}
    with pytest.raises(ClientError, match="AWS::BedrockAgentCore::Gateway"):
        cloudformation.create_stack(StackName="theirs", TemplateBody=json.dumps(gateway))


@contextmanager
def stack(cloudformation: Any, name: str, template: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Its outputs; it is deleted afterwards."""
    cloudformation.create_stack(StackName=name, TemplateBody=json.dumps(template))
    wait(cloudformation, "stack_create_complete", name)
    yield outputs(cloudformation, name)
    delete(cloudformation, name)


def update(cloudformation: Any, name: str, template: dict[str, Any]) -> None:
    cloudformation.update_stack(StackName=name, TemplateBody=json.dumps(template))
    wait(cloudformation, "stack_update_complete", name)


def delete(cloudformation: Any, name: str) -> None:
    cloudformation.delete_stack(StackName=name)
    wait(cloudformation, "stack_delete_complete", name)


def wait(cloudformation: Any, waiter: str, name: str) -> None:
    patience = {"Delay": 0.05, "MaxAttempts": 1200}
    cloudformation.get_waiter(waiter).wait(StackName=name, WaiterConfig=patience)


def outputs(cloudformation: Any, name: str) -> dict[str, str]:
    [found] = cloudformation.describe_stacks(StackName=name)["Stacks"]
    return {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", [])}


def reasons(cloudformation: Any, name: str, logical_id: str) -> str:
    """Return the reasons in the stack's events for the failures of one resource."""
    listed = cloudformation.list_stacks()["StackSummaries"]
    [stack_id, *_] = [each["StackId"] for each in listed if each["StackName"] == name]
    events = cloudformation.describe_stack_events(StackName=stack_id)["StackEvents"]
    return " ".join(
        each.get("ResourceStatusReason", "")
        for each in events
        if each["LogicalResourceId"] == logical_id and each["ResourceStatus"].endswith("_FAILED")
    )


def test_a_sidecar_that_an_operator_forged_shows_nobody_anothers_document(
    instance: Instance,
) -> None:
    ann, kim, aws = Person(instance, "ann"), Person(instance, "kim"), instance.client
    ann.settle([ann.put("harbour/pilot.txt", "The pilot of the quince harbour is Ottokar.")])
    bucket, sidecar = instance.bucket, f"{PILOT}.metadata.json"
    ours = json.loads(aws("s3").get_object(Bucket=bucket, Key=sidecar)["Body"].read())
    forged = {"metadataAttributes": {**ours["metadataAttributes"], "user_id": "kim"}}

    aws("s3").put_object(Bucket=bucket, Key=sidecar, Body=json.dumps(forged).encode())
    harbour = ann.catalog("harbour")
    aws("bedrock-agent").start_ingestion_job(
        knowledgeBaseId=harbour.knowledge_base_id, dataSourceId=harbour.data_source_id
    )
    answer = eventually(lambda: _withheld(kim), "kim's search meets the forged passage")

    assert "Ottokar" not in json.dumps(answer)
    assert PILOT in logs_of_functions(instance)["/aws/lambda/stackroom-retrieve"]


def _withheld(person: Person) -> dict[str, Any] | None:
    answer = person.call(query="the pilot of the quince harbour", top_k=20)
    return answer if answer["metadata"].get("withheld_results") else None
