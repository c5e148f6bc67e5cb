"""
An index that can't be searched by words, or not yet: agents get an answer, operators are told.

And a guardrail over questions, which must hold whichever way they are searched.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from moto import mock_aws

from stackroom.aws.embeddings import BedrockEmbeddings
from stackroom.aws.guardrail import Guardrail
from stackroom.aws.index_watch import IndexWatch
from stackroom.aws.knowledge_base import BedrockKnowledgeBase
from stackroom.aws.question_guard import QuestionGuard
from stackroom.aws.vector_index import S3VectorsKnowledgeBase
from stackroom.ports.retrieval import Retrieved, Search
from stackroom.tenancy import Tenant
from stackroom_local.simulator.server import Configuration, Simulator
from tests.simulator.world import CUSTOM, World, eventually, inline, text_search

pytestmark = pytest.mark.processes

TEXT = "AMAZON_BEDROCK_TEXT"
SAID = "The annual leave is 30 days."
S3 = "https://s3.us-east-1.amazonaws.com"  # in memory; no document here comes from it
TITAN = "amazon.titan-embed-text-v2:0"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    data = tmp_path_factory.mktemp("simulator")
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        # Slow enough that three seconds of a backfill can be seen.
        with Simulator(Configuration(data_dir=data, s3_endpoint=S3, speed=10)) as simulator:
            yield World(simulator.endpoint, S3, patient=True)


@dataclass
class Searcher:
    """One who searches `index`, whose looks at it come when the test says so."""

    world: World
    index: str
    guardrail: Guardrail | None = None
    seconds: float = 0.0
    knowledge_base: S3VectorsKnowledgeBase = field(init=False)

    def __post_init__(self) -> None:
        knowledge_base = self.world.knowledge_base(self.index)
        stocked(self.world, knowledge_base)
        client, runtime = self.world.s3vectors, self.world.bedrock_runtime
        guard = self.guardrail and QuestionGuard(client=runtime, guardrail=self.guardrail)
        self.by_retrieve = BedrockKnowledgeBase(
            self.world.runtime, knowledge_base, guardrail=self.guardrail
        )

        self.knowledge_base = S3VectorsKnowledgeBase(
            client,
            self.index,
            watch=IndexWatch(
                client,
                self.index,
                search=Search.HYBRID,
                dimensions=1024,
                now=lambda: self.seconds,
            ),
            embeddings=BedrockEmbeddings(client=runtime, model=TITAN, dimensions=1024),
            fallback=self.by_retrieve,
            lets_through=guard.lets_through if guard else None,
        )

    def asks(self, question: str = "annual leave", *, after: float = 0) -> Retrieved:
        self.seconds += after
        return self.knowledge_base.retrieve(question, Tenant("alice").filter(), 5)


def stocked(world: World, knowledge_base: str) -> None:
    source = world.data_source(knowledge_base, dataSourceConfiguration=CUSTOM)
    world.agent.ingest_knowledge_base_documents(
        knowledgeBaseId=knowledge_base,
        dataSourceId=source,
        documents=[
            inline("leave", SAID, user_id="alice", filename="leave.txt"),
            inline("other", "The annual leave of bob.", user_id="bob", filename="other.txt"),
        ],
    )
    eventually(lambda: len(world.search(knowledge_base, "annual leave")) == 2)


def texts(retrieved: Retrieved) -> list[str]:
    return [passage.text for passage in retrieved.passages]


def test_an_index_without_text_search_is_answered_for_until_it_is_built(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    searcher = Searcher(world, world.index())

    without = searcher.asks()
    world.s3vectors.update_metadata_configuration(
        indexArn=searcher.index, add={"textSearchConfigurations": [text_search(TEXT, "en")]}
    )
    building = searcher.asks(after=16)
    eventually(lambda: is_active(world, searcher.index))
    still = searcher.asks(after=10)
    ready = searcher.asks(after=6)

    answers = (without, building, still, ready)
    assert [texts(each) for each in answers] == [[SAID]] * 4
    assert [each.search for each in answers] == [*[Search.SEMANTIC] * 3, Search.HYBRID]
    assert [each.notice for each in answers] == [
        f"searched through Retrieve: {TEXT} is not configured for text search",
        *[f"searched through Retrieve: its text search over {TEXT} is BUILDING"] * 2,
        None,
    ]
    assert len(caplog.records) == 2


def is_active(world: World, index: str) -> bool:
    found = world.s3vectors.get_index(indexArn=index)["index"]["metadataConfiguration"]
    return bool(found["textSearchConfigurations"][0]["status"] == "ACTIVE")


def test_a_guardrail_holds_the_same_questions_back_whichever_way(world: World) -> None:
    guardrail = Guardrail(id=world.guardrail(words=["salary"]), version="DRAFT")
    searcher = Searcher(world, world.index(searched={TEXT: "en"}), guardrail=guardrail)
    tenant = Tenant("alice").filter()

    blocked = searcher.asks("What is the salary?")
    blocked_by_retrieve = searcher.by_retrieve.retrieve("What is the salary?", tenant, 5)
    answered = searcher.asks("annual leave")

    for each in (blocked, blocked_by_retrieve):
        assert (each.passages, each.guardrail_action) == ((), "INTERVENED")
    assert blocked.search is Search.HYBRID
    assert (texts(answered), answered.guardrail_action) == ([SAID], "NONE")
