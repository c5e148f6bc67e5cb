"""Documents, worklists and listing, and requests for runs."""

from functools import cached_property

from stackroom.app.deployment import Deployment
from stackroom.aws.dynamodb.admission_records import DynamoAdmissionBook
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.aws.dynamodb.inspection_records import DynamoInspections
from stackroom.aws.dynamodb.lease_records import DynamoLeases, DynamoSlots, DynamoWorklists
from stackroom.aws.dynamodb.receipt_records import DynamoReceipts
from stackroom.aws.listed_inventory import AwsInventory
from stackroom.aws.s3.document_bucket import S3Files
from stackroom.aws.stepfunctions.executions import StepFunctionsExecutions
from stackroom.model.records import PoolMember
from stackroom.runs.run_leases import RunLeases, RunRequests, SharedSources
from stackroom.text.kept_texts import TextKeeping


class DocumentBuilder(Deployment):
    @cached_property
    def documents(self) -> DynamoDocuments:
        return DynamoDocuments(client=self._dynamodb, table=self._catalog_table)

    @cached_property
    def receipts(self) -> DynamoReceipts:
        return DynamoReceipts(client=self._dynamodb, table=self._control_table)

    @cached_property
    def inspections(self) -> DynamoInspections:
        return DynamoInspections(client=self._dynamodb, table=self._control_table)

    @cached_property
    def leases(self) -> DynamoLeases:
        return DynamoLeases(client=self._dynamodb, table=self._control_table)

    @cached_property
    def slots(self) -> DynamoSlots:
        return DynamoSlots(client=self._dynamodb, table=self._control_table)

    @cached_property
    def worklists(self) -> DynamoWorklists:
        return DynamoWorklists(client=self._dynamodb, table=self._control_table)

    @cached_property
    def admission_book(self) -> DynamoAdmissionBook:
        return DynamoAdmissionBook(client=self._dynamodb, table=self._control_table)

    @cached_property
    def files(self) -> S3Files:
        return S3Files(client=self.client("s3"), bucket=self._bucket_name)

    @cached_property
    def executions(self) -> StepFunctionsExecutions:
        return StepFunctionsExecutions(
            client=self.client("stepfunctions"),
            state_machine_arn=self.settings.need("state_machine_arn"),
        )

    @cached_property
    def text_keeping(self) -> TextKeeping:
        return TextKeeping(texts=self.texts, documents=self.documents, bucket=self.bucket)

    @cached_property
    def runs(self) -> RunLeases:
        return RunLeases(leases=self.leases, executions=self.executions, now=self.now)

    @cached_property
    def requests(self) -> RunRequests:
        return RunRequests(
            catalogs=self.catalogs,
            shared=self._shared_sources,
            worklists=self.worklists,
            runs=self.runs,
            pool=self.pool,
        )

    @cached_property
    def inventory(self) -> AwsInventory:
        return AwsInventory(
            s3=self.client("s3"),
            dynamodb=self._dynamodb,
            bedrock_agent=self.client("bedrock-agent"),
            bucket=self._bucket_name,
            catalog_table=self._catalog_table,
            managed=self._managed,
        )

    @cached_property
    def _shared_sources(self) -> SharedSources:
        return SharedSources(catalogs=self.catalogs, slots=self.slots, pool=self.pool)

    @property
    def _managed(self) -> frozenset[str]:
        # A function that only reads buckets and tables has no pool, and asks no knowledge base.
        pool: tuple[PoolMember, ...] = getattr(self.settings, "kb_pool", ())
        return frozenset(each.knowledge_base_id for each in pool if each.is_managed)
