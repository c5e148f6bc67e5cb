"""What is read of DynamoDB for a page of the console, of a large catalog as of a small one."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stackroom.aws.use_cases import UseCases
from stackroom.catalogs.listing import DOCUMENTS
from stackroom_local import clients
from stackroom_local.product import StoreSettings
from stackroom_local.state import Instance
from tests.large_catalogs import filled

SMALL, LARGE = 2 * DOCUMENTS, 5 * DOCUMENTS


def test_a_page_reads_as_much_however_many_documents_there_are(instance: Instance) -> None:
    read: Counter[str] = Counter()
    counted = _counting(instance, read)
    reads = {}
    for size in (SMALL, LARGE):
        with _catalog(instance, counted, size) as catalog_id:
            seen, after, pages = set[str](), None, list[dict[str, int]]()
            while after is not None or not pages:
                read.clear()
                listed = counted.listing.documents_of("lea-reads", catalog_id, after=after)
                assert counted.progress.of("lea-reads", catalog_id).total == size
                pages.append(dict(read))
                seen |= {each.document_id for each in listed.documents}
                after = listed.next
            reads[size] = pages
        assert len(seen) == size
        assert len(pages) == size / DOCUMENTS  # and no empty one behind the last

    few, many = (max(each["requests"] for each in reads[size]) for size in (SMALL, LARGE))
    assert few == many
    # A page, one more to know whether it goes on, the catalog itself, and who is before it.
    assert max(each["items"] for size in reads for each in reads[size]) <= DOCUMENTS + 10


@contextmanager
def _catalog(instance: Instance, use_cases: UseCases, size: int) -> Iterator[str]:
    """Gone afterwards: records without a file would make others' reconciliations much work."""
    catalog_id = filled(use_cases, "lea-reads", f"Of {size}", size)
    try:
        yield catalog_id
    finally:
        dynamodb: Any = clients.client("dynamodb", instance.aws_endpoint)
        pages = dynamodb.get_paginator("query").paginate(
            TableName=instance.catalog_table,
            KeyConditionExpression="catalog_id = :id",
            ExpressionAttributeValues={":id": {"S": catalog_id}},
        )
        keys = [
            {name: item[name] for name in ("catalog_id", "sk")}
            for page in pages
            for item in page["Items"]
        ]
        for first in range(0, len(keys), 25):
            deletions = [{"DeleteRequest": {"Key": key}} for key in keys[first : first + 25]]
            dynamodb.batch_write_item(RequestItems={instance.catalog_table: deletions})


def _counting(instance: Instance, read: Counter[str]) -> UseCases:
    """The use cases of the console's page, with what they read of DynamoDB counted."""

    def count(parsed: dict[str, Any], **_more: object) -> None:
        read["requests"] += 1
        read["items"] += parsed.get("ScannedCount", int("Item" in parsed))
        read["items"] += sum(map(len, parsed.get("Responses", {}).values()))

    def client(service: str) -> Any:
        made = clients.client(service, instance.aws_endpoint)
        made.meta.events.register("after-call.dynamodb", count, unique_id="reads")
        return made

    settings = StoreSettings(
        kb_catalog_table=instance.catalog_table,
        kb_control_table=instance.control_table,
        kb_docs_bucket=instance.bucket,
        ingest_speed=instance.speed,
    )
    return UseCases.of(settings, client)
