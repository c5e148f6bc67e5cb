from typing import Any

import aws_cdk as cdk
import pytest

from stackroom_constructs import InvalidArgument, KnowledgeBaseCreation
from stackroom_constructs.chunking import Chunking
from tests.constructs.made import documents

HIERARCHICAL = {"chunking": "hierarchical"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"chunking": "recursive"}, "chunking 'recursive' must be one of default, fixed, hier"),
        ({"max_tokens": 0}, "max_tokens 0 must be a whole number of 1 to 8,192"),
        ({"overlap_percentage": 0}, "overlap_percentage 0 must be a whole number of 1 to 99"),
        ({**HIERARCHICAL, "parent_tokens": 8193}, "parent_tokens 8193 must"),
        ({**HIERARCHICAL, "child_tokens": 1501}, "child_tokens 1501 must be at most the parent"),
        ({"chunking": "semantic", "buffer_size": 2}, "buffer_size 2 must be .* 0 to 1"),
        ({"chunking": "semantic", "breakpoint_percentile": 49}, "breakpoint_percentile 49 must"),
        ({"parsing": "ocr"}, "parsing 'ocr' must be one of default, bedrock_data_automation"),
        ({"parsing": "foundation_model"}, "parsing_model None must be the id"),
        ({"parsing_model": "amazon.nova-lite-v1:0"}, "parsing_model .* must be left out"),
        (
            {
                "parsing": "foundation_model",
                "parsing_model": "amazon.nova-lite-v1:0",
                "parsing_prompt": "p" * 10_001,
            },
            "parsing_prompt .* must be a text of at most 10,000 characters",
        ),
        ({"embedding_model": "titan"}, "embedding_model 'titan' must be the id of a model"),
        ({"dimensions": 1000}, "dimensions 1000 must be one of 256, 512, 1024"),
        (
            {"embedding_model": "cohere.embed-multilingual-v3", "dimensions": 4097},
            "dimensions 4097 must be a whole number of 1 to 4,096",
        ),
        ({"prefix": "p" * 301}, "prefix .* must be a text of at most 300 characters"),
        ({"prefix": "a*/"}, r"prefix 'a\*/' must be free of"),
        ({"prefix": "${aws:username}/"}, "prefix .* must be free of .* unless readable_objects"),
        ({"index_name": "A"}, "index_name 'A' must be 3 to 63 lower-case letters, digits"),
        ({"data_source_type": "WEB"}, "data_source_type 'WEB' must be one of S3, CUSTOM"),
        ({"data_source_name": "my documents"}, "data_source_name 'my documents' must be letters"),
        ({"data_source_description": ""}, "data_source_description '' must be a text"),
    ],
)
def test_what_cant_be_made_is_named(stack: cdk.Stack, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidArgument, match=f"^KnowledgeBaseCreation: {says}"):
        KnowledgeBaseCreation(bucket=documents(stack), **arguments)


def test_a_prefix_with_a_wildcard_is_read_by_the_right_that_is_said_or_known_only_on_deployment(
    stack: cdk.Stack,
) -> None:
    bucket, prefix = documents(stack), cdk.CfnParameter(stack, "Prefix").value_as_string
    creation = KnowledgeBaseCreation(bucket=bucket, prefix="a*/", readable_objects="arn:said")

    assert creation.objects_arn == "arn:said"
    assert KnowledgeBaseCreation(bucket=bucket, prefix=prefix).prefix == prefix


def test_the_name_of_a_bucket_is_no_bucket() -> None:
    with pytest.raises(InvalidArgument, match="bucket 'documents' must be a bucket; one that"):
        KnowledgeBaseCreation(bucket="documents")  # type: ignore[arg-type]


def test_up_to_8000_tokens_in_two_levels_are_warned_of_in_s3_vectors_and_more_are_refused() -> None:
    most = Chunking(strategy="hierarchical", parent_tokens=7700, child_tokens=300)
    largest = Chunking(strategy="hierarchical", parent_tokens=8192, child_tokens=8192)

    most.check_store("S3_VECTORS")
    largest.check_store("RDS")

    assert "8,000" in str(most.warning("S3_VECTORS"))
    assert largest.warning("RDS") is None
    assert Chunking(strategy="fixed", max_tokens=8192).warning("S3_VECTORS") is None
    with pytest.raises(InvalidArgument, match="parent_tokens 8192"):
        largest.check_store("S3_VECTORS")
