"""Indexes made for search by words: what CloudFormation asks our function to do, and how."""

import json
from typing import Any

import boto3

from infra.bundling import SERVICES
from infra.deployment import _LANGUAGES
from tests.infra.assembly import Assembly

TYPE = "Custom::SearchIndex"


def test_each_index_is_made_for_words_by_the_function_that_may(assembly: Assembly) -> None:
    made = assembly.one("knowledge-base", TYPE)
    function = assembly.one("knowledge-base", "AWS::Lambda::Function")

    assert made.properties == {
        "ServiceToken": "arn:aws:lambda:{region}:{account}:function:stackroom-search-index",
        "ServiceTimeout": "600",
        "IndexArn": "arn:aws:s3vectors:{region}:{account}:index/Index1",
        "VectorBucketArn": "arn:aws:s3vectors:{region}:{account}:"
        "bucket/stackroom-vectors-{account}-{region}",
        "Language": "en",
    }
    assert function.properties["Handler"] == "functions.search_index.handler.handler"
    assert "s3vectors" in SERVICES


def test_the_function_answers_before_cloudformation_gives_it_up(assembly: Assembly) -> None:
    made = assembly.one("knowledge-base", TYPE).properties
    function = assembly.one("knowledge-base", "AWS::Lambda::Function").properties

    # CloudFormation invokes it asynchronously, and Lambda a second time if it died.
    assert 2 * function["Timeout"] <= int(made["ServiceTimeout"])


def test_its_rights_are_there_before_it_is_asked_and_the_index_stays_when_the_stack_goes(
    assembly: Assembly,
) -> None:
    function = assembly.one("knowledge-base", "AWS::Lambda::Function")
    policy = assembly.one("knowledge-base", "AWS::IAM::Policy", "SearchIndexFunction")
    made = assembly.one("knowledge-base", TYPE).raw

    assert policy.logical_id in function.raw["DependsOn"]
    assert (made["DeletionPolicy"], made["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_every_index_of_a_pool_is_made_so_in_the_language_that_was_said(
    otherwise: Assembly,
) -> None:
    made = [each.properties for each in otherwise.all("knowledge-base", TYPE)]

    indexes = {each["IndexArn"].rpartition("/")[2] for each in made}

    assert indexes == {"Index1", "Index2"}
    assert {each["Language"] for each in made} == {"none"}
    assert {each["ServiceToken"] for each in made} == {
        "arn:aws:lambda:{region}:{account}:function:docs-search-index"
    }
    text = json.dumps(otherwise.template("knowledge-base"))
    assert text.count("s3vectors:UpdateMetadataConfiguration") == 1  # one statement, both indexes


def test_the_languages_are_those_that_s3_vectors_knows() -> None:
    client: Any = boto3.client(
        "s3vectors",
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )

    known = client.meta.service_model.shape_for("LanguageCode").enum

    assert set(_LANGUAGES) == {*known, "none"}
