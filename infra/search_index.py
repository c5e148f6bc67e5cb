"""
Indexes made for search by words, which CloudFormation has no property for: a function of ours does
it, as a custom resource.

Nothing runs in the way of who deploys but that function, for a few seconds each time that what is
asked for changes. https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-s3vectors-index.html
"""

import aws_cdk as cdk
from aws_cdk import aws_s3vectors as s3vectors
from constructs import Construct

from infra.deployment import Deployment
from infra.function import HandlerFunction

# How long an index may be busy with another change before the deployment fails; the function
# answers before its own time is over. One that died is told by CloudFormation, soon after.
_TIMEOUT = cdk.Duration.minutes(5)
_SERVICE_TIMEOUT = cdk.Duration.minutes(10)


class SearchIndexes(Construct):
    """The function; it may change the indexes that it is handed and nothing else."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        bucket: s3vectors.CfnVectorBucket,
    ) -> None:
        super().__init__(scope, construct_id)
        self._language = deployment.search_language
        self._bucket = bucket
        self._handler = HandlerFunction(
            self,
            "Function",
            deployment=deployment,
            package="search_index",
            timeout=_TIMEOUT,
            memory_size=512,
            environment={},
        )
        self._handler.allow(
            "s3vectors:PutVectorBucketDefaultIndexMode", on=bucket.attr_vector_bucket_arn
        )

    def prepare(self, number: int, index: s3vectors.CfnIndex) -> None:
        self._handler.allow(
            "s3vectors:GetIndex",
            "s3vectors:UpdateIndexMode",
            "s3vectors:UpdateMetadataConfiguration",
            on=index.attr_index_arn,
        )
        cdk.CustomResource(
            self,
            f"Index{number}",
            resource_type="Custom::SearchIndex",
            service_token=self._handler.function.function_arn,
            service_timeout=_SERVICE_TIMEOUT,
            properties={
                "IndexArn": index.attr_index_arn,
                "VectorBucketArn": self._bucket.attr_vector_bucket_arn,
                "Language": self._language,
            },
            # The index stays as it is, so nobody need be asked.
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )
