"""Knowledge bases of Bedrock's as simulated here, in every way to search one."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from moto import mock_aws

from bedrock_kb_simulator.server import Configuration, Simulator
from simulator.tests.managed import pair
from simulator.tests.world import World
from stackroom.aws.bedrock.bedrock_adapter import BedrockKnowledgeBase
from stackroom.aws.bedrock.question_embeddings import BedrockEmbeddings
from stackroom.aws.bedrock.retrieve_options import RetrieveOptions
from stackroom.aws.s3vectors.s3vectors_adapter import S3VectorsKnowledgeBase
from stackroom.errors import KnowledgeBaseUnavailable
from stackroom.model.filters import Has
from stackroom.model.passages import KnowledgeBase, Search
from stackroom.search.cached_embeddings import CachedEmbeddings, MemoryEmbeddingCache
from tests.contract.stores.document_sets import QUESTION, DocumentSet
from tests.contract.stores.worlds import Ranks, Store, Trouble, clipped
from tests.contract.stores.worlds import World as StoreWorld
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.opensearch.collection import mounted
from tests.support.relay import Relay, Spoil, instead

CREDENTIALS: dict[str, Any] = {
    "region_name": "us-east-1",
    "aws_access_key_id": "testing",
    "aws_secret_access_key": "testing",
}
MODEL = "amazon.titan-embed-text-v2:0"
STORES = {
    # Bedrock embeds the question by itself.
    "Retrieve": Store(
        fixture="retrieve_world",
        ranks=Ranks.BY_MEANING,
        score_of=clipped,
        troubles=frozenset(Trouble),
    ),
    "S3 Vectors": Store(
        fixture="hybrid_world",
        ranks=Ranks.BY_BOTH,
        score_of=clipped,
        troubles=frozenset(Trouble),
    ),
    # Nothing is embedded.
    "S3 Vectors, by words": Store(
        fixture="text_world",
        is_variant=True,
        ranks=Ranks.BY_WORDS,
        troubles=frozenset(Trouble),
    ),
    # Its scores are relative: that of the best result is 1. The service embeds and ranks by itself.
    "MANAGED": Store(
        fixture="managed_world",
        is_variant=True,
        ranks=Ranks.BY_BOTH,
        troubles=frozenset(Trouble),
    ),
}
_MANAGED = RetrieveOptions(is_managed=True, has_cosine_scores=False)
# A test wants to see a failure, not to have it tried again; and what never comes not for long.
ONCE = Config(
    retries={"total_max_attempts": 1}, connect_timeout=4, read_timeout=4, max_pool_connections=25
)
_PATIENT = Config(retries={"total_max_attempts": 1}, max_pool_connections=32)
S3 = "https://s3.us-east-1.amazonaws.com"  # in memory, for the simulator's thread too
RETRIEVE, QUERY = "/retrieve", "/QueryVectors"


@cache
def client(service: str, endpoint: str, *, config: Config = _PATIENT) -> Any:
    # The service is a name known when it runs; types-boto3 has types for literal names only.
    return boto3.client(service, endpoint_url=endpoint, config=config, **CREDENTIALS)  # type: ignore[call-overload]


@dataclass(frozen=True, kw_only=True)
class Stocked:
    """A knowledge base over a document set, as the simulator at `endpoint` has it."""

    endpoint: str
    knowledge_base_id: str
    index_arn: str
    data_source_id: str = ""
    config: Config = _PATIENT

    def client(self, service: str) -> Any:
        return client(service, self.endpoint, config=self.config)

    @property
    def by_retrieve(self) -> BedrockKnowledgeBase:
        runtime = self.client("bedrock-agent-runtime")
        return BedrockKnowledgeBase(runtime, self.knowledge_base_id, options=RetrieveOptions())

    def directly(self, search: Search) -> S3VectorsKnowledgeBase:
        """It has no fallback that would answer."""
        return S3VectorsKnowledgeBase(
            self.client("s3vectors"),
            self.index_arn,
            embeddings=CachedEmbeddings(embeddings=self.embeddings, cache=MemoryEmbeddingCache()),
            fallback=FakeKnowledgeBase(failure=KnowledgeBaseUnavailable("nobody", "fell back")),
            search=search,
        )

    @property
    def embeddings(self) -> BedrockEmbeddings:
        runtime = self.client("bedrock-runtime")
        return BedrockEmbeddings(client=runtime, model=MODEL, dimensions=1024)


@dataclass(frozen=True)
class Simulated:
    """
    A simulator over buckets in memory.

    Each document set has a bucket, and is ingested once, by a job.
    """

    endpoint: str
    _worlds: dict[str, World] = field(default_factory=dict)
    _stocked: dict[str, Stocked] = field(default_factory=dict)

    def stocked(self, document_set: DocumentSet) -> Stocked:
        """Once its ingestion job is over, and every document is found."""
        if document_set.name not in self._stocked:
            world = self.world_of(document_set)
            stocked = self._empty(world)
            job = world.sync(stocked.knowledge_base_id, stocked.data_source_id)
            assert job["statistics"]["numberOfNewDocumentsIndexed"] == len(
                document_set.documents
            ), job
            settle(stocked.by_retrieve, document_set)
            self._stocked[document_set.name] = stocked
        return self._stocked[document_set.name]

    def world_of(self, document_set: DocumentSet) -> World:
        """Its bucket has the document set's name; the documents are in it, with their sidecars."""
        if document_set.name not in self._worlds:
            world = World(self.endpoint, S3, bucket=document_set.name, patient=True)
            for each in document_set.documents:
                world.put(each.key, each.text, each.attributes)
            self._worlds[document_set.name] = world
        return self._worlds[document_set.name]

    def _empty(self, world: World) -> Stocked:
        """A knowledge base with a data source, and nothing in it."""
        index = world.index(searched={"AMAZON_BEDROCK_TEXT": "en"})
        knowledge_base = world.knowledge_base(index)
        return Stocked(
            endpoint=self.endpoint,
            knowledge_base_id=knowledge_base,
            data_source_id=world.data_source(knowledge_base),
            index_arn=index,
        )


