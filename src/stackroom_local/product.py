"""The product's own use cases over what is deployed here, for the verbs that do something."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from stackroom.aws.admission import DynamoAdmissionBook
from stackroom.aws.bucket import S3DocumentBucket
from stackroom.aws.catalog_register import DynamoCatalogRegister
from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.executions import StepFunctionsExecutions
from stackroom.aws.leases import DynamoLeases
from stackroom.aws.receipts import DynamoReceipts
from stackroom.aws.settings import AdmissionSettings
from stackroom.aws.slots import DynamoSlots
from stackroom.deletions.deletions import Deletions
from stackroom.ingestion.retry import Retrying
from stackroom.runs.leases import Runs
from stackroom.uploads.reconcile import Uploads
from stackroom_local.clients import client
from stackroom_local.state import Instance, endpoint_variables

_SUFFIX = "-kb-control"


class Deployed(AdmissionSettings):
    """What the deployment has told its `ingest` function, which knows everything."""

    state_machine_arn: str


@dataclass(frozen=True)
class Product:
    instance: Instance

    def client(self, service: str) -> Any:
        specific = endpoint_variables(self.instance.aws_endpoint, self.instance.simulator_endpoint)
        variable = "AWS_ENDPOINT_URL_" + service.replace("-", "_").upper()
        return client(service, specific.get(variable, self.instance.aws_endpoint))

    @cached_property
    def deployed(self) -> Deployed:
        project = self.instance.control_table.removesuffix(_SUFFIX)
        answer = self.client("lambda").get_function_configuration(FunctionName=f"{project}-ingest")
        return Deployed.from_env(answer["Environment"]["Variables"])

    @property
    def catalogs(self) -> DynamoCatalogRegister:
        return DynamoCatalogRegister(
            client=self.client("dynamodb"),
            table=self.instance.catalog_table,
            control_table=self.instance.control_table,
        )

    @property
    def documents(self) -> DynamoDocuments:
        return DynamoDocuments(client=self.client("dynamodb"), table=self.instance.catalog_table)

    @property
    def bucket(self) -> S3DocumentBucket:
        return S3DocumentBucket(client=self.client("s3"), bucket=self.instance.bucket)

    @property
    def receipts(self) -> DynamoReceipts:
        return DynamoReceipts(client=self.client("dynamodb"), table=self.instance.control_table)

    @property
    def leases(self) -> DynamoLeases:
        return DynamoLeases(client=self.client("dynamodb"), table=self.instance.control_table)

    @property
    def slots(self) -> DynamoSlots:
        return DynamoSlots(client=self.client("dynamodb"), table=self.instance.control_table)

    @property
    def book(self) -> DynamoAdmissionBook:
        return DynamoAdmissionBook(
            client=self.client("dynamodb"), table=self.instance.control_table
        )

    @property
    def runs(self) -> Runs:
        return Runs(
            leases=self.leases,
            executions=StepFunctionsExecutions(
                client=self.client("stepfunctions"),
                state_machine_arn=self.deployed.state_machine_arn,
            ),
        )

    @property
    def retrying(self) -> Retrying:
        return Retrying(catalogs=self.catalogs, documents=self.documents, runs=self.runs)

    @property
    def deletions(self) -> Deletions:
        return Deletions(
            catalogs=self.catalogs,
            documents=self.documents,
            bucket=self.bucket,
            receipts=self.receipts,
            uploads=Uploads(
                catalogs=self.catalogs,
                documents=self.documents,
                bucket=self.bucket,
                receipts=self.receipts,
            ),
            runs=self.runs,
        )
