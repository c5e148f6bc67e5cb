"""Anybody's stacks in the local mode's CloudFormation, with what the simulator makes in them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import WaiterError

from stackroom_local.clients import client
from stackroom_local.state import Instance
from tests.local.running import local_mode

DIMENSION = 1024
EMBEDDING = "arn:aws:bedrock:us-east-1::foundation-model/amazon.titan-embed-text-v2:0"
ROLE = "arn:aws:iam::000000000000:role/knowledge-base"


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """A local mode of its own, since a knowledge base too many would be counted elsewhere."""
    with local_mode(tmp_path_factory.mktemp("stacks") / "state") as running:
        yield running


@pytest.fixture(scope="module")
def cloudformation(instance: Instance) -> Any:
    return client("cloudformation", instance.aws_endpoint)


@pytest.fixture(scope="module")
def bedrock_agent(instance: Instance) -> Any:
    return client("bedrock-agent", instance.simulator_endpoint)


@pytest.fixture(scope="module")
def bedrock(instance: Instance) -> Any:
    return client("bedrock", instance.simulator_endpoint)


@pytest.fixture(scope="module")
def s3vectors(instance: Instance) -> Any:
    return client("s3vectors", instance.simulator_endpoint)


def test_a_stack_makes_a_knowledge_base_that_can_be_used_and_takes_all_of_it_away(
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
    assert index["dimension"] == DIMENSION
    with pytest.raises(bedrock_agent.exceptions.ResourceNotFoundException):
        bedrock_agent.get_knowledge_base(knowledgeBaseId=made["Id"])
    with pytest.raises(s3vectors.exceptions.NotFoundException):
        s3vectors.get_index(indexArn=index_arn)
    with pytest.raises(s3vectors.exceptions.NotFoundException):
        s3vectors.get_vector_bucket(vectorBucketName=index["vectorBucketName"])


def test_a_stack_makes_and_changes_a_managed_knowledge_base_and_takes_it_away(
    cloudformation: Any, bedrock_agent: Any
) -> None:
    template = a_managed_knowledge_base("managed")

    with stack(cloudformation, "managed", template) as made:
        base = bedrock_agent.get_knowledge_base(knowledgeBaseId=made["Id"])["knowledgeBase"]
        template["Resources"]["Source"]["Properties"] |= {"Description": "Of herons."}
        update(cloudformation, "managed", template)
        source = bedrock_agent.get_data_source(
            knowledgeBaseId=made["Id"], dataSourceId=made["SourceId"]
        )["dataSource"]

    assert base["status"] == "ACTIVE"
    assert "storageConfiguration" not in base
    assert (source["status"], source["description"]) == ("AVAILABLE", "Of herons.")
    connector = source["dataSourceConfiguration"]["managedKnowledgeBaseConnectorConfiguration"]
    assert json.loads(connector["connectorParameters"])["filterConfiguration"] == {
        "inclusionPrefixes": ["birds/"],
        "maxFileSizeInMegaBytes": "500",
    }
    with pytest.raises(bedrock_agent.exceptions.ResourceNotFoundException):
        bedrock_agent.get_knowledge_base(knowledgeBaseId=made["Id"])


def test_what_can_be_changed_is_changed_in_place(cloudformation: Any, bedrock_agent: Any) -> None:
    template = a_knowledge_base("changed")
    template["Resources"]["Base"]["DeletionPolicy"] = "Retain"

    with stack(cloudformation, "changed", template) as made:
        made_with = bedrock_agent.list_tags_for_resource(resourceArn=made["Arn"])["tags"]
        template["Resources"]["Base"]["Properties"] |= {
            "Description": "Of herons.",
            "Tags": {"Stage": "test"},
        }
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
    assert (made_with, tags) == ({"team": "birds"}, {"Stage": "test"})
    # What a template retains stays.
    bedrock_agent.delete_knowledge_base(knowledgeBaseId=made["Id"])


def test_what_can_not_be_changed_is_replaced_and_the_old_one_deleted(
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


def test_a_replacement_under_the_old_name_is_refused_and_the_old_one_stays(
    cloudformation: Any, bedrock_agent: Any
) -> None:
    template = a_knowledge_base("kept")

    with stack(cloudformation, "kept", template) as made:
        template["Resources"]["Source"]["Properties"] |= {
            "VectorIngestionConfiguration": {"ChunkingConfiguration": {"ChunkingStrategy": "NONE"}}
        }
        with pytest.raises(WaiterError):
            update(cloudformation, "kept", template)
        said = reasons(cloudformation, "kept", "Source")
        source = bedrock_agent.get_data_source(
            knowledgeBaseId=made["Id"], dataSourceId=made["SourceId"]
        )["dataSource"]

    assert "already exists" in said
    assert "HandlerErrorCode: AlreadyExists" in said
    assert source["status"] == "AVAILABLE"


def test_a_refusal_of_bedrock_rolls_the_stack_back_and_says_why(
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


def test_a_vector_bucket_with_another_index_in_it_is_not_deleted_and_the_stack_says_so(
    cloudformation: Any, s3vectors: Any
) -> None:
    template = {
        "Resources": {
            "Vectors": {
                "Type": "AWS::S3Vectors::VectorBucket",
                "Properties": {"VectorBucketName": "somebody-uses-it"},
            }
        }
    }
    of_it = {"vectorBucketName": "somebody-uses-it", "indexName": "by-hand"}

    with pytest.raises(WaiterError), stack(cloudformation, "in-use", template):
        s3vectors.create_index(**of_it, dataType="float32", dimension=8, distanceMetric="cosine")
    said = reasons(cloudformation, "in-use", "Vectors")
    s3vectors.delete_index(**of_it)
    delete(cloudformation, "in-use")

    assert "HandlerErrorCode: ResourceConflict" in said
    with pytest.raises(s3vectors.exceptions.NotFoundException):
        s3vectors.get_vector_bucket(vectorBucketName="somebody-uses-it")


def test_a_bucket_with_a_document_in_it_is_not_deleted_and_the_stack_says_so(
    instance: Instance, cloudformation: Any
) -> None:
    s3 = client("s3", instance.aws_endpoint)
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


def test_a_guardrail_follows_its_template_and_a_version_stays_what_it_was(
    cloudformation: Any, bedrock: Any
) -> None:
    template = a_guardrail("heron")

    with stack(cloudformation, "guarded", template) as made:
        template["Resources"]["Guard"] = a_guardrail("egret")["Resources"]["Guard"]
        update(cloudformation, "guarded", template)
        of_it = {"guardrailIdentifier": made["Id"]}
        draft = bedrock.get_guardrail(**of_it)
        first = bedrock.get_guardrail(**of_it, guardrailVersion=made["Version"])
        after = outputs(cloudformation, "guarded")

    assert after == made
    assert made["Ref"] == f"{made['Id']}|1"
    assert [each["wordPolicy"]["words"][0]["text"] for each in (draft, first)] == ["egret", "heron"]
    with pytest.raises(bedrock.exceptions.ResourceNotFoundException):
        bedrock.get_guardrail(**of_it)


def a_knowledge_base(name: str) -> dict[str, Any]:
    return {
        "Resources": {
            "Vectors": {"Type": "AWS::S3Vectors::VectorBucket"},
            "Access": {
                "Type": "AWS::S3Vectors::VectorBucketPolicy",
                "Properties": {"VectorBucketArn": {"Ref": "Vectors"}, "Policy": {}},
            },
            "Index": {
                "Type": "AWS::S3Vectors::Index",
                "Properties": {
                    "VectorBucketArn": {"Fn::GetAtt": ["Vectors", "VectorBucketArn"]},
                    "DataType": "float32",
                    "Dimension": DIMENSION,
                    "DistanceMetric": "cosine",
                },
            },
            "Base": {
                "Type": "AWS::Bedrock::KnowledgeBase",
                "Properties": {
                    "Name": name,
                    "RoleArn": ROLE,
                    "KnowledgeBaseConfiguration": {
                        "Type": "VECTOR",
                        "VectorKnowledgeBaseConfiguration": {"EmbeddingModelArn": EMBEDDING},
                    },
                    "StorageConfiguration": {
                        "Type": "S3_VECTORS",
                        "S3VectorsConfiguration": {"IndexArn": {"Ref": "Index"}},
                    },
                    "Tags": {"team": "birds"},
                },
            },
            "Source": {
                "Type": "AWS::Bedrock::DataSource",
                "Properties": {
                    "Name": "documents",
                    "KnowledgeBaseId": {"Ref": "Base"},
                    "DataSourceConfiguration": {
                        "Type": "S3",
                        "S3Configuration": {"BucketArn": "arn:aws:s3:::documents"},
                    },
                },
            },
        },
        "Outputs": {
            "Id": {"Value": {"Ref": "Base"}},
            "Arn": {"Value": {"Fn::GetAtt": ["Base", "KnowledgeBaseArn"]}},
            "Source": {"Value": {"Ref": "Source"}},
            "SourceId": {"Value": {"Fn::GetAtt": ["Source", "DataSourceId"]}},
        },
    }


def a_managed_knowledge_base(name: str) -> dict[str, Any]:
    """As BedrockKnowledgeBase of stackroom_constructs makes it."""
    template = a_knowledge_base(name)
    resources = template["Resources"]
    for store in ("Vectors", "Access", "Index"):
        del resources[store]
    base, source = resources["Base"]["Properties"], resources["Source"]["Properties"]
    del base["StorageConfiguration"]
    base["KnowledgeBaseConfiguration"] = {
        "Type": "MANAGED",
        "ManagedKnowledgeBaseConfiguration": {"EmbeddingModelType": "MANAGED"},
    }
    source["DataSourceConfiguration"] = {
        "Type": "MANAGED_KNOWLEDGE_BASE_CONNECTOR",
        "ManagedKnowledgeBaseConnectorConfiguration": {
            "ConnectorParameters": {
                "type": "S3",
                "version": "1",
                "connectionConfiguration": {"bucketName": "documents"},
                "filterConfiguration": {"inclusionPrefixes": ["birds/"]},
            },
            "DeletionProtectionConfiguration": {"DeletionProtectionStatus": "DISABLED"},
        },
    }
    return template


def a_guardrail(word: str) -> dict[str, Any]:
    return {
        "Resources": {
            "Guard": {
                "Type": "AWS::Bedrock::Guardrail",
                "Properties": {
                    "Name": "birds",
                    "BlockedInputMessaging": "Not here.",
                    "BlockedOutputsMessaging": "Not so.",
                    "WordPolicyConfig": {"WordsConfig": [{"Text": word}]},
                },
            },
            "Version": {
                "Type": "AWS::Bedrock::GuardrailVersion",
                "Properties": {"GuardrailIdentifier": {"Fn::GetAtt": ["Guard", "GuardrailId"]}},
            },
        },
        "Outputs": {
            "Id": {"Value": {"Fn::GetAtt": ["Guard", "GuardrailId"]}},
            "Ref": {"Value": {"Ref": "Version"}},
            "Version": {"Value": {"Fn::GetAtt": ["Version", "Version"]}},
        },
    }


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
    """What the stack's events say of the failures of one resource."""
    listed = cloudformation.list_stacks()["StackSummaries"]
    [stack_id, *_] = [each["StackId"] for each in listed if each["StackName"] == name]
    events = cloudformation.describe_stack_events(StackName=stack_id)["StackEvents"]
    return " ".join(
        each.get("ResourceStatusReason", "")
        for each in events
        if each["LogicalResourceId"] == logical_id and each["ResourceStatus"].endswith("_FAILED")
    )
