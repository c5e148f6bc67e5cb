"""The functions between the bucket and the index: what each reads, and everything it may do."""

from dataclasses import dataclass

import aws_cdk as cdk

from infra.bundling import CORE, INSPECT, Group
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from infra.rights import Rights
from infra.search_rights import may_look


@dataclass(frozen=True, kw_only=True)
class PipelineFunctions:
    rights: Rights
    knowledge_base: KnowledgeBaseStack

    def upload_handler(self) -> HandlerFunction:
        handler = self._function(
            "UploadHandler",
            "upload_handler",
            seconds=60,
            # Its messages are beside each other and share its processor, of which this is half.
            megabytes=1024,
            environment=self._running(),
        )
        handler.allow(
            "dynamodb:GetItem",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
            "dynamodb:DeleteItem",
            on=self._catalogs(),
        )
        handler.allow(
            "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", on=self._control()
        )
        self.rights.read_documents(handler)
        self.rights.write_sidecars(handler)
        self.rights.run(handler)
        return handler

    def inspect(self) -> HandlerFunction:
        handler = self._function(
            "Inspect",
            "inspect",
            seconds=11 * 60,  # ten minutes of a file's reading, and what comes before and after
            megabytes=1536,
            environment={**self._running(), **self.rights.deployment.ingestion.of_inspection},
            group=INSPECT,
        )
        # It has a document taken up once its text is there, which the catalog counts as open.
        handler.allow(
            "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", on=self._catalogs()
        )
        handler.allow(
            "dynamodb:GetItem",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
            "dynamodb:DeleteItem",
            on=self._control(),
        )
        self.rights.read_documents(handler)
        self.rights.remove_texts(handler)
        handler.allow("s3:PutObject", on=self.rights.texts(), because="One text per version.")
        if self.rights.deployment.ingestion.ocr == "textract":
            # https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazontextract.html
            handler.allow(
                "textract:DetectDocumentText", on="*", because="The action knows no resources."
            )
        self.rights.run(handler)
        return handler

    def ingest(self) -> HandlerFunction:
        handler = self._function(
            "Ingest",
            "ingest",
            seconds=120,
            megabytes=1024,  # and with it processor: what a task takes, calls of Bedrock's wait for
            environment={
                **self._running(),
                **self._admitting(),
                **self.rights.deployment.ingestion.of_data_sources(self.rights.scope),
                **self.knowledge_base.bucket_environment,
            },
        )
        self._let_settle(handler)
        self.rights.list_documents(handler)
        self._count_users(handler)
        self.rights.look_for_silent_runs(handler)
        self.rights.read_sidecars(handler)
        # To have it retain vectors that can't be deleted, which MANAGED ones never do.
        update = () if self.rights.deployment.is_managed else ("bedrock:UpdateDataSource",)
        handler.allow(
            "bedrock:CreateDataSource",
            "bedrock:ListDataSources",
            "bedrock:GetDataSource",
            *update,
            "bedrock:DeleteDataSource",
            "bedrock:StartIngestionJob",
            "bedrock:ListIngestionJobs",
            "bedrock:IngestKnowledgeBaseDocuments",
            "bedrock:DeleteKnowledgeBaseDocuments",
            "bedrock:GetKnowledgeBaseDocuments",  # before one is sent again
            on=self.knowledge_base.knowledge_base_arns,
        )
        may_look(handler, knowledge_base=self.knowledge_base)
        self.rights.run(handler)
        return handler

    def status_poller(self) -> HandlerFunction:
        handler = self._function(
            "StatusPoller",
            "status_poller",
            seconds=120,
            megabytes=1024,
            environment=self._admitting(),
        )
        self._let_settle(handler)
        self.rights.list_failed(handler)  # those that a job has indexed after all
        handler.allow(
            "bedrock:GetIngestionJob",
            "bedrock:StopIngestionJob",
            "bedrock:ListKnowledgeBaseDocuments",
            "bedrock:GetKnowledgeBaseDocuments",
            on=self.knowledge_base.knowledge_base_arns,
        )
        may_look(handler, knowledge_base=self.knowledge_base)
        return handler

    def reconciler(self) -> HandlerFunction:
        """As long as a function may take: it goes on where it stopped, a page at a time."""
        handler = self._function(
            "Reconciler", "reconciler", seconds=15 * 60, environment=self._running()
        )
        self.rights.settle(handler)
        self.rights.list_open(handler)
        self.rights.list_documents(handler)
        self._count_users(handler)
        handler.allow("dynamodb:Scan", on=self._catalogs())
        handler.allow("dynamodb:Scan", on=self.rights.data.catalog_table.by_user_arn)
        self.rights.coordinate(handler)
        self.rights.look_for_silent_runs(handler)
        self.rights.read_documents(handler)
        self.rights.write_sidecars(handler)
        # To delete a catalog for an operator, with all versions of its documents.
        handler.allow("s3:ListBucketVersions", on=self.rights.data.bucket.bucket_arn)
        handler.allow(
            "s3:DeleteObject",  # which DeleteObjects takes beside the other [its API reference]
            "s3:DeleteObjectVersion",
            on=self.rights.deployment.document_arns(self.rights.scope, "*"),
            because="A document may lie under any key.",
        )
        handler.allow(
            "bedrock:ListDataSources",
            "bedrock:GetDataSource",
            "bedrock:DeleteDataSource",  # one that no catalog has any more
            "bedrock:DeleteKnowledgeBaseDocuments",
            # For deleting, and it starts none: bedrock/latest/userguide/kb-direct-ingestion-prereq
            "bedrock:StartIngestionJob",
            "bedrock:GetKnowledgeBaseDocuments",
            "bedrock:ListKnowledgeBaseDocuments",
            on=self.knowledge_base.knowledge_base_arns,
        )
        may_look(handler, knowledge_base=self.knowledge_base)
        self.rights.run(handler)
        return handler

    def _function(
        self,
        construct_id: str,
        package: str,
        *,
        seconds: int,
        megabytes: int = 512,
        environment: dict[str, str] | None = None,
        group: Group = CORE,
    ) -> HandlerFunction:
        return HandlerFunction(
            self.rights.scope,
            construct_id,
            deployment=self.rights.deployment,
            package=package,
            timeout=cdk.Duration.seconds(seconds),
            memory_size=megabytes,
            environment={**self.rights.stores(), **(environment or {})},
            group=group,
        )

    def _let_settle(self, handler: HandlerFunction) -> None:
        """Write down what became of documents, and admit the run that is next."""
        self.rights.settle(handler)
        self.rights.list_open(handler)
        self.rights.coordinate(handler)
        self.rights.remove_texts(handler)
        handler.allow("dynamodb:BatchGetItem", on=self._control())  # results of inspections
        self.rights.wake(handler)

    def _count_users(self, handler: HandlerFunction) -> None:
        """All catalogs of a user, against their caps."""
        handler.allow("dynamodb:Query", on=self.rights.data.catalog_table.by_user_arn)

    def _running(self) -> dict[str, str]:
        return {**self._pool(), "STATE_MACHINE_ARN": self.rights.state_machine_arn()}

    def _admitting(self) -> dict[str, str]:
        return {**self._pool(), **self.rights.deployment.admission.environment}

    def _pool(self) -> dict[str, str]:
        return {"KB_POOL": self.knowledge_base.pool_json}

    def _catalogs(self) -> str:
        return self.rights.data.catalog_table.table_arn

    def _control(self) -> str:
        return self.rights.data.control_table.table_arn
