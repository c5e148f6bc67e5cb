"""
What every `KnowledgeBase` promises: the fake of our tests, and the ways to search one of Bedrock's,
as simulated here.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from stackroom.aws.embeddings import BedrockEmbeddings
from stackroom.aws.index_watch import IndexWatch
from stackroom.aws.knowledge_base import BedrockKnowledgeBase
from stackroom.aws.retrieve_models import Attribute, ImplicitFilter, Reranking
from stackroom.aws.retrieve_options import RetrieveOptions
from stackroom.aws.vector_index import S3VectorsKnowledgeBase
from stackroom.errors import KnowledgeBaseUnavailable
from stackroom.filters import AnyOf, Filter, Has
from stackroom.identity import Caller
from stackroom.narrowing import conditions
from stackroom.ports.retrieval import KnowledgeBase, Search
from stackroom.retrieval.embeddings import CachedEmbeddings, MemoryEmbeddingCache
from stackroom.tenancy import Member, Tenant
from stackroom_local.simulator import retrieval
from stackroom_local.simulator.rules import RETRIEVE_PAGE
from stackroom_local.simulator.server import Configuration, Simulator
from tests.fakes.knowledge_base import FakeKnowledgeBase

# user, catalog, file, and what the owner attached
SHELF: list[tuple[str, str, str, dict[str, object]]] = [
    ("alice", "cat-1", "berlin.txt", {"city": "Berlin", "year": 2026, "taxonomy": ["hr", "law"]}),
    ("alice", "cat-1", "rome.txt", {"city": "Rome", "year": 2025, "taxonomy": ["hr"]}),
    ("alice", "cat-2", "paris.txt", {"city": "Paris", "year": 2026, "current": True}),
    ("bob", "cat-3", "rome.txt", {"city": "Rome", "year": 2026, "taxonomy": ["hr"]}),
    ("carol", "cat-4", "budget.txt", {"city": "Rome", "allowed_groups": ["finance", "board"]}),
    ("carol", "cat-4", "names.txt", {"allowed_groups": ["Forschung, Köln", "財務"]}),
    ("carol", "cat-4", "prose.txt", {"allowed_groups": "for finance, board and staff"}),
    ("carol", "cat-4", "bare.txt", {"allowed_groups": "staff"}),
]
TEXT = "The annual leave of {user} as {file} has it"
CREDENTIALS: dict[str, Any] = {
    "region_name": "us-east-1",
    "aws_access_key_id": "testing",
    "aws_secret_access_key": "testing",
}


def fake() -> FakeKnowledgeBase:
    knowledge_base = FakeKnowledgeBase()
    for user, catalog, file, attributes in SHELF:
        text = TEXT.format(user=user, file=file)
        knowledge_base.put(
            text, user_id=user, catalog_id=catalog, filename=file, attributes=attributes
        )
    return knowledge_base


def drop(s3: Any) -> None:
    s3.create_bucket(Bucket="docs")
    for user, catalog, file, attributes in SHELF:
        key = f"{user}/{catalog}/{file}"
        own = {"user_id": user, "catalog_id": catalog, "document_id": f"doc-{file}"}
        sidecar = {"metadataAttributes": {**attributes, **own, "filename": file}}
        s3.put_object(Bucket="docs", Key=key, Body=TEXT.format(user=user, file=file).encode())
        s3.put_object(Bucket="docs", Key=f"{key}.metadata.json", Body=json.dumps(sidecar).encode())


@dataclass(frozen=True, kw_only=True)
class Stocked:
    """A knowledge base over the bucket, as the simulator at `endpoint` has it."""

    endpoint: str
    knowledge_base_id: str
    index_arn: str

    def client(self, service: str) -> Any:
        # The service is a name known when it runs; types-boto3 has types for literal names only.
        return boto3.client(service, endpoint_url=self.endpoint, **CREDENTIALS)  # type: ignore[call-overload]

    @property
    def by_retrieve(self) -> BedrockKnowledgeBase:
        return self.retrieved_with(RetrieveOptions())

    def retrieved_with(self, options: RetrieveOptions) -> BedrockKnowledgeBase:
        client = self.client("bedrock-agent-runtime")
        return BedrockKnowledgeBase(client, self.knowledge_base_id, options=options)

    def directly(self, search: Search) -> S3VectorsKnowledgeBase:
        vectors = self.client("s3vectors")
        embeddings = BedrockEmbeddings(
            client=self.client("bedrock-runtime"),
            model="amazon.titan-embed-text-v2:0",
            dimensions=1024,
        )
        return S3VectorsKnowledgeBase(
            vectors,
            self.index_arn,
            watch=IndexWatch(vectors, self.index_arn, search=search, dimensions=1024),
            embeddings=CachedEmbeddings(embeddings=embeddings, cache=MemoryEmbeddingCache()),
            fallback=FakeKnowledgeBase(failure=KnowledgeBaseUnavailable("nobody", "fell back")),
            search=search,
        )


def ingested(endpoint: str) -> Stocked:
    """Once its ingestion job is over."""
    # The types of the client are older than text search.
    vectors: Any = boto3.client("s3vectors", endpoint_url=endpoint, **CREDENTIALS)
    agent = boto3.client("bedrock-agent", endpoint_url=endpoint, **CREDENTIALS)
    vectors.create_vector_bucket(vectorBucketName="vectors")
    index = vectors.create_index(
        vectorBucketName="vectors",
        indexName="index",
        dataType="float32",
        dimension=1024,
        distanceMetric="cosine",
        metadataConfiguration={
            "nonFilterableMetadataKeys": ["AMAZON_BEDROCK_TEXT", "AMAZON_BEDROCK_METADATA"],
            "textSearchConfigurations": [{"metadataKey": "AMAZON_BEDROCK_TEXT", "language": "en"}],
        },
    )
    knowledge_base = agent.create_knowledge_base(
        name="handbook",
        roleArn="arn:aws:iam::000000000000:role/kb",
        knowledgeBaseConfiguration={
            "type": "VECTOR",
            "vectorKnowledgeBaseConfiguration": {
                "embeddingModelArn": (
                    "arn:aws:bedrock:us-east-1::foundation-model/amazon.titan-embed-text-v2:0"
                )
            },
        },
        storageConfiguration={
            "type": "S3_VECTORS",
            "s3VectorsConfiguration": {"indexArn": index["indexArn"]},
        },
    )["knowledgeBase"]["knowledgeBaseId"]
    source = agent.create_data_source(
        knowledgeBaseId=knowledge_base,
        name="all",
        dataSourceConfiguration={
            "type": "S3",
            "s3Configuration": {"bucketArn": "arn:aws:s3:::docs"},
        },
    )["dataSource"]["dataSourceId"]
    where = {"knowledgeBaseId": knowledge_base, "dataSourceId": source}
    job = agent.start_ingestion_job(**where)["ingestionJob"]
    while job["status"] not in ("COMPLETE", "FAILED"):
        time.sleep(0.1)
        job = agent.get_ingestion_job(**where, ingestionJobId=job["ingestionJobId"])["ingestionJob"]
    assert job["statistics"]["numberOfNewDocumentsIndexed"] == len(SHELF), job
    return Stocked(endpoint=endpoint, knowledge_base_id=knowledge_base, index_arn=index["indexArn"])


@pytest.fixture(scope="module")
def bedrock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stocked]:
    data: Path = tmp_path_factory.mktemp("simulator")
    endpoint = "https://s3.us-east-1.amazonaws.com"  # in memory, for the simulator's thread too
    with mock_aws():
        drop(boto3.client("s3", **CREDENTIALS))
        with Simulator(Configuration(data_dir=data, s3_endpoint=endpoint, speed=100)) as simulator:
            stocked = ingested(simulator.endpoint)
            settle(stocked.by_retrieve)
            yield stocked


def settle(knowledge_base: BedrockKnowledgeBase) -> None:
    """Vectors may be found a while after the job, as on AWS."""
    deadline = time.monotonic() + 120
    everyone = AnyOf(tuple(Has("user_id", user) for user in ("alice", "bob", "carol")))
    while len(found(knowledge_base, everyone)) < len(SHELF):
        assert time.monotonic() < deadline, "what was ingested was never found"
        time.sleep(0.1)


WAYS: dict[str, Callable[[Stocked], KnowledgeBase]] = {
    "Retrieve": lambda stocked: stocked.by_retrieve,
    "S3 Vectors": lambda stocked: stocked.directly(Search.HYBRID),
    "S3 Vectors, by meaning": lambda stocked: stocked.directly(Search.SEMANTIC),
    "S3 Vectors, by words": lambda stocked: stocked.directly(Search.TEXT),
}


@pytest.fixture(params=["fake", *(pytest.param(way, marks=pytest.mark.processes) for way in WAYS)])
def knowledge_base(request: pytest.FixtureRequest) -> KnowledgeBase:
    if request.param == "fake":
        return fake()
    return WAYS[request.param](request.getfixturevalue("bedrock"))


def found(knowledge_base: KnowledgeBase, condition: Filter | None) -> set[str]:
    retrieved = knowledge_base.retrieve("annual leave", condition, 10)
    return {
        f"{passage.attributes['user_id']}/{passage.attributes['filename']}"
        for passage in retrieved.passages
    }


def test_a_tenant_is_all_that_is_found(knowledge_base: KnowledgeBase) -> None:
    everything = found(knowledge_base, Tenant("alice").filter())
    one_catalog = found(knowledge_base, Tenant("alice", "cat-2").filter())
    foreign_catalog = found(knowledge_base, Tenant("alice", "cat-3").filter())

    assert everything == {"alice/berlin.txt", "alice/rome.txt", "alice/paris.txt"}
    assert one_catalog == {"alice/paris.txt"}
    assert foreign_catalog == set()


def test_without_a_filter_everything_is_found(knowledge_base: KnowledgeBase) -> None:
    assert found(knowledge_base, None) == {f"{user}/{file}" for user, _, file, _ in SHELF}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"city": "Rome"}, {"alice/rome.txt"}),
        ({"city": ["Rome", "Paris"]}, {"alice/rome.txt", "alice/paris.txt"}),
        ({"city": ["Rome", "Paris"], "year": 2026}, {"alice/paris.txt"}),
        ({"year": 2025}, {"alice/rome.txt"}),
        ({"year": "2025"}, set()),
        ({"current": True}, {"alice/paris.txt"}),
        ({"current": 1}, set()),
        ({"taxonomy": "law"}, {"alice/berlin.txt"}),
        ({"taxonomy": ["law", "hr"]}, {"alice/berlin.txt", "alice/rome.txt"}),
        ({"unknown": "x"}, set()),
        (
            {key: ["Rome", "hr", 2025, "x", "y"] for key in ("city", "year", "taxonomy")},
            {"alice/rome.txt"},
        ),
    ],
)
def test_a_filter_means_the_same_everywhere(
    knowledge_base: KnowledgeBase, asked: dict[str, object], expected: set[str]
) -> None:
    assert found(knowledge_base, Tenant("alice").filter(conditions(asked))) == expected


@pytest.mark.parametrize(
    ("groups", "asked", "expected"),
    [
        (["finance"], {}, {"carol/budget.txt"}),
        (["staff", "board", "財務"], {}, {"carol/budget.txt", "carol/names.txt"}),
        (["Forschung, Köln"], {}, {"carol/names.txt"}),
        (["a", "b", "c", "d", "finance"], {}, {"carol/budget.txt"}),
        (["Finance", "fin", "Forschung", "Köln", "finance, board"], {}, set()),
        (["finance", "財務"], {"city": ["Rome", "Oslo"]}, {"carol/budget.txt"}),
        (["finance", "財務"], {"allowed_groups": "board"}, {"carol/budget.txt"}),
        (["staff"], {"allowed_groups": ["finance", "board"]}, set()),
        (["finance"], {"user": "carol"}, set()),
        (["staff"], {}, set()),
    ],
)
def test_a_members_groups_find_what_lists_one_of_them_and_nothing_else(
    knowledge_base: KnowledgeBase, groups: list[str], asked: dict[str, object], expected: set[str]
) -> None:
    [member] = Member.of(Caller("dora", tuple(groups)))

    assert found(knowledge_base, member.filter(conditions(asked))) == expected


def test_the_largest_filter_of_a_member_is_one_that_is_taken(
    knowledge_base: KnowledgeBase,
) -> None:
    [member] = Member.of(Caller("dora", ("finance", "b", "c", "d", "e")))
    asked = conditions({key: ["a", "Rome", 3, 4.5, True] for key in ("city", "x", "y")})

    assert found(knowledge_base, member.filter(asked)) == set()


def test_passages_come_best_first_no_more_than_asked_for_and_say_where_they_stand(
    knowledge_base: KnowledgeBase,
) -> None:
    retrieved = knowledge_base.retrieve("annual leave in rome.txt", Tenant("alice").filter(), 2)

    best = retrieved.passages[0]
    assert len(retrieved.passages) == 2
    assert best.score == max(passage.score for passage in retrieved.passages)
    assert 0 <= best.score <= 1
    assert best.text == "The annual leave of alice as rome.txt has it"
    assert best.uri == "s3://docs/alice/cat-1/rome.txt"
    assert best.custom_id is None
    assert best.attributes["document_id"] == "doc-rome.txt"
    assert retrieved.guardrail_action == "NONE"
    assert retrieved.notice is None


@pytest.mark.processes
@pytest.mark.parametrize(
    ("way", "search", "compares_meaning"),
    [
        ("Retrieve", Search.SEMANTIC, True),
        ("S3 Vectors", Search.HYBRID, True),
        ("S3 Vectors, by meaning", Search.SEMANTIC, True),
        ("S3 Vectors, by words", Search.TEXT, False),
    ],
)
def test_an_answer_tells_how_it_was_found_and_what_was_compared(
    bedrock: Stocked, way: str, search: Search, compares_meaning: bool
) -> None:
    retrieved = WAYS[way](bedrock).retrieve("annual leave", Tenant("alice").filter(), 2)

    best = retrieved.passages[0]
    assert retrieved.search is search
    assert (best.similarity is not None) is compares_meaning


@pytest.mark.processes
def test_both_ways_see_the_same_similarity_and_the_same_attributes(bedrock: Stocked) -> None:
    asked = ("annual leave", Tenant("alice").filter(), 10)

    by_retrieve, directly = (
        {each.uri: each for each in WAYS[way](bedrock).retrieve(*asked).passages}
        for way in ("Retrieve", "S3 Vectors")
    )

    assert directly.keys() == by_retrieve.keys()
    for uri, passage in directly.items():
        assert passage.attributes == by_retrieve[uri].attributes
        assert passage.similarity == pytest.approx(by_retrieve[uri].similarity, abs=1e-4)


@pytest.mark.processes
@pytest.mark.parametrize("size", [1, 1500])  # one passage a page, and two or three
def test_a_knowledge_base_is_asked_in_pages_up_to_what_was_asked_for(
    bedrock: Stocked, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    whole = found(bedrock.by_retrieve, None)
    # The simulator runs in this process.
    monkeypatch.setattr(retrieval, "RETRIEVE_PAGE", replace(RETRIEVE_PAGE, value=size))

    in_pages = bedrock.by_retrieve.retrieve("annual leave", None, 10)
    cut = bedrock.by_retrieve.retrieve("annual leave", None, 5)
    response = bedrock.client("bedrock-agent-runtime").retrieve(
        knowledgeBaseId=bedrock.knowledge_base_id, retrievalQuery={"text": "annual leave"}
    )

    assert 1 <= len(response["retrievalResults"]) < 5
    assert "nextToken" in response
    assert found(bedrock.by_retrieve, None) == whole
    assert len(in_pages.passages) == len(SHELF)
    assert [each.uri for each in cut.passages] == [each.uri for each in in_pages.passages[:5]]
    assert in_pages.notice is None


@pytest.mark.processes
def test_a_reranking_model_at_retrieve_tells_relevances(bedrock: Stocked) -> None:
    model = "arn:aws:bedrock:us-east-1::foundation-model/amazon.rerank-v1:0"
    reranking = Reranking(model_arn=model, number_of_reranked_results=2)
    knowledge_base = bedrock.retrieved_with(RetrieveOptions(reranking=reranking))

    retrieved = knowledge_base.retrieve("annual leave rome.txt", Tenant("alice").filter(), 10)

    first, second = retrieved.passages
    assert retrieved.is_reranked
    assert first.uri == "s3://docs/alice/cat-1/rome.txt"
    assert 1 >= (first.relevance or 0) > (second.relevance or 0) >= 0
    assert (first.similarity, second.similarity) == (None, None)


@pytest.mark.processes
def test_fixed_implicit_and_demanded_filters_hold_together(bedrock: Stocked) -> None:
    city = Attribute(key="city", type="STRING", description="`Rome`, `Berlin` or `Paris`")
    model = "anthropic.claude-3-5-sonnet-20240620-v1:0"
    options = RetrieveOptions(
        fixed_filter={"equals": {"key": "year", "value": 2026}},
        implicit_filter=ImplicitFilter(model_arn=model, attributes=(city,)),
    )
    knowledge_base = bedrock.retrieved_with(options)

    fixed = found(knowledge_base, None)
    demanded = found(knowledge_base, Tenant("alice").filter())
    asked = knowledge_base.retrieve("annual leave in Rome", None, 10)
    nobody = knowledge_base.retrieve("annual leave in Rome", Tenant("alice").filter(), 10)

    assert fixed == {"alice/berlin.txt", "alice/paris.txt", "bob/rome.txt"}
    assert demanded == {"alice/berlin.txt", "alice/paris.txt"}
    assert [each.uri for each in asked.passages] == ["s3://docs/bob/cat-3/rome.txt"]
    assert nobody.passages == ()


@pytest.mark.processes
def test_the_largest_fixed_filter_with_the_largest_demand_is_one_that_is_taken(
    bedrock: Stocked,
) -> None:
    single = [{"notEquals": {"key": "x", "value": str(number)}} for number in range(3)]
    knowledge_base = bedrock.retrieved_with(RetrieveOptions(fixed_filter={"andAll": single}))
    asked = conditions({key: ["a", "Rome", 3, 4.5, True] for key in ("city", "y", "z")})

    assert found(knowledge_base, Tenant("alice", "cat-1").filter(asked)) == set()


@pytest.mark.processes
def test_a_hybrid_search_that_the_store_has_not_is_an_error(bedrock: Stocked) -> None:
    knowledge_base = bedrock.retrieved_with(RetrieveOptions(search_type="HYBRID"))

    with pytest.raises(KnowledgeBaseUnavailable, match="Retrieve answered ValidationException"):
        knowledge_base.retrieve("annual leave", None, 10)


@pytest.mark.parametrize(
    "question",
    [
        "x",
        "7",
        "?",
        "🙂",
        "the of and is",
        "年次休暇は何日ですか",
        "كم يوم إجازة",
        "Сколько дней отпуска?",
        "x" * 1000,
        ("annual leave " * 77)[:1000],
        'leave" OR 1=1 -- \\ NEAR(a b) {x}: *^',
        "The annual leave of alice as rome.txt has it",
        "null\x00byte",
    ],
)
def test_no_question_is_an_error_or_finds_what_is_not_the_callers(
    knowledge_base: KnowledgeBase, question: str
) -> None:
    retrieved = knowledge_base.retrieve(question, Tenant("alice", "cat-1").filter(), 10)

    owners = {passage.attributes["catalog_id"] for passage in retrieved.passages}
    assert owners <= {"cat-1"}
    assert retrieved.notice is None
