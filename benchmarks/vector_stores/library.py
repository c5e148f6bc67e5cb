"""The passages in two knowledge bases of the simulator's, ingested directly, without a bucket."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.agents import Stage
from simulator.tests.managed import CUSTOM as MANAGED_CUSTOM
from simulator.tests.managed import connected, managed, search
from simulator.tests.world import CUSTOM, eventually, inline

_MOST = 10  # documents of one call [API model of bedrock-agent: KnowledgeBaseDocuments]
_TEXT = "AMAZON_BEDROCK_TEXT"
_PATIENCE = 600.0


@dataclass(frozen=True, kw_only=True)
class Library:
    knowledge_base_id: str
    index_arn: str
    managed_id: str


def library(endpoint: str, passages: Sequence[str]) -> Library:
    """Once all of them are found."""
    world = Stage(endpoint, endpoint, patient=True)
    index = world.index(searched={_TEXT: "en"})
    knowledge_base = world.knowledge_base(index)
    source = world.data_source(knowledge_base, dataSourceConfiguration=CUSTOM)
    managed_id = managed(world)
    managed_source = connected(world, managed_id, MANAGED_CUSTOM)
    for home, into in ((knowledge_base, source), (managed_id, managed_source)):
        for start in range(0, len(passages), _MOST):
            numbered = enumerate(passages[start : start + _MOST], start)
            documents = [
                inline(f"passage-{number}", text, filename=f"{number}.txt")
                for number, text in numbered
            ]
            eventually(partial(_is_taken, world, home, into, documents), _PATIENCE)
        eventually(partial(_is_indexed, world, home, into), _PATIENCE)
    eventually(lambda: search(world, managed_id, "what"))
    return Library(knowledge_base_id=knowledge_base, index_arn=index, managed_id=managed_id)


def _is_taken(world: Stage, home: str, source: str, documents: Sequence[dict[str, Any]]) -> bool:
    """Ten direct calls of an account may be under way at a time."""
    try:
        world.agent.ingest_knowledge_base_documents(
            knowledgeBaseId=home, dataSourceId=source, documents=documents
        )
    except world.agent.exceptions.ValidationException as error:
        if "concurrent" not in str(error):
            raise
        return False
    return True


def _is_indexed(world: Stage, home: str, source: str) -> bool:
    pages = world.agent.get_paginator("list_knowledge_base_documents")
    asked = {"knowledgeBaseId": home, "dataSourceId": source}
    return all(
        each["status"] == "INDEXED"
        for page in pages.paginate(**asked)
        for each in page["documentDetails"]
    )