@contextmanager
def simulated(folder: Path) -> Iterator[Simulated]:
    configuration = Configuration(data_dir=folder, s3_endpoint=S3, speed=100, mounted=mounted())
    with mock_aws(), Simulator(configuration) as simulator:
        yield Simulated(simulator.endpoint)


def settle(knowledge_base: KnowledgeBase, document_set: DocumentSet) -> None:
    """Vectors may be found a while after the job, as on AWS."""
    deadline = time.monotonic() + 120
    for user, count in Counter(each.user for each in document_set.documents).items():
        assert count <= 100, "one answer must hold all of a user's"
        while True:
            found = knowledge_base.retrieve(QUESTION, Has("user_id", user), 100).passages
            if len(found) == count:
                break
            assert time.monotonic() < deadline, "what was ingested was never found"
            time.sleep(0.05)


@dataclass
class BedrockWorld:
    """Searched in one way, `made` over a relay of this world's own to the simulator."""

    relay: Relay
    made: Callable[[str, DocumentSet], KnowledgeBase]  # of the relay's endpoint
    searches_at: str
    _kept: dict[str, KnowledgeBase] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        return len(self.relay.calls)

    def holding(self, document_set: DocumentSet) -> KnowledgeBase:
        if document_set.name not in self._kept:
            self._kept[document_set.name] = self.made(self.relay.endpoint, document_set)
        return self._kept[document_set.name]

    @contextmanager
    def in_trouble(self, trouble: Trouble) -> Iterator[None]:
        if trouble is Trouble.LATE:
            with self.relay.holding(at=""):
                yield
            return
        with self.relay.spoiling(SPOILT[trouble], at=self.searches_at):
            yield


SPOILT: Mapping[Trouble, Spoil] = {
    Trouble.THROTTLED: instead(429, b"{}", code="ThrottlingException"),
    Trouble.DOWN: instead(503, b"{}", code="ServiceUnavailableException"),
    Trouble.EXPIRED: instead(403, b"{}", code="ExpiredTokenException"),
    Trouble.NOT_JSON: instead(200, b"<html>Welcome to the captive portal</html>"),
    Trouble.EMPTY: instead(200, b"{}"),
}


@contextmanager
def searched_by(
    simulated: Simulated, made: Callable[[Stocked], KnowledgeBase], *, at: str
) -> Iterator[StoreWorld]:
    """`at` is how the path of a search ends."""

    def relayed(endpoint: str, document_set: DocumentSet) -> KnowledgeBase:
        return made(replace(simulated.stocked(document_set), endpoint=endpoint, config=ONCE))

    with Relay(simulated.endpoint) as relay:
        yield BedrockWorld(relay=relay, made=relayed, searches_at=at)


@pytest.fixture(scope="package")
def bedrock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulated]:
    with simulated(tmp_path_factory.mktemp("simulator")) as made:
        yield made


@pytest.fixture(scope="package")
def retrieve_world(bedrock: Simulated) -> Iterator[StoreWorld]:
    with searched_by(bedrock, lambda stocked: stocked.by_retrieve, at=RETRIEVE) as world:
        yield world


@pytest.fixture(scope="package")
def hybrid_world(bedrock: Simulated) -> Iterator[StoreWorld]:
    with searched_by(bedrock, lambda stocked: stocked.directly(Search.HYBRID), at=QUERY) as world:
        yield world


@pytest.fixture(scope="package")
def text_world(bedrock: Simulated) -> Iterator[StoreWorld]:
    with searched_by(bedrock, lambda stocked: stocked.directly(Search.TEXT), at=QUERY) as world:
        yield world


@pytest.fixture(scope="package")
def managed_world(bedrock: Simulated) -> Iterator[StoreWorld]:
    def relayed(endpoint: str, document_set: DocumentSet) -> KnowledgeBase:
        world = bedrock.world_of(document_set)
        knowledge_base, source = pair(world)
        world.sync(knowledge_base, source)
        patient, once = (
            client("bedrock-agent-runtime", place, config=config)
            for place, config in ((bedrock.endpoint, _PATIENT), (endpoint, ONCE))
        )
        settle(BedrockKnowledgeBase(patient, knowledge_base, options=_MANAGED), document_set)
        return BedrockKnowledgeBase(once, knowledge_base, options=_MANAGED)

    with Relay(bedrock.endpoint) as relay:
        yield BedrockWorld(relay=relay, made=relayed, searches_at=RETRIEVE)
