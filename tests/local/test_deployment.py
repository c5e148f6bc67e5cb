"""
Stacks that a start of the local mode deploys, and anybody's stacks with resources of the simulator.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, WaiterError

from stackroom_local.deployment.assembly import Template
from stackroom_local.deployment.cloudformation import CloudFormation
from stackroom_local.local_errors import DeploymentFailed
from stackroom_local.state import ACCOUNT, REGION, Instance
from tests.local.running import local_mode
from tests.local.templates import a_knowledge_base


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """A local mode of its own, since a knowledge base too many would be counted elsewhere."""
    with local_mode(tmp_path_factory.mktemp("deployment") / "state") as running:
        yield running


def a_policy(description: str, *actions: str) -> Template:
    allowed = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
    properties = {
        "ManagedPolicyName": "a-policy-of-a-fixed-name",
        "Description": description,
        "PolicyDocument": {"Version": "2012-10-17", "Statement": [allowed]},
    }
    return {"Resources": {"Policy": {"Type": "AWS::IAM::ManagedPolicy", "Properties": properties}}}


def test_a_stack_takes_another_update_after_one_that_failed(instance: Instance) -> None:
    cloudformation = CloudFormation.of(instance.client)
    cloudformation.deploy("rolled-back", a_policy("as it was", "s3:GetObject"))

    with pytest.raises(DeploymentFailed, match="already exists"):
        cloudformation.deploy("rolled-back", a_policy("another", "s3:GetObject"))
    cloudformation.deploy("rolled-back", a_policy("as it was", "s3:GetObject"))
    cloudformation.deploy("rolled-back", a_policy("as it was", "s3:GetObject", "s3:PutObject"))

    client_ = cloudformation.client
    [stack] = client_.describe_stacks(StackName="rolled-back")["Stacks"]
    client_.delete_stack(StackName="rolled-back")
    assert stack["StackStatus"] == "UPDATE_COMPLETE"


def test_a_resource_policy_is_replaced_and_removed_with_its_stack(instance: Instance) -> None:
    aws_lambda = instance.client("lambda")
    cloudformation = CloudFormation.of(instance.client)
    function = "stackroom-reconciler"
    denied, harmless = a_resource_policy(function, "Deny"), a_resource_policy(function, "Allow")

    cloudformation.deploy("closed", denied)
    with pytest.raises(ClientError, match="root is not authorized to perform"):
        aws_lambda.invoke(FunctionName=function, InvocationType="DryRun")
    cloudformation.deploy("closed", harmless)
    opened = aws_lambda.invoke(FunctionName=function, InvocationType="DryRun")
    cloudformation.deploy("closed", denied)
    cloudformation.client.delete_stack(StackName="closed")
    left = json.loads(aws_lambda.get_policy(FunctionName=function)["Policy"])

    assert opened["StatusCode"] == 204
    assert left["Statement"] == []


def a_resource_policy(function: str, effect: str) -> Template:
    arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{function}"
    statement = {
        "Effect": effect,
        "Principal": {"AWS": "*"},
        "Action": "lambda:InvokeFunction",
        "Resource": arn,
    }
    document = {"Version": "2012-10-17", "Statement": [statement]}
    properties = {"ResourceArn": arn, "PolicyDocument": document}
    return {
        "Resources": {"Closed": {"Type": "AWS::Lambda::ResourcePolicy", "Properties": properties}}
    }


@pytest.fixture(scope="module")
def cloudformation(instance: Instance) -> Any:
    return instance.client("cloudformation")


@pytest.fixture(scope="module")
def bedrock_agent(instance: Instance) -> Any:
    return instance.client("bedrock-agent")


@pytest.fixture(scope="module")
def s3vectors(instance: Instance) -> Any:
    return instance.client("s3vectors")


def test_stack_creates_a_usable_knowledge_base_and_deletes_all_of_it(
    cloudformation: Any, bedrock_agent: Any, s3vectors: Any
) -> None:
    with stack(cloudformation, "whole", a_knowledge_base("whole")) as made:
        base = bedrock_agent.get_knowledge_base(knowledgeBaseId=made["Id"])["knowledgeBase"]
        index_arn = base["storageConfiguration"]["s3VectorsConfiguration"]["indexArn"]
        _, source_id = made["Source"].split("|")
        source = bedrock_agent.get_data_source(knowledgeBaseId=made["Id"], dataSourceId=source_id)
        index = s3vectors.get_index(indexArn=index_arn)["index"]

    assert (base["name"], base["status"]) == ("whole", "ACTIVE")
    assert base["knowledgeBaseArn"] == made["Arn"]
    assert made["SourceId"] == source_id
    assert source["dataSource"]["name"] == "documents"
    assert index["vectorBucketName"].startswith("whole-vectors-")
    assert index["indexName"].startswith("whole-index-")
    assert index["dimension"] == 1024
    with pytest.raises(bedrock_agent.exceptions.ResourceNotFoundException):
        bedrock_agent.get_knowledge_base(knowledgeBaseId=made["Id"])
    with pytest.raises(s3vectors.exceptions.NotFoundException):
        s3vectors.get_index(indexArn=index_arn)
    with pytest.raises(s3vectors.exceptions.NotFoundException):
        s3vectors.get_vector_bucket(vectorBucketName=index["vectorBucketName"])


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
    cloudformation: Any, s3vectors: Any
) -> None:
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


def test_bucket_with_a_document_is_not_deleted_and_reason_is_given(
    instance: Instance, cloudformation: Any
) -> None:
    s3 = instance.client("s3")
    template = {
        "Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}},
        "Outputs": {"Name": {"Value": {"Ref": "Bucket"}}},
    }
    with stack(cloudformation, "filled", template) as made:
        document = {"Bucket": made["Name"], "Key": "rules.txt"}
        s3.put_object(**document, Body=b"Rules.")

        with pytest.raises(WaiterError):
            delete(cloudformation, "filled")

        assert "not empty" in reasons(cloudformation, "filled", "Bucket")
        assert s3.get_object(**document)["Body"].read() == b"Rules."
        assert kept_buckets(instance, made["Name"])
        s3.delete_object(**document)
    assert not kept_buckets(instance, made["Name"]), "the next start would have it again"


def kept_buckets(instance: Instance, name: str) -> list[Path]:
    return list((instance.state_dir / "s3").glob(f"*/{name}"))


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
