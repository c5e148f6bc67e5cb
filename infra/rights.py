"""The variables and rights that several functions share."""

from dataclasses import dataclass

import aws_cdk as cdk

from infra.bucket_policy import SIDECARS, TEXTS
from infra.data import DataStack
from infra.deployment import Deployment
from infra.function import HandlerFunction


@dataclass(frozen=True, kw_only=True)
class Rights:
    scope: cdk.Stack
    deployment: Deployment
    data: DataStack

    def stores(self) -> dict[str, str]:
        return {
            "KB_CATALOG_TABLE": self.data.catalog_table.table_name,
            "KB_CONTROL_TABLE": self.data.control_table.table_name,
            "KB_DOCS_BUCKET": self.data.bucket.bucket_name,
        }

    def state_machine_arn(self) -> str:
        """
        Return the ARN by its name, since the state machine itself needs these functions first.
        """
        return self.deployment.state_machine_arn(self.scope)

    def settle(self, handler: HandlerFunction) -> None:
        """Allow to read records, and to settle documents."""
        handler.allow(
            "dynamodb:GetItem",
            "dynamodb:BatchGetItem",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
            "dynamodb:DeleteItem",
            on=self.data.catalog_table.table_arn,
        )

    def list_open(self, handler: HandlerFunction) -> None:
        handler.allow("dynamodb:Query", on=self.data.catalog_table.open_arn)

    def list_documents(self, handler: HandlerFunction) -> None:
        """Allow to list a catalog's documents, whatever their state."""
        handler.allow("dynamodb:Query", on=self.data.catalog_table.table_arn)

    def list_failed(self, handler: HandlerFunction) -> None:
        handler.allow("dynamodb:Query", on=self.data.catalog_table.failed_arn)

    def coordinate(self, handler: HandlerFunction) -> None:
        """Allow the use of leases, slots, receipts, and Bedrock's queue with its ledger."""
        handler.allow(
            "dynamodb:GetItem",
            "dynamodb:Query",
            "dynamodb:PutItem",
            "dynamodb:UpdateItem",
            "dynamodb:DeleteItem",
            on=self.data.control_table.table_arn,
        )

    def list_live_runs(self, handler: HandlerFunction) -> None:
        handler.allow("dynamodb:Query", on=self.data.control_table.live_arn)

    def list_bucket(self, handler: HandlerFunction) -> None:
        """Allow ListBucket, without which reading a missing object responds with 403, not 404."""
        handler.allow("s3:ListBucket", on=self.data.bucket.bucket_arn)

    def read_documents(self, handler: HandlerFunction) -> None:
        self.list_bucket(handler)
        handler.allow(
            "s3:GetObject",
            on=self.deployment.document_arns(self.scope, "*"),
            because="A document may lie under any key.",
        )

    def read_sidecars(self, handler: HandlerFunction) -> None:
        self.list_bucket(handler)
        self._on_sidecars(handler, "s3:GetObject")

    def write_sidecars(self, handler: HandlerFunction) -> None:
        self._on_sidecars(handler, "s3:PutObject", "s3:DeleteObject")

    def texts(self) -> str:
        return self.deployment.document_arns(self.scope, TEXTS)

    def remove_texts(self, handler: HandlerFunction) -> None:
        """Allow to delete texts that no version of their document needs, as a listing shows."""
        self.list_bucket(handler)
        handler.allow("s3:ListBucketVersions", on=self.data.bucket.bucket_arn)
        handler.allow("s3:DeleteObject", on=self.texts(), because="One text per version.")

    def run(self, handler: HandlerFunction) -> None:
        executions = self.deployment.state_machine_arn(self.scope, "execution")
        handler.allow("states:StartExecution", on=self.state_machine_arn())
        handler.allow("states:DescribeExecution", on=executions, because="One execution per run.")

    def wake(self, handler: HandlerFunction) -> None:
        """
        Allow to tell a parked run that it is admitted; the action has no resource type, so AWS
        requires *.

        https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsstepfunctions.html
        """
        handler.allow(
            "states:SendTaskSuccess",
            on="*",
            because="It takes a task's token, which only that task's run has given away.",
        )

    def _on_sidecars(self, handler: HandlerFunction, *actions: str) -> None:
        handler.allow(
            *actions,
            on=self.deployment.document_arns(self.scope, SIDECARS),
            because="One sidecar per document.",
        )
