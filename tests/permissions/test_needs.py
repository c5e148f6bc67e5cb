"""Which rights a call needs."""

from typing import Any

import pytest

from tests.permissions.needs import Names, Need, NotInIam, _check, needs

NAMES = Names(
    account="000000000000",
    region="us-east-1",
    others={"KB1": "KnowledgeBase1", "bucket/b/index/i": "index/Index1"},
)
BUCKET = "documents-000000000000-us-east-1"
OBJECT = {"Bucket": BUCKET, "Key": "alice/a.txt"}
READABLE = "arn:aws:s3:::documents-{account}-{region}"
TABLE = "arn:aws:dynamodb:{region}:{account}:table/"
KNOWLEDGE_BASE = "arn:aws:bedrock:{region}:{account}:knowledge-base/KnowledgeBase1"
PASSAGES = "/index/passages"
INDEX = f"arn:aws:s3vectors:us-east-1:000000000000:bucket/vectors{PASSAGES}"
READABLE_INDEX = f"arn:aws:s3vectors:{{region}}:{{account}}:bucket/vectors{PASSAGES}"
ALARM = "arn:aws:cloudwatch:{region}:{account}:alarm"
MODEL = "arn:aws:bedrock:us-east-1::foundation-model/some-model"
PROFILE = "arn:aws:bedrock:us-east-1:000000000000:inference-profile"


def a_question(model: str) -> dict[str, Any]:
    asked = {"knowledgeBaseId": "KB1", "modelArn": model}
    return {"retrieveAndGenerateConfiguration": {"knowledgeBaseConfiguration": asked}}


def made(operation: str, given: dict[str, Any], error: str | None = None) -> list[Need]:
    service, _, name = operation.partition(".")
    line = {
        "function": "stackroom-retrieve",
        "service": service,
        "operation": name,
        "parameters": given,
        "wanted_by": "stackroom.retrieval.search",
        **({"error": error} if error else {}),
    }
    return needs(line, NAMES)


def needed(operation: str, given: dict[str, Any], error: str | None = None) -> list[str]:
    return [f"{each.action} {each.resource}" for each in made(operation, given, error)]


@pytest.mark.parametrize(("operation", "where"), [("GetItem", "Key"), ("PutItem", "Item")])
def test_a_call_for_an_item_is_made_in_the_context_of_its_partition(
    operation: str, where: str
) -> None:
    given = {"TableName": "control", where: {"pk": {"S": "TURNS"}, "sk": {"S": "Retrieve"}}}

    [need] = made(f"dynamodb.{operation}", given)

    assert need.context == {"dynamodb:LeadingKeys": ("TURNS",)}


