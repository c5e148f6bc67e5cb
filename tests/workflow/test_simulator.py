"""The same machine and handlers over the simulator as it is served: it parses, embeds and waits."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stackroom.aws import session
from stackroom_local.simulator.server import Configuration, Simulator
from tests import files
from tests.simulator.world import CUSTOM, NON_FILTERABLE, knowledge_base_request
from tests.workflow.bedrock import pool
from tests.workflow.functions import forget_clients
from tests.workflow.world import World

pytestmark = pytest.mark.processes

KEY = "alice/research/report.txt"
OTHERS = "bob/letters/Q1 résumé (final)+v2.txt"
SPEED = 200.0
S3 = "https://s3.us-east-1.amazonaws.com"


@pytest.fixture
def data_sources() -> str:
    """What catalogs get: one each for direct calls, one each for jobs, or none of their own."""
    return "custom"


@pytest.fixture
def bedrock(
    environment: None, tmp_path: Path, data_sources: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The id of its one knowledge base; every boto3 client calls it."""
    # Its S3 is the tests' own: moto answers every boto3 client of this process.
    configuration = Configuration(data_dir=tmp_path, s3_endpoint=S3, speed=SPEED)
    with Simulator(configuration) as simulator:
        for service in ("BEDROCK_AGENT", "BEDROCK_AGENT_RUNTIME", "S3VECTORS"):
            monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", simulator.endpoint)
        forget_clients()
        index = indexed(session.client("s3vectors"))
        home, shared = provisioned(session.client("bedrock-agent"), index)
        described = pool({home: shared}, index=index, catalog_data_sources=data_sources)
        monkeypatch.setenv("KB_POOL", described)
        monkeypatch.setenv("INGEST_SPEED", str(SPEED))
        yield home
    forget_clients()


def indexed(vectors: Any) -> str:
    vectors.create_vector_bucket(vectorBucketName="vectors")
    made = vectors.create_index(
        vectorBucketName="vectors",
        indexName="passages",
        dataType="float32",
        dimension=1024,
        distanceMetric="cosine",
        metadataConfiguration={"nonFilterableMetadataKeys": NON_FILTERABLE},
    )
    return str(made["indexArn"])


def provisioned(agent: Any, index: str) -> tuple[str, str]:
    """The ids of a knowledge base over that index, and of its shared data source."""
    made = agent.create_knowledge_base(**knowledge_base_request(index))
    home = made["knowledgeBase"]["knowledgeBaseId"]
    # As it is deployed: the shared data source reads and cuts as the catalogs' own do.
    ingestion = json.loads(os.environ.get("VECTOR_INGESTION", "{}"))
    shared = agent.create_data_source(
        knowledgeBaseId=home,
        name="shared",
        dataSourceConfiguration=CUSTOM,
        vectorIngestionConfiguration=ingestion,
    )
    return home, shared["dataSource"]["dataSourceId"]


def passages(knowledge_base_id: str, user_id: str) -> list[str]:
    tenant = {"equals": {"key": "user_id", "value": user_id}}
    found = session.client("bedrock-agent-runtime").retrieve(
        knowledgeBaseId=knowledge_base_id,
        retrievalQuery={"text": "annual leave"},
        retrievalConfiguration={"vectorSearchConfiguration": {"filter": tenant}},
    )
    return [each["content"]["text"] for each in found["retrievalResults"]]


@pytest.mark.parametrize("data_sources", ["custom", "s3", "shared"])
def test_a_file_is_found_by_its_owner_alone_and_replaced_and_removed(
    world: World, bedrock: str
) -> None:
    world.drop(KEY, b"Annual leave is thirty days.")
    world.drop(OTHERS, b"Annual leave is twenty days.")
    world.executions()
    first = [passages(bedrock, user) for user in ("alice", "bob", "carol")]
    world.drop(KEY, b"Annual leave is forty days.")
    world.executions()
    replaced = passages(bedrock, "alice")

    world.remove(KEY)

    assert {each.states[-1] for each in world.executions()} == {"WorklistSettled"}
    assert first == [["Annual leave is thirty days."], ["Annual leave is twenty days."], []]
    assert replaced == ["Annual leave is forty days."]
    assert world.document(KEY) is None
    assert passages(bedrock, "alice") == []
    assert passages(bedrock, "bob") == ["Annual leave is twenty days."]


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
    seeing: None, world: World, bedrock: str
) -> None:
    report = [f"Paragraph {number} is about the seals of the valves." for number in range(9)]
    pages = ("\n".join(report), "Annual leave is thirty days.")
    world.drop("alice/research/scan.pdf", files.scanned_pdf(*pages))

    executions = world.executions()

    assert {each.states[-1] for each in executions} == {"WorklistSettled"}
    assert world.status("alice/research/scan.pdf") == "indexed"
    assert passages(bedrock, "alice") == [pages[1], pages[0]]


def test_a_scanned_pdf_fails_where_nothing_sees_it(world: World, bedrock: str) -> None:
    world.drop("alice/research/scan.pdf", files.scanned_pdf("Annual leave is thirty days."))

    world.executions()

    assert world.status("alice/research/scan.pdf") == "failed"
    assert passages(bedrock, "alice") == []


def test_a_file_that_bedrock_cannot_read_fails_with_a_reason(world: World) -> None:
    world.drop("alice/research/broken.pdf", b"%PDF-1.7 and no more")
    world.drop(KEY)

    assert {each.status for each in world.executions()} == {"SUCCEEDED"}
    document = world.document("alice/research/broken.pdf")
    assert document is not None
    assert (document.status, bool(document.status_reason)) == ("failed", True)
    assert world.status(KEY) == "indexed"
