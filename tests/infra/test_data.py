"""Stored data: documents, catalogs and records, which outlive their stacks."""

import pytest

from stackroom.aws.dynamodb.document_items import FAILED, OPEN, OVER
from tests.infra.assembly import KEPT, Assembly
from tests.infra.synthesis import DOMAIN, deployment


def test_foreign_encryption_keys_and_unencrypted_transport_are_refused(
    assembly: Assembly,
) -> None:
    policy = assembly.one("data", "AWS::S3::BucketPolicy").properties["PolicyDocument"]

    denied = [each for each in policy["Statement"] if each["Effect"] == "Deny"]
    of_keys = {
        each["Sid"]: (each["Principal"], each["Action"], each["Condition"])
        for each in denied
        if str(each.get("Sid")).startswith("NoKeysOf")
    }

    algorithm = "s3:x-amz-server-side-encryption"
    customers = {"Null": {f"{algorithm}-customer-algorithm": "false"}}
    foreign = {"Null": {algorithm: "false"}, "StringNotEquals": {algorithm: "AES256"}}
    assert of_keys == {
        "NoKeysOfCustomers": ({"AWS": "*"}, "s3:PutObject", customers),
        "NoKeysOfKms": ({"AWS": "*"}, "s3:PutObject", foreign),
    }
    conditions = [each["Condition"] for each in denied]
    assert {"Bool": {"aws:SecureTransport": "false"}} in conditions
    assert {"NumericLessThan": {"s3:TlsVersion": 1.2}} in conditions


def test_browser_uploads_are_allowed_from_the_console_and_named_origins(
    assembly: Assembly, customised: Assembly
) -> None:
    [rule], [custom] = (
        each.one("data", "AWS::S3::Bucket").properties["CorsConfiguration"]["CorsRules"]
        for each in (assembly, customised)
    )

    assert {"PUT", "POST"} <= set(rule["AllowedMethods"])
    api = assembly.one("data", "AWS::ApiGatewayV2::Api").logical_id
    assert rule["AllowedOrigins"] == [f"https://{api}.execute-api.{{region}}.amazonaws.com"]
    assert custom["AllowedOrigins"] == [f"https://{DOMAIN}", "https://app.example.com"]


def test_local_indexes_of_documents_project_keys_only(assembly: Assembly) -> None:
    table = assembly.one("data", "AWS::DynamoDB::GlobalTable", "Catalogs").properties

    found = {each["IndexName"]: each for each in table["LocalSecondaryIndexes"]}

    assert found.keys() == {each.index for each in (OPEN, OVER, FAILED)}
    for listing in (OPEN, OVER, FAILED):
        index = found[listing.index]
        keys = [each["AttributeName"] for each in index["KeySchema"]]
        assert keys == ["catalog_id", listing.key]
        assert index["Projection"] == {"ProjectionType": "KEYS_ONLY"}


@pytest.mark.parametrize("stack", ["data", "knowledge-base"])
def test_resources_with_data_are_retained_when_their_stack_is_deleted(
    assembly: Assembly, stack: str
) -> None:
    kept = {each.type for each in assembly.all(stack) if each.raw.get("DeletionPolicy") == KEPT}

    others = [each for each in assembly.all(stack) if each.type not in kept]

    # The search index's function is deployed with the index, and retains nothing.
    kinds = {each.type for each in others if not each.logical_id.startswith("SearchIndexFunction")}
    # The console's API holds nothing, and keeps its address only while the stack exists.
    api = "AWS::ApiGatewayV2::Api"
    assert kinds <= {"AWS::S3::BucketPolicy", "AWS::IAM::ManagedPolicy", api}


def test_backups_cover_documents_and_records_and_outlive_the_stack(
    assembly: Assembly, customised: Assembly
) -> None:
    vault = customised.one("data", "AWS::Backup::BackupVault")
    plan = customised.one("data", "AWS::Backup::BackupPlan").properties["BackupPlan"]
    chosen = customised.one("data", "AWS::Backup::BackupSelection").properties["BackupSelection"]

    [rule] = plan["BackupPlanRule"]

    assert rule["Lifecycle"] == {"DeleteAfterDays": 35}
    assert vault.raw["DeletionPolicy"] == KEPT
    assert [arn.rpartition(":")[2] for arn in chosen["Resources"]] == [
        "docs-kb-docs-{account}-{region}",
        "table/docs-kb-catalog",
        "table/docs-kb-control",
    ]
    assert assembly.all("data", "AWS::Backup::BackupVault") == []


def test_second_factor_and_threat_protection_follow_the_context(
    assembly: Assembly, customised: Assembly
) -> None:
    made = (assembly, deployment("hierarchical"), customised)
    off, optional, required = (
        each.one("data", "AWS::Cognito::UserPool").properties for each in made
    )

    assert off["MfaConfiguration"] == "OFF"
    assert {"EnabledMfas", "UserPoolAddOns", "UserPoolTier"}.isdisjoint(off)
    for pool, factor, mode in ((optional, "OPTIONAL", "AUDIT"), (required, "ON", "ENFORCED")):
        assert (pool["MfaConfiguration"], pool["UserPoolTier"]) == (factor, "PLUS")
        assert pool["EnabledMfas"] == ["SOFTWARE_TOKEN_MFA"]
        assert pool["UserPoolAddOns"] == {"AdvancedSecurityMode": mode}
