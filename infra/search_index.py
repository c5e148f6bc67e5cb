"""
Text search of the pool's indexes, which a custom resource of ours sets up.

It can be removed once `AWS::S3Vectors::Index` supports all that it sets in CloudFormation's
registry, in each region on our list: the text search and `IndexMode`. By November 2026 the template
reference has the first (`TextSearchConfiguration`, updated without interruption) but not the
second. Then the deployed indexes must be kept: stating a property that an index has already must
change nothing.
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-s3vectors-index.html
"""

import json
from collections.abc import Mapping

import aws_cdk as cdk
from constructs import Construct

from infra.deployment import Deployment
from infra.function import HandlerFunction

# As long as an index may be busy with another change. CloudFormation waits longer, for a function
# that Lambda invokes again; by default it would wait an hour for one that failed.
_TIMEOUT = cdk.Duration.minutes(5)
_SERVICE_TIMEOUT = cdk.Duration.minutes(10)


class SearchIndexes(Construct):
    """The custom resource of each index, and its function, which may change only these indexes."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        bucket_arn: str,
        index_arns: Mapping[str, str],  # by name
    ) -> None:
        super().__init__(scope, construct_id)
        handler = HandlerFunction(
            self,
            "Function",
            deployment=deployment,
            package="search_index",
            timeout=_TIMEOUT,
            memory_size=512,
            environment={
                "SEARCH_INDEXES": json.dumps(list(index_arns)),
                "SEARCH_LANGUAGE": deployment.search_language,
                "VECTOR_BUCKET_ARN": bucket_arn,
            },
        )
        handler.allow("s3vectors:PutVectorBucketDefaultIndexMode", on=bucket_arn)
        handler.allow(
            "s3vectors:GetIndex",
            "s3vectors:UpdateIndexMode",
            "s3vectors:UpdateMetadataConfiguration",
            on=list(index_arns.values()),
        )
        states = [
            cdk.CustomResource(
                self,
                f"Index{number}",
                resource_type="Custom::SearchIndex",
                service_token=handler.function.function_arn,
                service_timeout=_SERVICE_TIMEOUT,
                # CloudFormation invokes the function again when one of them changes.
                properties={
                    "IndexArn": index_arn,
                    "VectorBucketArn": bucket_arn,
                    "Language": deployment.search_language,
                    # Makes CloudFormation invoke the function for resources created before it
                    # returned State.
                    "Attributes": ["State"],
                },
                # The index stays as it is, so no deletion is needed.
                removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
            ).get_att_string("State")
            for number, index_arn in enumerate(index_arns.values(), 1)
        ]
        # For the deployer; `stackroom doctor` and an alarm report the state later.
        cdk.CfnOutput(cdk.Stack.of(self), "SearchByWords", value="; ".join(states))
