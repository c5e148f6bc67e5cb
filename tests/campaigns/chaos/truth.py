"""
Compares bucket, records, index and searches, and checks that nothing else is left.

It looks with its own eyes, through the adapters' plain readings, and never through the reconciler.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from stackroom.access.tenancy import Tenant
from stackroom.aws.bedrock.bedrock_adapter import BedrockKnowledgeBase
from stackroom.aws.dynamodb.admission_records import DynamoAdmissionBook
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.aws.dynamodb.lease_records import DynamoLeases, DynamoSlots, DynamoWorklists
from stackroom.aws.dynamodb.receipt_records import DynamoReceipts
from stackroom.aws.listed_inventory import AwsInventory
from stackroom.model.catalog_counts import Counts, counts_in
from stackroom.model.keys import (
    TEXT_PREFIX,
    Location,
    is_ours,
    locate,
    text_name_of,
)
from stackroom.model.passages import Passage
from stackroom.model.records import (
    Catalog,
    CatalogStatus,
    DataSourceType,
    Document,
    DocumentStatus,
)
from stackroom.reconciler.control_audit import known_sources
from stackroom.runs.inventory import ListedDocument, ListedObject
from stackroom.runs.ledger import Mode
from stackroom.runs.placement import catalog_named_in
from stackroom.runs.run_leases import shared_worklist
from tests.aws.stores import BUCKET, CATALOG_TABLE, CONTROL_TABLE
from tests.campaigns.chaos.world import World


@dataclass(frozen=True)
class Readings:
    world: World

    @cached_property
    def inventory(self) -> AwsInventory:
        client = self.world.wire.client
        return AwsInventory(
            s3=client("s3"),
            dynamodb=client("dynamodb"),
            bedrock_agent=client("bedrock-agent"),
            bucket=BUCKET,
            catalog_table=CATALOG_TABLE,
        )

    @cached_property
    def objects(self) -> dict[str, ListedObject]:
        listed = self.inventory.objects().items
        return {each.key: each for each in listed if not is_ours(each.key)}

    @cached_property
    def records(self) -> list[Catalog | Document]:
        page = self.inventory.records(None)
        assert page.next is None, "a world is small"
        return list(page.items)

    @cached_property
    def documents(self) -> dict[tuple[str, str], Document]:
        found = [each for each in self.records if isinstance(each, Document)]
        return {(each.catalog_id, each.document_id): each for each in found}

    @cached_property
    def catalogs(self) -> dict[str, Catalog]:
        return {each.catalog_id: each for each in self.records if isinstance(each, Catalog)}

    @cached_property
    def listed(self) -> dict[tuple[str, str], ListedDocument]:
        """Return the listed documents by data source and identifier."""
        found = {}
        for member in self.world.pool:
            for known in known_sources(self.inventory, member.knowledge_base_id):
                page = self.inventory.indexed(known.source, None)
                for each in page.items if page else ():
                    found[known.source.data_source_id, each.identifier] = each
        return found

    @cached_property
    def passages(self) -> dict[str, list[Passage]]:
        """Return the passages that each user finds, by document id."""
        found: dict[str, list[Passage]] = defaultdict(list)
        users = {each.user_id for each in self.catalogs.values()}
        users |= {key.partition("/")[0] for key in self.objects} | {"alice", "bob"}
        runtime = self.world.wire.client("bedrock-agent-runtime")
        for user in sorted(users):
            for member in self.world.pool:
                searched = BedrockKnowledgeBase(runtime, member.knowledge_base_id)
                for each in searched.retrieve("text", Tenant(user).filter(), 100).passages:
                    assert each.attributes["user_id"] == user, "nobody sees another's"
                    found[str(each.attributes["document_id"])].append(each)
        return found

    @cached_property
    def nobodys(self) -> list[str]:
        """Sources of what a search without any filter finds, and no user does."""
        users = {each.user_id for each in self.catalogs.values()}
        runtime = self.world.wire.client("bedrock-agent-runtime")
        sources = set()
        for member in self.world.pool:
            searched = BedrockKnowledgeBase(runtime, member.knowledge_base_id)
            passages = searched.retrieve("text", None, 100).passages
            assert len(passages) < 100, "a world is small"
            for each in passages:
                if each.attributes.get("user_id") not in users:
                    sources.add(str(each.uri or each.custom_id))
        return sorted(sources)

    def record_of(self, key: str) -> Document | None:
        place = locate(key)
        if isinstance(place, Location):
            found = self.documents.get((place.catalog_id, place.document_id))
            if found is not None:
                return found
        unplaced = place.unplaced()
        return self.documents.get((unplaced.partition, unplaced.document_id))

    @property
    def dynamodb(self) -> Any:
        return self.world.wire.client("dynamodb")


_SETTLED = (DocumentStatus.INDEXED, DocumentStatus.FAILED)


def discrepancies(world: World) -> list[str]:
    """Everything that is not as promised; empty once all is well."""

    def differences() -> list[str]:
        truth = Truth(world)
        return [
            *truth.of_objects(),
            *truth.of_records(),
            *truth.of_catalogs(),
            *truth.of_index(),
            *truth.of_quarantine(),
            *truth.of_receipts(),
            *truth.of_texts(),
            *truth.of_leftovers(),
        ]

    found: list[str] = world.do(differences)
    return found


class Truth(Readings):
    """Each method tells of one side what the others deny."""

    def of_objects(self) -> Iterator[str]:
        for key in self.objects:
            if self.record_of(key) is None:
                yield f"lost: {key} has no record"

    def of_records(self) -> Iterator[str]:
        for document in self.documents.values():
            here = self.objects.get(document.s3_key)
            told = f"{document.s3_key} is {document.status}"
            if document.status not in _SETTLED:
                yield f"unsettled: {told}"
            if here is None:
                yield f"left over: {told}, but there is no such object"
                continue
            if here.etag != document.etag:
                yield f"stale: {told}, as another version"
            if document.status is DocumentStatus.FAILED:
                if document.s3_key not in self.world.may_fail:
                    yield f"false failure: {told}: {document.status_reason}"
            elif document.s3_key in self.world.must_fail:
                yield f"false success: {told}"
            if document.lingering:
                yield f"lingering: {told}"

    def of_index(self) -> Iterator[str]:
        wanted = set()
        for document in self.documents.values():
            catalog = self.catalogs.get(document.catalog_id)
            is_indexed = document.status is DocumentStatus.INDEXED
            yield from self._of_passages(document, is_indexed)
            if catalog is None:
                if is_indexed:
                    yield f"adrift: {document.s3_key} is indexed, in no catalog"
                continue
            source = catalog.source
            if source is None:
                if is_indexed:
                    yield f"adrift: {document.s3_key} is indexed, in no place"
                continue
            own = source.type is DataSourceType.S3
            identifier = f"s3://{BUCKET}/{document.s3_key}" if own else document.document_id
            name = (source.data_source_id, identifier)
            wanted.add(name)
            status = self.listed[name].detail.status if name in self.listed else "NOT_FOUND"
            if is_indexed != (status == "INDEXED") and document.s3_key not in self.world.may_fail:
                yield f"status: {document.s3_key} is {document.status}, Bedrock says {status}"
        for name, listed in self.listed.items():
            if name not in wanted and listed.identifier not in self.quarantined:
                yield f"orphan: {listed.identifier} in {name[0]} is {listed.detail.status}"
        known = {each.document_id for each in self.documents.values()}
        for document_id in self.passages.keys() - known:
            yield f"ghost: {document_id} is found, and has no record"

    def of_quarantine(self) -> Iterator[str]:
        for source in self.nobodys:
            if source not in self.quarantined:
                yield f"quarantine: {source} is in an index, and nobody's"

    @cached_property
    def quarantined(self) -> set[str]:
        """Return what ingestion jobs crawl and no user's search finds."""
        return {
            f"s3://{BUCKET}/{key}"
            for key in self.objects
            if key in self.world.must_fail and self.world.terms.by_jobs
        }

    def _of_passages(self, document: Document, is_indexed: bool) -> Iterator[str]:
        texts = [each.text for each in self.passages.get(document.document_id, [])]
        if not is_indexed and texts:
            yield f"search: {document.s3_key} is {document.status}, and found: {texts}"
        if is_indexed and len(texts) != 1:
            yield f"search: {document.s3_key} is indexed, and found {len(texts)} times"
        elif is_indexed and document.etag not in texts[0]:
            yield f"search: {document.s3_key} is found as another version"

    def of_texts(self) -> Iterator[str]:
        listed = self.inventory.objects(prefix=TEXT_PREFIX).items
        names = {each for item in listed if (each := text_name_of(item.key)) is not None}
        if 2 * len(names) != len(listed):
            yield f"text: {len(names)} of {len(listed)} objects are texts, and half should be"
        there = {(each.document_id, each.text_id) for each in names}
        wanted = {
            (each.document_id, text_id)
            for each in self.documents.values()
            for text_id in each.text_ids
        }
        yield from (f"text: nobody needs {text_id} of {each}" for each, text_id in there - wanted)
        yield from (f"text: {text_id} of {each} is lost" for each, text_id in wanted - there)

    def of_catalogs(self) -> Iterator[str]:
        for catalog in self.catalogs.values():
            shelf = [
                each for each in self.documents.values() if each.catalog_id == catalog.catalog_id
            ]
            failed = sum(each.status is DocumentStatus.FAILED for each in shelf)
            if catalog.status in (CatalogStatus.INDEXING, CatalogStatus.DELETING):
                yield f"catalog: {catalog.s3_prefix} is {catalog.status}"
            counted = Counts(
                documents=len(shelf), size=sum(each.size for each in shelf), failed=failed
            )
            if counts_in(catalog) != counted:
                told = f"{counts_in(catalog)}, it has {counted}"
                yield f"totals: {catalog.s3_prefix} says {told}"
        yield from self._of_places()

    def _of_places(self) -> Iterator[str]:
        slots = DynamoSlots(client=self.dynamodb, table=CONTROL_TABLE)
        for member in self.world.pool:
            named = Counter(
                catalog_named_in(each.name)
                for each in known_sources(self.inventory, member.knowledge_base_id)
            )
            for catalog_id in named.keys() - self.catalogs.keys() - {None}:
                yield f"data source: that of {catalog_id} is nobody's"
            for catalog_id, count in named.items():
                if catalog_id is not None and count > 1:
                    yield f"data source: {catalog_id} has {count}"
            for holder in slots.holders(member.knowledge_base_id):
                if holder not in self.catalogs:
                    yield f"slot: {holder} holds one, and is gone"

    def of_receipts(self) -> Iterator[str]:
        receipts = DynamoReceipts(client=self.dynamodb, table=CONTROL_TABLE)
        kept = [each for user in ("alice", "bob") for each in receipts.of_user(user)]
        for receipt in kept:
            if receipt.is_open:
                yield f"receipt: that of {receipt.filename} is open"
        removed = Counter(each.document_id for each in kept if each.unsearchable_since is not None)
        for key in self.world.deleted:
            if (telling := removed[locate(key).document_id]) != 1:
                yield f"receipt: {telling} tell that {key} is gone"

    def of_leftovers(self) -> Iterator[str]:
        for lease in DynamoLeases(client=self.dynamodb, table=CONTROL_TABLE).held():
            yield f"lease: {lease.execution_name}"
        for execution in self.world.workflow.executions.values():
            if execution.status == "RUNNING":
                yield f"execution: {execution.name} in {execution.state}"
        yield from self._of_turns()
        yield from self._of_worklists()
        for queue in self.world.account.queues:
            for each in queue.dead:
                yield f"dead letter: {each.body}"

    def _of_worklists(self) -> Iterator[str]:
        """Catalogs that a run has yet to come to, and what else lists documents as open."""
        worklists = DynamoWorklists(client=self.dynamodb, table=CONTROL_TABLE)
        for member in self.world.pool:
            worklist_id = shared_worklist(member.knowledge_base_id)
            for entry in worklists.entries(worklist_id, limit=100):
                yield f"worklist: {entry.catalog_id} waits in {worklist_id}"
        documents = DynamoDocuments(client=self.dynamodb, table=CATALOG_TABLE)
        for catalog in self.catalogs.values():
            for document in documents.open_in(catalog.catalog_id):
                yield f"open: {document.s3_key}"

    def _of_turns(self) -> Iterator[str]:
        book = DynamoAdmissionBook(client=self.dynamodb, table=CONTROL_TABLE)
        for grant in book.read().grants:
            yield f"grant: {grant.worklist_id}-{grant.epoch} {grant.mode}"
        for member in self.world.pool:
            for mode in Mode:
                for waiter in book.waiting(member.knowledge_base_id, mode, limit=10):
                    yield f"waiter: {waiter.worklist_id}-{waiter.epoch} {waiter.mode}"
