"""An S3 Vectors index that Bedrock can fill, and the right to."""

from aws_cdk import aws_s3vectors as s3vectors
from constructs import Construct

from stackroom_constructs.model import Right

# Of ten that may be, and for good: another list is another index. A vector has 2 KB of filterable
# metadata; a document whose vectors have more is lost, and reads INDEXED. So what Bedrock writes of
# its own accord is not filterable, whatever its size: nobody filters by it here. The 2 KB are for
# what documents bring, which is 1 KB at most, and for x-amz-bedrock-kb-data-source-id: that is 44
# bytes, and Bedrock's one key by which others do filter.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-bedrock-kb.html (the first two)
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-limitations.html
# The others but the last, seen live in such a list (2026-03), by the guide that is named below.
_NOT_FILTERABLE = [
    "AMAZON_BEDROCK_TEXT",
    "AMAZON_BEDROCK_METADATA",  # with the parent's text, where chunks have one
    "x-amz-bedrock-kb-source-uri",  # of a key of up to 1,024 bytes
    "x-amz-bedrock-kb-document-page-number",
    "x-amz-bedrock-kb-chunk-id",
    "x-amz-bedrock-kb-source-file-modality",
    "x-amz-bedrock-kb-source-file-mime-type",  # of images
]


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
