"""The functions between the bucket and the index: what each reads, and everything it may do."""

from dataclasses import dataclass

import aws_cdk as cdk

from infra.bundling import INSPECT
from infra.data import PAGE_MAPS, SIDECARS, DataStack
from infra.deployment import Deployment
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack


@dataclass(frozen=True, kw_only=True)
class PipelineFunctions:
    scope: cdk.Stack
    deployment: Deployment
    data: DataStack
    knowledge_base: KnowledgeBaseStack

    def upload_handler(self) -> HandlerFunction:
        handler = HandlerFunction(
            self.scope,
            "UploadHandler",
            deployment=self.deployment,
            package="upload_handler",
            timeout=cdk.Duration.seconds(60),
            memory_size=512,
            environment={**self._stores(), "STATE_MACHINE_ARN": self._state_machine_arn()},
        )
        handler.allow(
            "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:DeleteItem", on=self._catalogs()
        )
        handler.allow("dynamodb:UpdateItem", on=self._control())
        self._let_read_documents(handler)
        handler.allow(
            "s3:PutObject",
            "s3:DeleteObject",
            on=self.deployment.document_arns(self.scope, SIDECARS),
            because="One sidecar per document.",
        )
        self._let_run(handler)
        return handler

    def inspect(self) -> HandlerFunction:
        handler = HandlerFunction(
            self.scope,
            "Inspect",
            deployment=self.deployment,
            package="inspect",
            timeout=cdk.Duration.seconds(120),
            memory_size=1536,
            environment=self._stores(),
            group=INSPECT,
        )
        handler.allow("dynamodb:GetItem", "dynamodb:PutItem", on=self._catalogs())
        handler.allow("dynamodb:PutItem", on=self._control())
        self._let_read_documents(handler)
        handler.allow(
            "s3:PutObject",
            "s3:DeleteObject",
            on=self.deployment.document_arns(self.scope, PAGE_MAPS),
            because="One map per document.",
        )
        return handler

    def ingest(self) -> HandlerFunction:
        handler = HandlerFunction(
            self.scope,
            "Ingest",
            deployment=self.deployment,
            package="ingest",
            timeout=cdk.Duration.seconds(120),
            memory_size=512,
            environment={
                **self._stores(),
                "KB_POOL": self.knowledge_base.pool_json,
                "STATE_MACHINE_ARN": self._state_machine_arn(),
            },
        )
        self._let_settle(handler)
        handler.allow(
            "dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:Scan", on=self._control()
        )
        handler.allow(
            "bedrock:CreateDataSource",
            "bedrock:ListDataSources",
            "bedrock:GetDataSource",
            "bedrock:StartIngestionJob",
            "bedrock:ListIngestionJobs",
            on=self.knowledge_base.knowledge_base_arns,
        )
        self._let_run(handler)
        return handler

    def status_poller(self) -> HandlerFunction:
        handler = HandlerFunction(
            self.scope,
            "StatusPoller",
            deployment=self.deployment,
            package="status_poller",
            timeout=cdk.Duration.seconds(120),
            memory_size=512,
            environment=self._stores(),
        )
        self._let_settle(handler)
        handler.allow("dynamodb:BatchGetItem", "dynamodb:UpdateItem", on=self._control())
        handler.allow(
            "bedrock:GetIngestionJob",
            "bedrock:StopIngestionJob",
            "bedrock:ListKnowledgeBaseDocuments",
            "bedrock:GetKnowledgeBaseDocuments",
            "bedrock:Retrieve",
            on=self.knowledge_base.knowledge_base_arns,
        )
        return handler

    def _stores(self) -> dict[str, str]:
        return {
            "KB_CATALOG_TABLE": self.data.catalog_table.table_name,
            "KB_CONTROL_TABLE": self.data.control_table.table_name,
            "KB_DOCS_BUCKET": self.data.bucket.bucket_name,
        }

    def _catalogs(self) -> str:
        return self.data.catalog_table.table_arn

    def _control(self) -> str:
        return self.data.control_table.table_arn

    def _let_settle(self, handler: HandlerFunction) -> None:
        """Read a whole catalog and write down what became of it."""
        handler.allow(
            "dynamodb:GetItem",
            "dynamodb:Query",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
            "dynamodb:DeleteItem",
            on=self._catalogs(),
        )

    def _state_machine_arn(self) -> str:
        """By its name, since the machine itself needs these functions first."""
        return self.deployment.state_machine_arn(self.scope)

    def _let_read_documents(self, handler: HandlerFunction) -> None:
        # ListBucket, or a HEAD of what is gone answers 403 instead of 404.
        handler.allow("s3:ListBucket", on=self.data.bucket.bucket_arn)
        handler.allow(
            "s3:GetObject",
            on=self.deployment.document_arns(self.scope, "*"),
            because="A document may lie under any key.",
        )

    def _let_run(self, handler: HandlerFunction) -> None:
        executions = self.deployment.state_machine_arn(self.scope, "execution")
        handler.allow("states:StartExecution", on=self._state_machine_arn())
        handler.allow("states:DescribeExecution", on=executions, because="One execution per run.")
