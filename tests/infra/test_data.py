"""What is kept: documents, catalogs, what is live; and that it outlives its stacks."""

import pytest

from tests.infra.assembly import Assembly


def test_the_bucket_is_private_encrypted_and_versioned(assembly: Assembly) -> None:
    bucket = assembly.one("data", "AWS::S3::Bucket").properties

    assert bucket["BucketName"] == "stackroom-kb-docs-{account}-{region}"
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    [rule] = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule == {
        "ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"},
        "BlockedEncryptionTypes": {"EncryptionType": ["SSE-C"]},
    }
    assert bucket["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}


def test_what_is_encrypted_with_anybodys_own_key_is_refused(assembly: Assembly) -> None:
    policy = assembly.one("data", "AWS::S3::BucketPolicy").properties["PolicyDocument"]

    refused = {
        each["Sid"]: (each["Effect"], each["Principal"], each["Action"], each["Condition"])
        for each in policy["Statement"]
        if str(each.get("Sid")).startswith("NoKeysOf")
    }

    algorithm = "s3:x-amz-server-side-encryption"
    customers = {"Null": {f"{algorithm}-customer-algorithm": "false"}}
    foreign = {"Null": {algorithm: "false"}, "StringNotEquals": {algorithm: "AES256"}}
    assert refused == {
        "NoKeysOfCustomers": ("Deny", {"AWS": "*"}, "s3:PutObject", customers),
        "NoKeysOfKms": ("Deny", {"AWS": "*"}, "s3:PutObject", foreign),
    }


def test_the_bucket_tells_eventbridge_without_a_function_of_its_own(assembly: Assembly) -> None:
    bucket = assembly.one("data", "AWS::S3::Bucket").properties

    assert bucket["NotificationConfiguration"] == {
        "EventBridgeConfiguration": {"EventBridgeEnabled": True}
    }
    assert assembly.all("data", "AWS::Lambda::Function", "Custom::S3BucketNotifications") == []


def test_old_versions_and_half_uploads_are_forgotten(assembly: Assembly) -> None:
    bucket = assembly.one("data", "AWS::S3::Bucket").properties

    [rule] = bucket["LifecycleConfiguration"]["Rules"]

    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 30}
    assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 7}
    assert "ExpirationInDays" not in rule


def test_a_browser_may_upload_from_the_consoles_pages(assembly: Assembly) -> None:
    bucket = assembly.one("data", "AWS::S3::Bucket").properties

    [rule] = bucket["CorsConfiguration"]["CorsRules"]

    assert {"PUT", "POST"} <= set(rule["AllowedMethods"])
    assert rule["AllowedOrigins"] == ["https://*.execute-api.{region}.amazonaws.com"]


@pytest.mark.parametrize(("name", "partition_key"), [("Catalogs", "catalog_id"), ("Control", "pk")])
def test_a_table_is_on_demand_encrypted_and_recoverable(
    assembly: Assembly, name: str, partition_key: str
) -> None:
    table = assembly.one("data", "AWS::DynamoDB::GlobalTable", name).properties

    [replica] = table["Replicas"]

    assert table["KeySchema"] == [
        {"AttributeName": partition_key, "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ]
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["SSESpecification"]["SSEEnabled"] is True
    assert replica["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


def test_users_catalogs_and_what_is_live_are_found_by_indexes(assembly: Assembly) -> None:
    catalogs = assembly.one("data", "AWS::DynamoDB::GlobalTable", "Catalogs").properties
    control = assembly.one("data", "AWS::DynamoDB::GlobalTable", "Control").properties

    [by_user] = catalogs["GlobalSecondaryIndexes"]
    [by_expiry] = control["GlobalSecondaryIndexes"]

    assert by_user["IndexName"] == "user_id-index"
    assert by_user["KeySchema"] == [{"AttributeName": "user_id", "KeyType": "HASH"}]
    assert by_user["Projection"] == {"ProjectionType": "KEYS_ONLY"}
    assert by_expiry["IndexName"] == "live-index"
    assert by_expiry["KeySchema"] == [
        {"AttributeName": "live", "KeyType": "HASH"},
        {"AttributeName": "until", "KeyType": "RANGE"},
    ]
    assert by_expiry["Projection"] == {"ProjectionType": "ALL"}
    assert control["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}


@pytest.mark.parametrize("stack", ["data", "knowledge-base"])
def test_what_is_kept_outlives_its_stack(assembly: Assembly, stack: str) -> None:
    kept = {
        each.type
        for each in assembly.all(stack)
        if each.raw.get("DeletionPolicy") == each.raw.get("UpdateReplacePolicy") == "Retain"
    }

    others = [each for each in assembly.all(stack) if each.type not in kept]

    # Of what is deployed with an index, a function of its own makes it, and keeps nothing.
    kinds = {each.type for each in others if not each.logical_id.startswith("SearchIndexFunction")}
    assert kinds <= {"AWS::S3::BucketPolicy", "AWS::IAM::ManagedPolicy"}


def test_the_uploader_policy_keeps_the_description_that_goes_with_its_name(
    assembly: Assembly,
) -> None:
    # CloudFormation replaces a policy whose description changes, and can't under a fixed name.
    policies = assembly.all("data", "AWS::IAM::ManagedPolicy")

    assert [each.properties["Description"] for each in policies] == [
        "Put documents under the prefix that the principal's user_id tag names."
    ]
