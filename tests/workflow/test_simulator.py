"""
The same machine and handlers over the simulator as it is served: it parses, embeds and waits. Its
knowledge bases are over an index of vectors, or of type MANAGED.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from stackroom.aws import session
from stackroom.capacity import CAPACITIES
from stackroom.model import DataSourceType
from stackroom_local.simulator.server import Configuration, Simulator
from tests import files
from tests.aws.stores import BUCKET
from tests.simulator.world import (
    CUSTOM,
    NON_FILTERABLE,
    ROLE,
    eventually,
    knowledge_base_request,
)
from tests.workflow.bedrock import pool
from tests.workflow.functions import forget_clients
from tests.workflow.world import World

pytestmark = pytest.mark.processes

KEY = "alice/research/report.txt"
OTHERS = "bob/letters/Q1 résumé (final)+v2.txt"
SPEED = 200.0
S3 = "https://s3.us-east-1.amazonaws.com"
OF_MANAGED = {
    "type": "MANAGED_KNOWLEDGE_BASE_CONNECTOR",
    "managedKnowledgeBaseConnectorConfiguration": {
        "connectorParameters": {"type": "CUSTOM", "version": "1"}
    },
}
MANAGED_SLOTS = CAPACITIES["MANAGED"].own_sources


@dataclass(frozen=True, kw_only=True)
class Home:
    """The pool's one knowledge base."""

    id: str
    is_managed: bool

    def found(self, user_id: str | None = None) -> list[Any]:
        """What a search of the user's finds, or a search without a filter."""
        tenant = {"equals": {"key": "user_id", "value": user_id}}
        kind = "managed" if self.is_managed else "vector"
        search = {"numberOfResults": 100, **({"filter": tenant} if user_id else {})}
        answer = session.client("bedrock-agent-runtime").retrieve(
            knowledgeBaseId=self.id,
            retrievalQuery={"text": "annual leave"},
            retrievalConfiguration={f"{kind}SearchConfiguration": search},
        )
        return list(answer["retrievalResults"])

    def texts(self, user_id: str) -> list[str]:
        return [each["content"]["text"] for each in self.found(user_id)]


@pytest.fixture
def data_sources() -> str:
    """What catalogs get: one each for direct calls, one each for jobs, or none of their own."""
    return "custom"


@pytest.fixture
def bedrock(
    environment: None, tmp_path: Path, data_sources: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Home]:
    """Every boto3 client calls it."""
    # Its S3 is the tests' own: moto answers every boto3 client of this process.
    configuration = Configuration(data_dir=tmp_path, s3_endpoint=S3, speed=SPEED)
    with Simulator(configuration) as simulator:
        for service in ("BEDROCK_AGENT", "BEDROCK_AGENT_RUNTIME", "S3VECTORS"):
            monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", simulator.endpoint)
        monkeypatch.setenv("INGEST_SPEED", str(SPEED))
        forget_clients()
        is_managed = data_sources == "managed"
        described = _managed() if is_managed else _over_an_index(data_sources)
        monkeypatch.setenv("KB_POOL", described)
        monkeypatch.setenv("KB_DOCS_OWNER", "123456789012")
        yield Home(id=json.loads(described)[0]["knowledge_base_id"], is_managed=is_managed)
    forget_clients()


def _over_an_index(data_sources: str) -> str:
    """The pool's description; its shared data source reads and cuts as catalogs' own do."""
    vectors, agent = session.client("s3vectors"), session.client("bedrock-agent")
    vectors.create_vector_bucket(vectorBucketName="vectors")
    index = vectors.create_index(
        vectorBucketName="vectors",
        indexName="passages",
        dataType="float32",
        dimension=1024,
        distanceMetric="cosine",
        metadataConfiguration={"nonFilterableMetadataKeys": NON_FILTERABLE},
    )["indexArn"]
    home = agent.create_knowledge_base(**knowledge_base_request(index))["knowledgeBase"]
    shared = agent.create_data_source(
        knowledgeBaseId=home["knowledgeBaseId"],
        name="shared",
        dataSourceConfiguration=CUSTOM,
        vectorIngestionConfiguration=json.loads(os.environ.get("VECTOR_INGESTION", "{}")),
    )["dataSource"]["dataSourceId"]
    return pool({home["knowledgeBaseId"]: shared}, index=index, catalog_data_sources=data_sources)


def _managed() -> str:
    agent = session.client("bedrock-agent")
    made = agent.create_knowledge_base(
        name="managed", roleArn=ROLE, knowledgeBaseConfiguration={"type": "MANAGED"}
    )
    home = made["knowledgeBase"]["knowledgeBaseId"]
    look = partial(agent.get_knowledge_base, knowledgeBaseId=home)
    eventually(lambda: look()["knowledgeBase"]["status"] == "ACTIVE")
    shared = agent.create_data_source(
        knowledgeBaseId=home, name="shared", dataSourceConfiguration=OF_MANAGED
    )["dataSource"]["dataSourceId"]
    look = partial(agent.get_data_source, knowledgeBaseId=home, dataSourceId=shared)
    eventually(lambda: look()["dataSource"]["status"] == "AVAILABLE")
    return pool({home: shared}, type="MANAGED")


