"""The pipeline's functions, with their variables and rights."""

from dataclasses import dataclass

import aws_cdk as cdk

from infra.bundling import CORE, INSPECT, Group
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from infra.rights import Rights
from infra.search_rights import grant_index_lookup


@dataclass(frozen=True, kw_only=True)
class PipelineFunctions:
    rights: Rights
    knowledge_base: KnowledgeBaseStack

    def upload_handler(self) -> HandlerFunction:
        handler = self._function(
            "UploadHandler",
            "upload_handler",
            seconds=60,
            # Its messages run in parallel and share the processor, of which this is half.
            megabytes=1024,
            environment=self._run_environment(),
        )
        handler.allow(
            "dynamodb:GetItem",
            "dynamodb:BatchGetItem",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
            "dynamodb:DeleteItem",
            on=self._catalogs(),
        )
        # Another catalog may have been renamed to the name of the one to open.
        handler.allow("dynamodb:Query", on=self.rights.data.catalog_table.by_user_arn)
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
            seconds=11 * 60,  # ten minutes to read a file, and one for the rest
            megabytes=1536,
            environment={
                **self._run_environment(),
                **self.rights.deployment.ingestion.inspection_environment,
            },
            group=INSPECT,
        )
        # It releases a document for ingestion, which the catalog counts as open.
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
            megabytes=1024,  # for its processor: calls of Bedrock wait for what a task computes
            environment={
                **self._run_environment(),
                **self._admission_environment(),
                **self.rights.deployment.ingestion.data_source_environment(self.rights.scope),
                **self.knowledge_base.data_source_environment,
            },
        )
        self._grant_settle(handler)
        self.rights.list_documents(handler)
        self._grant_user_counts(handler)
        self.rights.list_live_runs(handler)
        self.rights.read_sidecars(handler)
        # To retain vectors that can't be deleted, which MANAGED data sources never do.
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
            on=self.knowledge_base.knowledge_base_arns,
        )
        grant_index_lookup(handler, knowledge_base=self.knowledge_base)
        self.rights.run(handler)
        return handler

    def status_poller(self) -> HandlerFunction:
        handler = self._function(
            "StatusPoller",
            "status_poller",
            seconds=120,
            megabytes=1024,
            environment=self._admission_environment(),
        )
        self._grant_settle(handler)
        self.rights.list_failed(handler)  # failed documents that a job has indexed after all
        handler.allow(
            "bedrock:GetIngestionJob",
            "bedrock:StopIngestionJob",
            "bedrock:ListKnowledgeBaseDocuments",
            "bedrock:GetKnowledgeBaseDocuments",
            on=self.knowledge_base.knowledge_base_arns,
        )
        grant_index_lookup(handler, knowledge_base=self.knowledge_base)
        return handler

    def reconciler(self) -> HandlerFunction:
        """
        Create the reconciler with Lambda's longest timeout; it continues where it stopped, page by
        page.
        """
        handler = self._function(
            "Reconciler", "reconciler", seconds=15 * 60, environment=self._run_environment()
        )
        self.rights.settle(handler)
        self.rights.list_open(handler)
        self.rights.list_documents(handler)
        self._grant_user_counts(handler)
        handler.allow("dynamodb:Scan", on=self._catalogs())
        handler.allow("dynamodb:Scan", on=self.rights.data.catalog_table.by_user_arn)
        self.rights.coordinate(handler)
        self.rights.list_live_runs(handler)
        self.rights.read_documents(handler)
        self.rights.write_sidecars(handler)
        # To delete a catalog for an operator, with all versions of its documents.
        handler.allow("s3:ListBucketVersions", on=self.rights.data.bucket.bucket_arn)
        handler.allow(
            "s3:DeleteObject",  # which DeleteObjects requires besides the other [its API reference]
            "s3:DeleteObjectVersion",
            on=self.rights.deployment.document_arns(self.rights.scope, "*"),
            because="A document may lie under any key.",
        )
        handler.allow(
            "bedrock:ListDataSources",
            "bedrock:GetDataSource",
            "bedrock:DeleteDataSource",  # of data sources that no catalog uses any more
            "bedrock:DeleteKnowledgeBaseDocuments",
            # Deleting requires it, though it starts no job:
            # bedrock/latest/userguide/kb-direct-ingestion-prereq
            "bedrock:StartIngestionJob",
            "bedrock:GetKnowledgeBaseDocuments",
            "bedrock:ListKnowledgeBaseDocuments",
            on=self.knowledge_base.knowledge_base_arns,
        )
        grant_index_lookup(handler, knowledge_base=self.knowledge_base)
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

    def _grant_settle(self, handler: HandlerFunction) -> None:
        """Allow to settle documents, and to admit the next run."""
        self.rights.settle(handler)
        self.rights.list_open(handler)
        self.rights.coordinate(handler)
        self.rights.remove_texts(handler)
        handler.allow("dynamodb:BatchGetItem", on=self._control())  # inspections' results
        self.rights.wake(handler)

    def _grant_user_counts(self, handler: HandlerFunction) -> None:
        """Allow to count all catalogs of a user, against their caps."""
        handler.allow("dynamodb:Query", on=self.rights.data.catalog_table.by_user_arn)

    def _run_environment(self) -> dict[str, str]:
        return {**self._pool_environment(), "STATE_MACHINE_ARN": self.rights.state_machine_arn()}

    def _admission_environment(self) -> dict[str, str]:
        return {**self._pool_environment(), **self.rights.deployment.admission.environment}

    def _pool_environment(self) -> dict[str, str]:
        return {"KB_POOL": self.knowledge_base.pool_json}

    def _catalogs(self) -> str:
        return self.rights.data.catalog_table.table_arn

    def _control(self) -> str:
        return self.rights.data.control_table.table_arn
