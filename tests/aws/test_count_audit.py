"""A catalog's counters, put apart from its records by hand, and mended."""

from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from stackroom.aws.dynamodb.catalog_records import DynamoCatalogRegister
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.aws.dynamodb.items import to_item
from stackroom.aws.listed_inventory import AwsInventory
from stackroom.model.catalog_counts import Counts, counts_in
from stackroom.model.records import Catalog, Document, DocumentStatus
from stackroom.reconciler import count_audit
from stackroom.reconciler.count_audit import CountAudit
from stackroom.reconciler.discrepancies import Discrepancy, Kind, Outcome
from stackroom.reconciler.mending import Mending
from tests.aws.stores import BUCKET, CATALOG_TABLE, CONTROL_TABLE
from tests.support.records import NOW, a_catalog, a_document

CATALOG = a_catalog()
STATUSES = (DocumentStatus.PENDING, DocumentStatus.INDEXED, DocumentStatus.FAILED)


class Kept:
    """A catalog with documents that are open, indexed and failed, two pages of each."""

    def __init__(self, dynamodb: Any) -> None:
        self.client = dynamodb
        self.catalogs = DynamoCatalogRegister(
            client=dynamodb, table=CATALOG_TABLE, control_table=CONTROL_TABLE
        )
        self.documents = DynamoDocuments(client=dynamodb, table=CATALOG_TABLE)
        self.catalogs.open(CATALOG)
        for number in range(12):
            status = STATUSES[number % 3]
            why = "no text" if status is DocumentStatus.FAILED else None
            self.documents.save(
                a_document(
                    number,
                    catalog_id=CATALOG.catalog_id,
                    size=number,
                    status=status,
                    status_reason=why,
                )
            )

    @property
    def catalog(self) -> Catalog:
        found = self.catalogs.get(CATALOG.catalog_id)
        assert found is not None
        return found

    def document(self, number: int) -> Document:
        found = self.documents.get(CATALOG.catalog_id, f"doc-{number:04}")
        assert found is not None
        return found

    def audit(self, *, dry_run: bool = False) -> CountAudit:
        nobody: Any = None  # neither an upload nor a run is asked for
        audited: Any = SimpleNamespace(
            inventory=AwsInventory(
                s3=None,
                dynamodb=self.client,
                bedrock_agent=None,
                bucket=BUCKET,
                catalog_table=CATALOG_TABLE,
            ),
            catalogs=self.catalogs,
            documents=self.documents,
            mending=Mending(
                uploads=nobody,
                documents=self.documents,
                requests=nobody,
                inspections=nobody,
                dry_run=dry_run,
            ),
        )
        return CountAudit(audited)

    def mended(self, *, dry_run: bool = False) -> Iterator[Discrepancy]:
        cursor, goes_on = None, True
        while goes_on:
            cursor = yield from self.audit(dry_run=dry_run).step(cursor)
            goes_on = cursor is not None

    def found(self) -> list[tuple[Kind, Outcome]]:
        return [(each.kind, each.outcome) for each in self.mended()]

    def miscount(self, catalog: Catalog, **counts: int) -> None:
        key = to_item({"catalog_id": catalog.catalog_id, "sk": "METADATA"})
        for name, count in counts.items():
            self.client.update_item(
                TableName=CATALOG_TABLE,
                Key=key,
                UpdateExpression="SET #name = :count",
                ExpressionAttributeNames={"#name": name},
                ExpressionAttributeValues=to_item({":count": count}),
            )


@pytest.fixture
def kept(dynamodb: Any) -> Kept:
    return Kept(dynamodb)


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five documents are held at a time, and a catalog is a step."""
    monkeypatch.setattr(count_audit, "_STEP", 1)
    monkeypatch.setattr(count_audit, "_AT_ONCE", 5)


@pytest.mark.usefixtures("pages")
def test_wrong_catalog_counts_are_corrected_except_in_a_dry_run(
    kept: Kept,
) -> None:
    before = kept.client.scan(TableName=CATALOG_TABLE)["Items"]
    assert kept.found() == []  # books in order are left alone
    assert kept.client.scan(TableName=CATALOG_TABLE)["Items"] == before
    right = counts_in(kept.catalog)
    assert right == Counts(documents=12, size=66, failed=4, waiting=4, open=4)

    for counter in ("document_count", "total_bytes", "failed_count", "waiting_count", "open_count"):
        kept.miscount(CATALOG, **{counter: 77})
        (told,) = kept.mended(dry_run=True)
        assert (told.kind, told.outcome) == (Kind.WRONG_COUNTS, Outcome.LEFT)
        assert getattr(kept.catalog, counter) == 77
        assert kept.found() == [(Kind.WRONG_COUNTS, Outcome.MENDED)]
        assert counts_in(kept.catalog) == right

    assert kept.found() == []


@pytest.mark.usefixtures("pages")
def test_every_catalog_is_counted(kept: Kept) -> None:
    others = [a_catalog(number, user_id="bob") for number in range(3)]
    for each in others:
        kept.catalogs.open(each)
        kept.documents.save(a_document(catalog_id=each.catalog_id))
    kept.miscount(others[2], open_count=0)

    assert [(each.kind, each.what) for each in kept.mended()] == [
        (Kind.WRONG_COUNTS, others[2].catalog_id)
    ]


def test_audit_skips_catalogs_that_are_counted_meanwhile(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One goes and another of its size comes: the counters read as before."""
    kept.miscount(CATALOG, document_count=77)
    of_catalog = DynamoDocuments.of_catalog

    def exchanged(self: DynamoDocuments, catalog_id: str) -> Iterator[Document]:
        found = list(of_catalog(self, catalog_id))
        kept.documents.remove(kept.document(1))
        later = NOW + timedelta(seconds=1)
        new = a_document(101, later, catalog_id=CATALOG.catalog_id, size=1)
        kept.documents.save(new.moved(DocumentStatus.INDEXED, at=later))
        return iter(found)

    monkeypatch.setattr(DynamoDocuments, "of_catalog", exchanged)

    assert kept.found() == []
    assert kept.catalog.document_count == 77
