"""The reconciliation of a deployment, for the function and for the command line alike."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from stackroom.audits.discrepancies import QUIET
from stackroom.audits.mending import Mending
from stackroom.audits.reconciliation import Auditors, Reconciliation, Stage
from stackroom.aws.admission import DynamoAdmissionBook
from stackroom.aws.bucket import S3DocumentBucket
from stackroom.aws.catalog_register import DynamoCatalogRegister
from stackroom.aws.direct_documents import BedrockDirectDocuments
from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.executions import StepFunctionsExecutions
from stackroom.aws.ingestion_jobs import BedrockIngestionJobs
from stackroom.aws.inventory import AwsInventory
from stackroom.aws.knowledge_base import BedrockKnowledgeBase
from stackroom.aws.leases import DynamoLeases
from stackroom.aws.receipts import DynamoReceipts
from stackroom.aws.slots import DynamoSlots
from stackroom.model import PoolMember
from stackroom.ports.inventory import Bookmark
from stackroom.runs.leases import Runs
from stackroom.uploads.reconcile import Uploads


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """`client` makes the boto3 client of a service."""

    client: Callable[[str], Any]
    catalog_table: str
    control_table: str
    bucket: str
    pool: Sequence[PoolMember]
    state_machine_arn: str

    def reconciliation(
        self,
        *,
        bookmark: Bookmark,
        dry_run: bool = False,
        quiet: timedelta = QUIET,
        seconds_between_pages: float = 0.5,
        on_step: Callable[[Stage], None] | None = None,
    ) -> Reconciliation:
        """
        `seconds_between_pages`: List- and GetKnowledgeBaseDocuments share five requests a second
        [AWS General Reference: Amazon Bedrock quotas], and the runs need most of them.
        """
        dynamodb, agent = self.client("dynamodb"), self.client("bedrock-agent")
        auditors = Auditors(
            inventory=AwsInventory(
                s3=self.client("s3"),
                dynamodb=dynamodb,
                bedrock_agent=agent,
                bucket=self.bucket,
                catalog_table=self.catalog_table,
            ),
            mending=Mending(
                uploads=self._uploads(), runs=self._runs(), dry_run=dry_run, quiet=quiet
            ),
            book=DynamoAdmissionBook(client=dynamodb, table=self.control_table),
            slots=DynamoSlots(client=dynamodb, table=self.control_table),
            jobs=BedrockIngestionJobs(client=agent),
            direct=BedrockDirectDocuments(client=agent),
            knowledge_base=lambda each: BedrockKnowledgeBase(
                self.client("bedrock-agent-runtime"), each
            ),
            pool=self.pool,
            pause=lambda: time.sleep(seconds_between_pages),
        )
        return Reconciliation(audits=auditors.audits(), bookmark=bookmark, on_step=on_step)

    def _uploads(self) -> Uploads:
        dynamodb = self.client("dynamodb")
        return Uploads(
            catalogs=DynamoCatalogRegister(
                client=dynamodb, table=self.catalog_table, control_table=self.control_table
            ),
            documents=DynamoDocuments(client=dynamodb, table=self.catalog_table),
            bucket=S3DocumentBucket(client=self.client("s3"), bucket=self.bucket),
            receipts=DynamoReceipts(client=dynamodb, table=self.control_table),
        )

    def _runs(self) -> Runs:
        return Runs(
            leases=DynamoLeases(client=self.client("dynamodb"), table=self.control_table),
            executions=StepFunctionsExecutions(
                client=self.client("stepfunctions"), state_machine_arn=self.state_machine_arn
            ),
        )
