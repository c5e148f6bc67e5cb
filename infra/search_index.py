"""
The indexes of the pool, made for search by words. CloudFormation has no property for that as of
2026-10-20, so a function of ours does it, as a custom resource.
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-s3vectors-index.html
"""

import aws_cdk as cdk
from aws_cdk import aws_s3vectors as s3vectors
from constructs import Construct

from infra.deployment import Deployment
from infra.function import HandlerFunction

DIMENSION = 1024  # Titan V2's default and largest

# Bedrock's own keys outgrow the 2 KB of filterable metadata; can't be changed after creation.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-bedrock-kb.html
_NOT_FILTERABLE = ["AMAZON_BEDROCK_TEXT", "AMAZON_BEDROCK_METADATA"]

# For as long an index may be busy with another change. CloudFormation waits longer, so that it is
# the function that tells what is wrong; an hour, its default, it would wait for one that died.
_TIMEOUT = cdk.Duration.minutes(5)
_SERVICE_TIMEOUT = cdk.Duration.minutes(10)


class SearchIndexes(Construct):
    """What is made here, its function may change, and nothing else."""

    def __init__(
        self,
        stack: cdk.Stack,
        construct_id: str,
        deployment: Deployment,
        bucket: s3vectors.CfnVectorBucket,
    ) -> None:
        super().__init__(stack, construct_id)
        self._stack = stack
        self._language = deployment.search_language
        self._bucket = bucket.attr_vector_bucket_arn
        self._handler = HandlerFunction(
            self,
            "Function",
            deployment=deployment,
            package="search_index",
            timeout=_TIMEOUT,
            memory_size=512,
            environment={},
        )
        self._handler.allow("s3vectors:PutVectorBucketDefaultIndexMode", on=self._bucket)

    def index(self, number: int, name: str) -> s3vectors.CfnIndex:
        index = s3vectors.CfnIndex(
            self._stack,
            f"Index{number}",
            vector_bucket_arn=self._bucket,
            index_name=name,
            data_type="float32",
            dimension=DIMENSION,
            distance_metric="cosine",
            metadata_configuration=s3vectors.CfnIndex.MetadataConfigurationProperty(
                non_filterable_metadata_keys=_NOT_FILTERABLE
            ),
        )
        index.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
        self._prepare(number, index.attr_index_arn)
        return index

    def _prepare(self, number: int, index: str) -> None:
        self._handler.allow(
            "s3vectors:GetIndex",
            "s3vectors:UpdateIndexMode",
            "s3vectors:UpdateMetadataConfiguration",
            on=index,
        )
        cdk.CustomResource(
            self,
            f"Index{number}",
            resource_type="Custom::SearchIndex",
            service_token=self._handler.function.function_arn,
            service_timeout=_SERVICE_TIMEOUT,
            properties={
                "IndexArn": index,
                "VectorBucketArn": self._bucket,
                "Language": self._language,
            },
            # The index stays as it is, so nobody need be asked.
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )
