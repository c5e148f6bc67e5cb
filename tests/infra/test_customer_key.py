"""The customer managed key: what it encrypts, who may use it, and its retention."""

import json
from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Any

import pytest

from tests.infra.assembly import KEPT, Assembly, Resource, as_list
from tests.infra.synthesis import deployment

# From the API reference and guide of each service, as infra/customer_key.py names them.
READ = {"kms:Decrypt", "kms:DescribeKey"}
WRITE = READ | {"kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:ReEncryptTo"}


@pytest.fixture(scope="module")
def encrypted() -> Assembly:
    return deployment("encrypted")


def every(assembly: Assembly, *types: str) -> Iterator[Resource]:
    for stack in sorted(assembly.stacks):
        yield from assembly.all(stack, *types)


def test_one_rotated_key_encrypts_all_but_documents(encrypted: Assembly) -> None:
    key, alias = (encrypted.one("data", f"AWS::KMS::{each}") for each in ("Key", "Alias"))
    documents = encrypted.one("data", "AWS::S3::Bucket").properties

    found = {
        resource.type: json.dumps(resource.properties)
        for resource in every(
            encrypted,
            "AWS::DynamoDB::GlobalTable",
            "AWS::Logs::LogGroup",
            "AWS::SQS::Queue",
            "AWS::S3Vectors::VectorBucket",
        )
        if key.logical_id not in json.dumps(resource.properties)
        or "SqsManagedSseEnabled" in resource.properties
    }

    assert found == {}
    assert key.properties["EnableKeyRotation"] is True
    assert {each.raw["DeletionPolicy"] for each in (key, alias)} == {KEPT}
    assert alias.properties["AliasName"] == "alias/stackroom"
    [rule] = documents["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}


def test_key_policy_lets_services_use_the_key_for_this_project_only(encrypted: Assembly) -> None:
    policy = encrypted.one("data", "AWS::KMS::Key").properties["KeyPolicy"]["Statement"]
    by_sid = {each.get("Sid"): each for each in policy}

    assert {each["Principal"].get("Service") for each in policy} == {
        None,  # the account itself, whose policies say more
        "events.amazonaws.com",
        "indexing.s3vectors.amazonaws.com",
        "logs.{region}.amazonaws.com",
    }
    vectors = by_sid["IndexesOfVectors"]
    assert vectors["Action"] == "kms:Decrypt"
    source = {"aws:SourceArn": "arn:aws:s3vectors:{region}:{account}:bucket/*"}
    assert vectors["Condition"]["ArnLike"] == source
    assert vectors["Condition"]["StringEquals"] == {"aws:SourceAccount": "{account}"}
    assert by_sid["Events"]["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]
    assert by_sid["Events"]["Condition"] == {"StringEquals": {"aws:SourceAccount": "{account}"}}
    patterns = by_sid["Logs"]["Condition"]["ArnLike"]["kms:EncryptionContext:aws:logs:arn"]
    for group in every(encrypted, "AWS::Logs::LogGroup"):
        arn = f"arn:aws:logs:{{region}}:{{account}}:log-group:{group.properties['LogGroupName']}"
        assert any(fnmatch(arn, each) for each in patterns), arn


def rights(assembly: Assembly) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield each role's statements with the name of its policy."""
    for policy in every(assembly, "AWS::IAM::Policy"):
        yield policy.logical_id, policy.properties["PolicyDocument"]["Statement"]
    for role in every(assembly, "AWS::IAM::Role"):
        for inline in role.properties.get("Policies", ()):
            yield role.logical_id, inline["PolicyDocument"]["Statement"]


def needed(action: str) -> tuple[str, set[str]]:
    service, _, name = action.partition(":")
    match service:
        case "dynamodb" if name in ("GetItem", "BatchGetItem", "Query", "Scan", "GetRecords"):
            return service, READ
        case "dynamodb" if name.endswith("Item"):
            return service, WRITE
        case "sqs" if name in ("SendMessage", "ReceiveMessage"):
            sends = name == "SendMessage"
            return service, {"kms:Decrypt"} | ({"kms:GenerateDataKey"} if sends else set())
        case "s3vectors" if name.endswith("Vectors"):
            return service, {"kms:Decrypt"}
    return service, set()


def test_roles_may_use_the_key_for_the_resources_they_may_use(encrypted: Assembly) -> None:
    with_key = 0
    for role, statements in rights(encrypted):
        required: dict[str, set[str]] = {}
        allowed: dict[str, set[str]] = {}
        for statement in statements:
            actions = set(as_list(statement["Action"]))
            if any(each.startswith("kms:") for each in actions):
                via = statement["Condition"]["StringEquals"]["kms:ViaService"]
                allowed.setdefault(via.partition(".")[0], set()).update(actions)
                assert statement["Resource"] != "*"
                continue
            for service, key_actions in map(needed, actions):
                if key_actions:
                    required.setdefault(service, set()).update(key_actions)
        assert allowed == required, role
        with_key += bool(required)

    assert with_key > 10
