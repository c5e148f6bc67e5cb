"""The functions behind the gateway, and why nobody but the gateway can invoke them."""

import json
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_

from infra.answer_rights import may_answer, may_guard
from infra.bucket_policy import PLACE_MAPS
from infra.bundling import IDENTITY
from infra.data import DataStack
from infra.deployment import Deployment
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from infra.rights import Rights
from infra.search_rights import bundle_of_search, may_keep_vectors, may_rerank, may_search
from infra.sign_in import SignIn


@dataclass(frozen=True, kw_only=True)
class GatewayFunctions:
    """Makes each function in `stack`, with just the rights that it needs."""

    stack: cdk.Stack
    deployment: Deployment
    data: DataStack
    knowledge_base: KnowledgeBaseStack
    sign_in: SignIn

    def retrieve(self) -> HandlerFunction:
        handler = HandlerFunction(
            self.stack,
            "Retrieve",
            deployment=self.deployment,
            package="retrieve",
            timeout=cdk.Duration.seconds(30),
            memory_size=1024,
            group=bundle_of_search(self.deployment),
            environment={
                "KB_CATALOG_TABLE": self.data.catalog_table.table_name,
                "KB_CONTROL_TABLE": self.data.control_table.table_name,
                "KB_DOCS_BUCKET": self.data.bucket.bucket_name,
                "KB_POOL": self.knowledge_base.pool_json,
                "RETRIEVE_MIN_SCORE": "0.0",
                "RETRIEVE_SHARING": self.deployment.retrieve_sharing,
                **self.deployment.fitting.environment,
            },
        )
        catalogs = self.data.catalog_table.table_arn
        handler.allow("dynamodb:GetItem", "dynamodb:BatchGetItem", on=catalogs)
        handler.allow("dynamodb:Query", on=self.data.catalog_table.by_user_arn)
        # The ledger of turns, and nothing else that coordinates.
        # https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
        handler.allow(
            "dynamodb:GetItem",
            "dynamodb:PutItem",
            on=self.data.control_table.table_arn,
            where={"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["TURNS"]}},
        )
        may_search(handler, deployment=self.deployment, knowledge_base=self.knowledge_base)
        may_rerank(handler, deployment=self.deployment)
        may_keep_vectors(handler, deployment=self.deployment)
        # ListBucket, or a place map that doesn't exist answers 403 instead of 404.
        handler.allow("s3:ListBucket", on=self.data.bucket.bucket_arn)
        handler.allow(
            "s3:GetObject",
            on=self.deployment.document_arns(self.stack, PLACE_MAPS),
            because="One map per document.",
        )
        may_guard(handler, deployment=self.deployment)
        return handler

    def catalog_tools(self) -> HandlerFunction:
        rights = Rights(scope=self.stack, deployment=self.deployment, data=self.data)
        handler = HandlerFunction(
            self.stack,
            "CatalogTools",
            deployment=self.deployment,
            package="catalog_tools",
            timeout=cdk.Duration.minutes(5),  # to purge a catalog of some ten thousand documents
            memory_size=1024,
            group=bundle_of_search(self.deployment),
            environment={
                **rights.stores(),
                **self.deployment.admission.environment,
                **self.deployment.fitting.environment,
                "KB_POOL": self.knowledge_base.pool_json,
                "STATE_MACHINE_ARN": rights.state_machine_arn(),
            },
        )
        rights.settle(handler)
        handler.allow("dynamodb:Query", on=self.data.catalog_table.by_user_arn)
        rights.coordinate(handler)
        rights.read_documents(handler)
        handler.allow("s3:ListBucketVersions", on=self.data.bucket.bucket_arn)
        handler.allow(
            "s3:PutObject",
            "s3:DeleteObject",
            "s3:DeleteObjectVersion",
            on=self.deployment.document_arns(self.stack, "*"),
            because="A document may lie under any key; sidecars the bucket's policy keeps from it.",
        )
        rights.run(handler)
        may_search(handler, deployment=self.deployment, knowledge_base=self.knowledge_base)
        may_rerank(handler, deployment=self.deployment)
        may_keep_vectors(handler, deployment=self.deployment)
        may_answer(
            handler,
            deployment=self.deployment,
            knowledge_base_arns=self.knowledge_base.knowledge_base_arns,
        )
        return handler

    def interceptor(self) -> HandlerFunction:
        return HandlerFunction(
            self.stack,
            "IdentityInterceptor",
            deployment=self.deployment,
            package="identity_interceptor",
            timeout=cdk.Duration.seconds(10),
            memory_size=512,
            environment={
                "IDENTITY_ISSUER": self.sign_in.issuer,
                "IDENTITY_JWKS_URL": f"{self.sign_in.issuer}/.well-known/jwks.json",
                "IDENTITY_CLIENT_IDS": json.dumps([self.sign_in.client.user_pool_client_id]),
            },
            group=IDENTITY,
        )


def invoked_by_gateway_only(
    handler: HandlerFunction, *, deployment: Deployment, role: iam.IRole
) -> lambda_.CfnResourcePolicy:
    """
    A resource policy with a Deny. `AWS::Lambda::Permission` would only add an Allow, and leave
    everyone in whose own role has lambda:InvokeFunction.
    """
    arn = handler.function.function_arn
    gateway = deployment.sessions_of(handler, "gateway")
    statements = [
        iam.PolicyStatement(
            sid="TheGateway",
            principals=[role],
            actions=["lambda:InvokeFunction"],
            resources=[arn],
        ),
        iam.PolicyStatement(
            sid="NobodyElse",
            effect=iam.Effect.DENY,
            principals=[iam.AnyPrincipal()],
            actions=["lambda:InvokeFunction"],
            resources=[arn],
            conditions={"ArnNotLike": {"aws:PrincipalArn": gateway}},
        ),
    ]
    return lambda_.CfnResourcePolicy(
        handler,
        "OnlyTheGateway",
        resource_arn=arn,
        policy_document=iam.PolicyDocument(statements=statements),
    )
