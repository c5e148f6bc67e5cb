"""What everybody says at a moment: bucket, records, index and searches, each read once."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from stackroom.audits.sources import known_sources
from stackroom.aws.inventory import AwsInventory
from stackroom.aws.knowledge_base import BedrockKnowledgeBase
from stackroom.keys import Location, is_ours, locate, unplaced_id_of, unplaced_partition
from stackroom.model import Catalog, Document
from stackroom.ports.inventory import ListedDocument, ListedObject
from stackroom.ports.retrieval import Passage
from stackroom.tenancy import Tenant
from tests.aws.stores import BUCKET, CATALOG_TABLE
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
        """By data source and identifier."""
        found = {}
        for member in self.world.pool:
            for known in known_sources(self.inventory, member.knowledge_base_id):
                page = self.inventory.indexed(known.source, None)
                for each in page.items if page else ():
                    found[known.source.data_source_id, each.identifier] = each
        return found

    @cached_property
    def passages(self) -> dict[str, list[Passage]]:
        """What each user finds, by document id."""
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
        shelf = unplaced_partition(place.user_id)
        return self.documents.get((shelf, unplaced_id_of(key)))

    @property
    def dynamodb(self) -> Any:
        return self.world.wire.client("dynamodb")
