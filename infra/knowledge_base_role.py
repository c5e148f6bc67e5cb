"""What a knowledge base of the pool may do: read documents, embed them, keep their vectors."""

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.deployment import Deployment
from stackroom_constructs.acknowledgments import accept_wildcard


class KnowledgeBaseRole(iam.Role):
    """Retained with its knowledge base, which can neither work nor be deleted without it."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        documents: s3.IBucket,
        model_arn: str,
        index_arn: str,
    ) -> None:
        stack = cdk.Stack.of(scope)
        all_documents = deployment.document_arns(scope, "*")
        own_bucket = {"StringEquals": {"aws:ResourceAccount": stack.account}}
        rights = [
            _may(["bedrock:InvokeModel"], model_arn),
            _may(["s3:ListBucket"], documents.bucket_arn, own_bucket),
            _may(["s3:GetObject"], all_documents, own_bucket),
            _may(
                [
                    "s3vectors:PutVectors",
                    "s3vectors:GetVectors",
                    "s3vectors:DeleteVectors",
                    "s3vectors:QueryVectors",
                    "s3vectors:GetIndex",
                ],
                index_arn,
            ),
        ]
        super().__init__(
            scope,
            construct_id,
            assumed_by=_bedrock_in(stack),
            # Inline, so that the rights exist as soon as the role does.
            inline_policies={"Ingestion": iam.PolicyDocument(statements=rights)},
        )
        self.apply_removal_policy(cdk.RemovalPolicy.RETAIN)
        accept_wildcard(
            self,
            all_documents,
            because="A data source reads any key below its prefix, and prefixes come and go with"
            " catalogs; it only reads, and only in this account's bucket.",
        )


def _bedrock_in(stack: cdk.Stack) -> iam.ServicePrincipal:
    caller = {
        "StringEquals": {"aws:SourceAccount": stack.account},
        "ArnLike": {
            "aws:SourceArn": stack.format_arn(
                service="bedrock", resource="knowledge-base", resource_name="*"
            )
        },
    }
    return iam.ServicePrincipal("bedrock.amazonaws.com", conditions=caller)


def _may(
    actions: list[str], resource: str, conditions: Mapping[str, object] | None = None
) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=actions, resources=[resource], conditions=conditions)
