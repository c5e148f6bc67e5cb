"""What people ask for: deletions and retries, by the use cases behind the command line."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from stackroom.aws.bucket import S3DocumentBucket
from stackroom.aws.catalog_register import DynamoCatalogRegister
from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.executions import StepFunctionsExecutions
from stackroom.aws.leases import DynamoLeases
from stackroom.aws.receipts import DynamoReceipts
from stackroom.deletions.deletions import Deletions
from stackroom.errors import CatalogNotFound, DocumentNotFound
from stackroom.ingestion.retry import Retrying
from stackroom.keys import Location, locate
from stackroom.runs.leases import Runs
from stackroom.uploads.reconcile import Uploads


@dataclass(frozen=True)
class Command:
    """`key` is a document's; of a catalog's, any key in it."""

    action: Literal["delete_document", "delete_catalog", "retry"]
    key: str


def run(command: Command, client: Callable[[str], Any], environment: Mapping[str, str]) -> None:
    place = locate(command.key)
    assert isinstance(place, Location), "people name what has its place"
    catalogs = DynamoCatalogRegister(
        client=client("dynamodb"),
        table=environment["KB_CATALOG_TABLE"],
        control_table=environment["KB_CONTROL_TABLE"],
    )
    documents = DynamoDocuments(client=client("dynamodb"), table=environment["KB_CATALOG_TABLE"])
    runs = Runs(
        leases=DynamoLeases(client=client("dynamodb"), table=environment["KB_CONTROL_TABLE"]),
        executions=StepFunctionsExecutions(
            client=client("stepfunctions"), state_machine_arn=environment["STATE_MACHINE_ARN"]
        ),
    )
    bucket = S3DocumentBucket(client=client("s3"), bucket=environment["KB_DOCS_BUCKET"])
    receipts = DynamoReceipts(client=client("dynamodb"), table=environment["KB_CONTROL_TABLE"])
    deletions = Deletions(
        catalogs=catalogs,
        documents=documents,
        bucket=bucket,
        receipts=receipts,
        uploads=Uploads(catalogs=catalogs, documents=documents, bucket=bucket, receipts=receipts),
        runs=runs,
    )
    with suppress(CatalogNotFound, DocumentNotFound):  # gone already
        match command.action:
            case "delete_document":
                deletions.delete_document(place.user_id, place.catalog_id, place.document_id)
            case "delete_catalog":
                deletions.delete_catalog(place.user_id, place.catalog_id)
            case "retry":
                Retrying(catalogs=catalogs, documents=documents, runs=runs).retry(
                    place.user_id, place.catalog_id
                )
