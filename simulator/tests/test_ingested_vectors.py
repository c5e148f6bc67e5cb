"""Vectors that Bedrock wrote into an index, read and queried through S3 Vectors."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from bedrock_kb_simulator.assumptions import Assumptions, CustomTells
from simulator.tests.holding import holds
from simulator.tests.world import (
    ASKED_FOR,
    CUSTOM,
    World,
    at,
    by_location,
    eventually,
    inline,
)

TEXT = "AMAZON_BEDROCK_TEXT"
SOURCE = "x-amz-bedrock-kb-source-uri"


@dataclass(frozen=True)
class Base:
    """A knowledge base with a CUSTOM data source and an index with text search."""

    world: World
    index: str
    knowledge_base: str
    source: str

    def ingest(self, identifier: str, text: str, **attributes: str) -> None:
        self.world.agent.ingest_knowledge_base_documents(
            **at(self.knowledge_base, self.source),
            documents=[inline(identifier, text, **(attributes or {"any": "thing"}))],
        )

    def drop(self, identifier: str) -> None:
        self.world.agent.delete_knowledge_base_documents(
            **at(self.knowledge_base, self.source),
            documentIdentifiers=[{"dataSourceType": "CUSTOM", "custom": {"id": identifier}}],
        )

    def found(self, text: str, **more: Any) -> list[dict[str, Any]]:
        return self.world.query(self.index, texts={TEXT: text}, returnMetadata=True, **more)

    def sources(self, text: str, **more: Any) -> list[str]:
        """Return the documents of the vectors that a text finds."""
        return [vector["metadata"][SOURCE] for vector in self.found(text, **more)]

    def embedded(self, text: str) -> list[float]:
        answer = self.world.bedrock_runtime.invoke_model(
            modelId="amazon.titan-embed-text-v2:0", body=json.dumps({"inputText": text})
        )
        vector: list[float] = json.loads(answer["body"].read())["embedding"]
        return vector


def base(world: World) -> Base:
    index = world.index(searched={TEXT: "en"}, non_filterable=ASKED_FOR)
    knowledge_base = world.knowledge_base(index)
    source = world.data_source(knowledge_base, dataSourceConfiguration=CUSTOM)
    return Base(world, index, knowledge_base, source)


@holds("vector.source-uri")
def test_ingested_passage_is_found_with_metadata_until_replaced_or_deleted(
    world: World,
) -> None:
    here = base(world)
    here.ingest("otters", "Otters hold hands while they sleep.", owner="alice")

    [found] = eventually(lambda: here.found("otter hands"))
    retrieved = world.search(here.knowledge_base, "otters")
    here.ingest("otters", "Granite is hard.", owner="bob")
    eventually(lambda: here.sources("granite", filter={"owner": "bob"}) == ["otters"])
    replaced = here.sources("otter")
    here.drop("otters")
    eventually(lambda: here.sources("granite") == [])
    here.ingest("more", "Otters swim.")
    [more] = eventually(lambda: here.found("otter"))
    world.s3vectors.delete_vectors(indexArn=here.index, keys=[more["key"]])

    metadata = found["metadata"]
    assert metadata.pop("x-amz-bedrock-kb-chunk-id") == found["key"]
    assert json.loads(metadata.pop("AMAZON_BEDROCK_METADATA"))
    assert metadata == {
        TEXT: "Otters hold hands while they sleep.",
        "owner": "alice",
        SOURCE: "otters",
        "x-amz-bedrock-kb-data-source-id": here.source,
    }
    assert (len(retrieved), replaced) == (1, [])
    assert world.search(here.knowledge_base, "otters") == here.found("otters") == []
    assert world.s3vectors.list_vectors(indexArn=here.index)["vectors"] == []


@holds("retrieve.custom-location")
@pytest.mark.parametrize("tells", CustomTells)
def test_custom_document_with_content_in_s3_is_located_as_assumed(
    world_at: Callable[..., World], tells: CustomTells
) -> None:
    world = world_at(100, patient=True, assumptions=Assumptions(custom_documents_tell=tells))
    here = base(world)
    uri = world.put("otters.txt", "Otters hold hands.")
    world.agent.ingest_knowledge_base_documents(
        **at(here.knowledge_base, here.source), documents=[by_location("otters", uri, any="thing")]
    )
    [found] = eventually(lambda: here.found("otter hands"))
    [retrieved] = world.search(here.knowledge_base, "otters")
    noted = found["metadata"].get(SOURCE)
    by_key = {"equals": {"key": SOURCE, "value": noted or "otters"}}
    sought = world.search(here.knowledge_base, "otters", by_key)
    queried = here.found("otters", filter={SOURCE: noted or "otters"})
    here.drop("otters")
    eventually(lambda: here.found("otter hands") == [])

    own_id = {"customDocumentLocation": {"id": "otters"}}
    expected: dict[CustomTells, tuple[dict[str, Any], str | None]] = {
        CustomTells.CUSTOM_ID: ({"type": "CUSTOM", **own_id}, "otters"),
        CustomTells.LOCATION: ({"type": "S3", "s3Location": {"uri": uri}}, uri),
        CustomTells.WITHOUT_URI: ({"type": "CUSTOM", **own_id}, None),
    }
    assert (retrieved["location"], noted) == expected[tells]
    assert retrieved["metadata"].get(SOURCE) == noted
    assert retrieved["metadata"]["x-amz-bedrock-kb-data-source-id"] == here.source
    assert len(sought) == len(queried) == (0 if noted is None else 1)
    assert world.search(here.knowledge_base, "otters") == []


@holds("retrieve.put")
def test_retrieve_finds_only_vectors_with_bedrocks_own_keys(world: World) -> None:
    here = base(world)
    vector = here.embedded("Otters hold hands.")
    own = {"x-amz-bedrock-kb-data-source-id": here.source, "x-amz-bedrock-kb-source-uri": "doc"}
    world.put_vector(here.index, "with", vector, **own, **{TEXT: "Otters.", "owner": "alice"})
    world.put_vector(here.index, "without", vector, **{TEXT: "Otters."})
    world.put_vector(here.index, "textless", vector, **own)

    alices = {"equals": {"key": "owner", "value": "alice"}}
    [found] = world.search(here.knowledge_base, "otters")

    assert found["content"]["text"] == "Otters."
    assert found["location"]["customDocumentLocation"] == {"id": "doc"}
    assert found["metadata"]["owner"] == "alice"
    assert len(world.search(here.knowledge_base, "otters", alices)) == 1
    assert len(world.query(here.index, texts={TEXT: "otters"})) == 2
