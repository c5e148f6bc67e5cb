"""
Changes that the local mode makes to a template; all else reaches CloudFormation as synthesised.
"""

import json
from typing import Any

import pytest

from stackroom_local.deployment.function_packages import bootstrap_archive, bootstrap_key
from stackroom_local.deployment.intrinsics import REF
from stackroom_local.deployment.localisation import localised
from stackroom_local.project_files import task_root


def a_template(**resources: dict[str, Any]) -> dict[str, Any]:
    return {"Resources": resources}


def a_function() -> dict[str, Any]:
    return {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "FunctionName": "ingest",
            "Handler": "functions.ingest.handler.handler",
            "Runtime": "python3.13",
            "Architectures": ["arm64"],
            "Layers": ["arn:layer"],
            "Timeout": 120,
            "Environment": {"Variables": {"KB": {"Fn::GetAtt": ["Base", "KnowledgeBaseId"]}}},
            "Code": {"S3Bucket": "assets", "S3Key": "hash.zip"},
        },
        "DependsOn": ["Base", "Role"],
    }


def test_function_runs_from_the_checkout_and_is_otherwise_as_synthesised() -> None:
    template = a_template(
        Function=a_function(),
        Role={"Type": "AWS::IAM::Role", "Properties": {}},
        Base={"Type": "AWS::Bedrock::KnowledgeBase", "Properties": {"Name": "one"}},
    )
    made = {"Base": {REF: "KB1", "KnowledgeBaseId": "KB1"}}

    function = localised(template, made, "local-assets")["Resources"]["Function"]

    assert function["Properties"] == {
        "FunctionName": "ingest",
        "Handler": "functions.ingest.handler.handler",
        "Runtime": "provided.al2023",
        "Timeout": 120,
        "Environment": {"Variables": {"KB": "KB1"}},
        "Code": {
            "S3Bucket": "local-assets",
            "S3Key": bootstrap_key(bootstrap_archive(task_root())),
        },
    }
    assert function["DependsOn"] == ["Role"]


@pytest.mark.parametrize(("speed", "seconds"), [(1, 365), (2, 182), (3, 121), (100, 121)])
def test_visibility_timeout_shrinks_with_speed_but_outlasts_a_function(
    speed: float, seconds: int
) -> None:
    queue = {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": 365}}

    made = localised(a_template(Queue=queue), {}, "assets", speed=speed)["Resources"]["Queue"]

    assert made["Properties"]["VisibilityTimeout"] == seconds


def test_task_waiting_for_its_token_gets_a_short_timeout() -> None:
    states = {
        "Waits": {"Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken"},
        "Works": {"Resource": "arn:aws:states:::lambda:invoke", "TimeoutSeconds": 150},
    }
    machine = {
        "Type": "AWS::StepFunctions::StateMachine",
        "Properties": {"DefinitionString": json.dumps({"States": states})},
    }

    resources = localised(a_template(Machine=machine), {}, "assets")["Resources"]

    definition = json.loads(resources["Machine"]["Properties"]["DefinitionString"])
    timeouts = {name: state["TimeoutSeconds"] for name, state in definition["States"].items()}
    assert timeouts == {"Waits": 60, "Works": 150}


def test_files_are_uploaded_by_pages_of_this_machine_and_by_no_others() -> None:
    rule = {"AllowedMethods": ["POST"], "AllowedOrigins": ["https://console.example.com"]}
    bucket = {
        "Type": "AWS::S3::Bucket",
        "Properties": {"BucketName": "docs", "CorsConfiguration": {"CorsRules": [rule]}},
    }

    made = localised(a_template(Bucket=bucket), {}, "assets")["Resources"]["Bucket"]

    [told] = made["Properties"]["CorsConfiguration"]["CorsRules"]
    assert told["AllowedMethods"] == ["POST"]
    assert told["AllowedOrigins"] == ["http://127.0.0.1:*", "http://localhost:*"]


def test_a_reference_to_a_secret_is_its_arn_as_on_aws() -> None:
    function = a_function()
    function["Properties"]["Environment"]["Variables"] = {"KEY_ARN": {"Ref": "Key"}}
    secret = {"Type": "AWS::SecretsManager::Secret", "Properties": {"Name": "key"}}

    template = localised(a_template(Key=secret, Function=function), {}, "assets")

    properties = template["Resources"]["Function"]["Properties"]
    told = properties["Environment"]["Variables"]["KEY_ARN"]
    assert told == {"Fn::GetAtt": ["Key", "Id"]}


def test_function_that_verifies_tokens_trusts_the_local_issuer_alone() -> None:
    function = a_function()
    function["Properties"]["Environment"]["Variables"] = {
        "IDENTITY_ISSUER": {"Fn::ImportValue": "issuer"},
        "IDENTITY_AUDIENCES": '["https://gateway"]',
        "KB": "one",
    }

    template = localised(
        a_template(Interceptor=function), {}, "assets", issuer_url="http://127.0.0.1:4568"
    )

    assert template["Resources"]["Interceptor"]["Properties"]["Environment"]["Variables"] == {
        "IDENTITY_ISSUER": "http://127.0.0.1:4568",
        "IDENTITY_AUDIENCES": '["http://127.0.0.1:4568/mcp", "http://localhost:4568/mcp"]',
        "KB": "one",
    }
