"""
The indexes of the pool, made for search by words by a function of ours, as a custom resource.

It may go once `AWS::S3Vectors::Index` has all that it sees to in CloudFormation's registry, in each
region on our list: the text search and `IndexMode`. By November 2026 the template reference has the
first (`TextSearchConfiguration`, changed without interruption) and not the second. `make preflight`
asks the registry. What remains then is to keep the indexes that are deployed: a property that the
template states of an index that has it already must change nothing.
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-s3vectors-index.html
"""

import json
from collections.abc import Mapping

import aws_cdk as cdk
from constructs import Construct

from infra.deployment import Deployment
from infra.function import HandlerFunction

# For as long an index may be busy with another change. CloudFormation waits longer, for a function
# that Lambda begins anew; an hour, its default, it would wait for one that died.
_TIMEOUT = cdk.Duration.minutes(5)
_SERVICE_TIMEOUT = cdk.Duration.minutes(10)


class SearchIndexes(Construct):
    """A function that may change these indexes and nothing else, and is asked to."""

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
                # CloudFormation asks again when one of them changes.
                properties={
                    "IndexArn": index_arn,
                    "VectorBucketArn": bucket_arn,
                    "Language": deployment.search_language,
                    # A resource of before it had one is asked for it.
                    "Attributes": ["State"],
                },
                # The index stays as it is, so nobody need be asked.
                removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
            ).get_att_string("State")
            for number, index_arn in enumerate(index_arns.values(), 1)
        ]
        # Known to whoever deploys; `stackroom doctor` and an alarm say how they stand later.
        cdk.CfnOutput(cdk.Stack.of(self), "SearchByWords", value="; ".join(states))