@pytest.mark.parametrize(
    ("data_sources", "taken", "expected"),
    [
        ("custom", 0, DataSourceType.CUSTOM),
        ("s3", 0, DataSourceType.S3),
        ("shared", 0, DataSourceType.CUSTOM),
        ("managed", 0, DataSourceType.S3),
        ("managed", MANAGED_SLOTS, DataSourceType.CUSTOM),
    ],
)
def test_a_file_is_found_by_its_owner_alone_and_replaced_and_removed(
    world: World, bedrock: Home, taken: int, expected: DataSourceType
) -> None:
    world.fill(bedrock.id, slots=taken)
    world.drop(KEY, b"Annual leave is thirty days.")
    world.drop(OTHERS, b"Annual leave is twenty days.")
    world.executions()
    first = [bedrock.texts(user) for user in ("alice", "bob", "carol")]
    world.drop(KEY, b"Annual leave is forty days.")
    world.executions()
    replaced = bedrock.texts("alice")

    world.remove(KEY)

    assert {each.states[-1] for each in world.executions()} == {"WorklistSettled"}
    assert world.catalog(OTHERS).data_source_type is expected
    assert first == [["Annual leave is thirty days."], ["Annual leave is twenty days."], []]
    assert replaced == ["Annual leave is forty days."]
    assert world.document(KEY) is None
    assert bedrock.texts("alice") == []
    assert bedrock.texts("bob") == ["Annual leave is twenty days."]


@pytest.mark.parametrize("data_sources", ["managed"])
def test_a_rejected_file_that_a_job_has_indexed_is_nobodys(world: World, bedrock: Home) -> None:
    rejected = "alice/research/leave.txt"
    world.s3.put_object(
        Bucket=BUCKET, Key=rejected, Body=b"Annual leave is over.", Metadata={"kb-user_id": "bob"}
    )
    world.notify("Object Created", rejected)
    world.drop(KEY, b"Annual leave is thirty days.")

    ends = {each.states[-1] for each in world.executions()}

    assert ends == {"WorklistSettled"}
    assert world.status(rejected) == "failed"
    owners = {each["metadata"]["user_id"] for each in bedrock.found()}
    assert owners == {"alice", "!rejected"}


@pytest.mark.parametrize("data_sources", ["managed"])
def test_more_catalogs_than_a_vector_knowledge_base_has_room_for_have_sources_of_their_own(
    world: World, bedrock: Home
) -> None:
    keys = [f"alice/shelf {number}/a.txt" for number in range(7)]
    for key in keys:
        world.drop(key)

    executions = world.executions()

    assert {each.states[-1] for each in executions} == {"WorklistSettled"}
    assert {world.status(key) for key in keys} == {"indexed"}
    assert {world.catalog(key).data_source_type for key in keys} == {DataSourceType.S3}
    assert len({world.catalog(key).data_source_id for key in keys}) == 7
    assert world.slots.taken(bedrock.id) == 7


@pytest.fixture
def seeing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is deployed with a parser that reads images, and chunks with parents."""
    levels = [{"maxTokens": 400}, {"maxTokens": 40}]
    ingestion = {
        "chunkingConfiguration": {
            "chunkingStrategy": "HIERARCHICAL",
            "hierarchicalChunkingConfiguration": {
                "levelConfigurations": levels,
                "overlapTokens": 5,
            },
        },
        "parsingConfiguration": {"parsingStrategy": "BEDROCK_DATA_AUTOMATION"},
    }
    monkeypatch.setenv("VECTOR_INGESTION", json.dumps(ingestion))


def test_a_scanned_pdf_is_found_where_catalogs_are_read_by_a_parser_that_sees(
    seeing: None, world: World, bedrock: Home
) -> None:
    report = [f"Paragraph {number} is about the seals of the valves." for number in range(9)]
    pages = ("\n".join(report), "Annual leave is thirty days.")
    world.drop("alice/research/scan.pdf", files.scanned_pdf(*pages))

    executions = world.executions()

    assert {each.states[-1] for each in executions} == {"WorklistSettled"}
    assert world.status("alice/research/scan.pdf") == "indexed"
    assert bedrock.texts("alice") == [pages[1], pages[0]]


def test_a_scanned_pdf_fails_where_nothing_sees_it(world: World, bedrock: Home) -> None:
    world.drop("alice/research/scan.pdf", files.scanned_pdf("Annual leave is thirty days."))

    world.executions()

    assert world.status("alice/research/scan.pdf") == "failed"
    assert bedrock.texts("alice") == []


def test_a_file_that_bedrock_cannot_read_fails_with_a_reason(world: World) -> None:
    world.drop("alice/research/broken.pdf", b"%PDF-1.7 and no more")
    world.drop(KEY)

    assert {each.status for each in world.executions()} == {"SUCCEEDED"}
    document = world.document("alice/research/broken.pdf")
    assert document is not None
    assert (document.status, bool(document.status_reason)) == ("failed", True)
    assert world.status(KEY) == "indexed"
