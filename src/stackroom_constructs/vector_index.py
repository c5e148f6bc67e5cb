"""An S3 Vectors index that Bedrock can fill, and the right to."""

from aws_cdk import aws_s3vectors as s3vectors
from constructs import Construct

from stackroom_constructs.model import Right

# Bedrock's own keys outgrow the 2 KB of filterable metadata; can't be changed after creation.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-bedrock-kb.html
_NOT_FILTERABLE = ["AMAZON_BEDROCK_TEXT", "AMAZON_BEDROCK_METADATA"]


def vector_index(
    scope: Construct,
    construct_id: str,
    *,
    vector_bucket_arn: str,
    name: str | None,
    dimensions: int,
) -> s3vectors.CfnIndex:
    return s3vectors.CfnIndex(
        scope,
        construct_id,
        vector_bucket_arn=vector_bucket_arn,
        index_name=name,
        data_type="float32",
        dimension=dimensions,
        distance_metric="cosine",
        metadata_configuration=s3vectors.CfnIndex.MetadataConfigurationProperty(
            non_filterable_metadata_keys=_NOT_FILTERABLE
        ),
    )


def right_to_fill(index: s3vectors.CfnIndex) -> Right:
    """
    What Bedrock needs of an index that it fills, searches and cleans up.
    https://docs.aws.amazon.com/bedrock/latest/userguide/kb-permissions.html

    That page doesn't name ListVectors; without it a deployment in Tokyo had 403 (2026-03):
    github.com/Yoshiki0705/Permission-aware-RAG-FSxN-CDK, docs/s3-vectors-sid-architecture-guide.md
    """
    return Right(
        actions=(
            "s3vectors:PutVectors",
            "s3vectors:GetVectors",
            "s3vectors:DeleteVectors",
            "s3vectors:QueryVectors",
            "s3vectors:GetIndex",
            "s3vectors:ListVectors",
        ),
        resources=(index.attr_index_arn,),
    )