@pytest.mark.parametrize(
    ("operation", "given", "expected"),
    [
        ("s3.HeadObject", OBJECT, [f"s3:GetObject {READABLE}/alice/a.txt"]),
        (
            "s3.GetObject",
            {**OBJECT, "VersionId": "1"},
            [f"s3:GetObjectVersion {READABLE}/alice/a.txt"],
        ),
        (
            "s3.DeleteObject",
            {**OBJECT, "VersionId": "1"},
            [f"s3:DeleteObjectVersion {READABLE}/alice/a.txt"],
        ),
        (
            "s3.DeleteObjects",
            {"Bucket": BUCKET, "Delete": {"Objects": [{"Key": "a"}, {"Key": "b"}]}},
            [f"s3:DeleteObject {READABLE}/a", f"s3:DeleteObject {READABLE}/b"],
        ),
        (
            "s3.CopyObject",
            {**OBJECT, "CopySource": {"Bucket": BUCKET, "Key": "b"}},
            [f"s3:PutObject {READABLE}/alice/a.txt", f"s3:GetObject {READABLE}/b"],
        ),
        ("s3.ListObjectsV2", {"Bucket": BUCKET, "Prefix": "a"}, [f"s3:ListBucket {READABLE}"]),
        (
            "s3vectors.QueryVectors",
            {"indexArn": INDEX, "topK": 5, "queryVector": {"float32": [1]}},
            [f"s3vectors:QueryVectors {READABLE_INDEX}"],
        ),
        (
            "s3vectors.QueryVectors",
            {"indexArn": INDEX, "topK": 5, "queryTexts": [{"text": "a", "metadataKey": "b"}]},
            [f"s3vectors:{action} {READABLE_INDEX}" for action in ("QueryVectors", "GetVectors")],
        ),
        (
            "s3vectors.QueryVectors",
            {"vectorBucketName": "vectors", "indexName": "passages", "filter": {"a": "b"}},
            [f"s3vectors:{action} {READABLE_INDEX}" for action in ("QueryVectors", "GetVectors")],
        ),
        (
            "s3vectors.ListVectors",
            {"indexArn": INDEX, "returnMetadata": True},
            [f"s3vectors:{action} {READABLE_INDEX}" for action in ("ListVectors", "GetVectors")],
        ),
        (
            "s3vectors.GetVectors",
            {"indexArn": INDEX, "keys": ["a"], "returnMetadata": True},
            [f"s3vectors:GetVectors {READABLE_INDEX}"],
        ),
        (
            "s3vectors.UpdateMetadataConfiguration",
            {"indexArn": INDEX},
            [f"s3vectors:UpdateMetadataConfiguration {READABLE_INDEX}"],
        ),
        (
            "s3vectors.PutVectorBucketDefaultIndexMode",
            {"vectorBucketArn": INDEX.removesuffix(PASSAGES)},
            ["s3vectors:PutVectorBucketDefaultIndexMode " + READABLE_INDEX.removesuffix(PASSAGES)],
        ),
        ("s3.ListObjectVersions", {"Bucket": BUCKET}, [f"s3:ListBucketVersions {READABLE}"]),
        (
            "dynamodb.Query",
            {"TableName": "docs", "IndexName": "by-user"},
            [f"dynamodb:Query {TABLE}docs/index/by-user"],
        ),
        (
            "dynamodb.BatchGetItem",
            {"RequestItems": {"docs": {}, "control": {}}},
            [f"dynamodb:BatchGetItem {TABLE}docs", f"dynamodb:BatchGetItem {TABLE}control"],
        ),
        (
            "dynamodb.TransactWriteItems",
            {
                "TransactItems": [
                    {"Put": {"TableName": "docs"}},
                    {"ConditionCheck": {"TableName": "control"}},
                ]
            },
            [f"dynamodb:PutItem {TABLE}docs", f"dynamodb:ConditionCheckItem {TABLE}control"],
        ),
        (
            "bedrock-agent.StartIngestionJob",
            {"knowledgeBaseId": "KB1"},
            [f"bedrock:StartIngestionJob {KNOWLEDGE_BASE}"],
        ),
        (
            "bedrock-agent-runtime.RetrieveAndGenerate",
            {
                "retrieveAndGenerateConfiguration": {
                    "knowledgeBaseConfiguration": {
                        "knowledgeBaseId": "KB1",
                        "modelArn": MODEL,
                        "generationConfiguration": {
                            "guardrailConfiguration": {"guardrailId": "g1"}
                        },
                    }
                }
            },
            [
                "bedrock:RetrieveAndGenerate *",
                f"bedrock:Retrieve {KNOWLEDGE_BASE}",
                f"bedrock:InvokeModel {MODEL.replace('us-east-1', '{region}')}",
                "bedrock:ApplyGuardrail arn:aws:bedrock:{region}:{account}:guardrail/g1",
            ],
        ),
        (
            "bedrock-runtime.InvokeModel",
            {"modelId": "some-model", "body": "{}"},
            [f"bedrock:InvokeModel {MODEL.replace('us-east-1', '{region}')}"],
        ),
        (
            "bedrock-runtime.ApplyGuardrail",
            {"guardrailIdentifier": "g1", "guardrailVersion": "1"},
            ["bedrock:ApplyGuardrail arn:aws:bedrock:{region}:{account}:guardrail/g1"],
        ),
        ("s3vectors.GetIndex", {"indexArn": INDEX}, [f"s3vectors:GetIndex {READABLE_INDEX}"]),
        (
            "bedrock-runtime.Converse",
            {"modelId": MODEL, "guardrailConfig": {"guardrailIdentifier": "g1"}},
            [
                f"bedrock:InvokeModel {MODEL.replace('us-east-1', '{region}')}",
                "bedrock:ApplyGuardrail arn:aws:bedrock:{region}:{account}:guardrail/g1",
            ],
        ),
        ("stepfunctions.SendTaskSuccess", {"taskToken": "t"}, ["states:SendTaskSuccess *"]),
        (
            "cloudwatch.GetDashboard",
            {"DashboardName": "stackroom"},
            ["cloudwatch:GetDashboard arn:aws:cloudwatch::{account}:dashboard/stackroom"],
        ),
        (
            "cloudwatch.DescribeAlarms",
            {"AlarmNames": ["a", "b"], "MaxRecords": 100},
            [f"cloudwatch:DescribeAlarms {ALARM}:{name}" for name in ("a", "b")],
        ),
        ("cloudwatch.DescribeAlarms", {}, [f"cloudwatch:DescribeAlarms {ALARM}:*"]),
        ("cloudwatch.GetMetricData", {"MetricDataQueries": []}, ["cloudwatch:GetMetricData *"]),
        ("sts.AssumeRole", {"RoleArn": "the function's own"}, []),
    ],
)
def test_a_call_needs_these_rights(
    operation: str, given: dict[str, Any], expected: list[str]
) -> None:
    assert needed(operation, given) == expected


@pytest.mark.parametrize(
    ("profile", "regions"), [("global", ["{region}", ""]), ("eu", ["{region}"])]
)
def test_a_model_behind_a_profile_needs_the_profile_and_the_model_wherever_it_runs(
    profile: str, regions: list[str]
) -> None:
    found = needed(
        "bedrock-agent-runtime.RetrieveAndGenerate", a_question(f"{PROFILE}/{profile}.some-model")
    )

    arn = f"arn:aws:bedrock:{{region}}:{{account}}:inference-profile/{profile}.some-model"
    models = [f"bedrock:InvokeModel arn:aws:bedrock:{each}::foundation-model/" for each in regions]
    assert found[2:] == [
        f"bedrock:InvokeModel {arn}",
        f"bedrock:GetInferenceProfile {arn}",
        *(f"{each}some-model" for each in models),
    ]


@pytest.mark.parametrize("error", ["404", "NoSuchKey"])
def test_whoever_finds_nothing_needs_to_list_the_bucket_too(error: str) -> None:
    found = needed("s3.HeadObject", OBJECT, error)

    assert found[1:] == [f"s3:ListBucket {READABLE}"]


def test_an_operation_that_nobody_told_of_is_not_passed_over() -> None:
    with pytest.raises(KeyError, match=r"s3\.PutBucketPolicy"):
        needed("s3.PutBucketPolicy", {"Bucket": BUCKET})


def test_an_action_that_iam_does_not_have_is_a_mistake_in_here() -> None:
    with pytest.raises(NotInIam, match="s3:HeadObject"):
        _check("s3:HeadObject")
