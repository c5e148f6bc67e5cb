"""The same machine and handlers over a pool of MANAGED knowledge bases of the simulator."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import functions.upload_handler.handler as upload_handler
from stackroom.aws import session
from stackroom.aws.bucket import S3DocumentBucket
from stackroom.aws.receipts import DynamoReceipts
from stackroom.capacity import CAPACITIES
from stackroom.deletions.deletions import Deletions
from stackroom.model import DataSourceType
from stackroom_local.simulator.server import Configuration, Simulator
from tests.aws.stores import BUCKET, CONTROL_TABLE
from tests.simulator.world import ROLE, eventually
from tests.workflow.bedrock import pool
from tests.workflow.functions import forget_clients
from tests.workflow.world import World

pytestmark = pytest.mark.processes

KEY = "alice/research/report.txt"
OTHERS = "bob/letters/Q1 résumé (final)+v2.txt"
SPEED = 200.0
S3 = "https://s3.us-east-1.amazonaws.com"
CUSTOM = {
    "type": "MANAGED_KNOWLEDGE_BASE_CONNECTOR",
    "managedKnowledgeBaseConnectorConfiguration": {
        "connectorParameters": {"type": "CUSTOM", "version": "1"}
    },
}
SLOTS = CAPACITIES["MANAGED"].own_sources


@pytest.fixture
def bedrock(environment: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The id of its one knowledge base; every boto3 client calls it."""
    configuration = Configuration(data_dir=tmp_path, s3_endpoint=S3, speed=SPEED)
    with Simulator(configuration) as simulator:
        for service in ("BEDROCK_AGENT", "BEDROCK_AGENT_RUNTIME", "S3VECTORS"):
            monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", simulator.endpoint)
        forget_clients()
        shared = provisioned(session.client("bedrock-agent"))
        monkeypatch.setenv("KB_POOL", pool(shared, type="MANAGED"))
        monkeypatch.setenv("KB_DOCS_OWNER", "123456789012")
        monkeypatch.setenv("INGEST_SPEED", str(SPEED))
        yield next(iter(shared))
    forget_clients()


def provisioned(agent: Any) -> dict[str, str]:
    made = agent.create_knowledge_base(
        name="managed", roleArn=ROLE, knowledgeBaseConfiguration={"type": "MANAGED"}
    )
    home = made["knowledgeBase"]["knowledgeBaseId"]
    eventually(lambda: _status(agent.get_knowledge_base(knowledgeBaseId=home)) == "ACTIVE")
    shared = agent.create_data_source(
        knowledgeBaseId=home, name="shared", dataSourceConfiguration=CUSTOM
    )
    ids = {"knowledgeBaseId": home, "dataSourceId": shared["dataSource"]["dataSourceId"]}
    eventually(lambda: _status(agent.get_data_source(**ids)) == "AVAILABLE")
    return {home: ids["dataSourceId"]}


def _status(answer: dict[str, Any]) -> str:
    [described] = [each for each in answer.values() if "status" in each]
    return str(described["status"])


def passages(knowledge_base_id: str, user_id: str) -> list[str]:
    tenant = {"equals": {"key": "user_id", "value": user_id}}
    return [each["content"]["text"] for each in retrieved(knowledge_base_id, filter=tenant)]


def retrieved(knowledge_base_id: str, **search: Any) -> list[Any]:
    found = session.client("bedrock-agent-runtime").retrieve(
        knowledgeBaseId=knowledge_base_id,
        retrievalQuery={"text": "annual leave"},
        retrievalConfiguration={"managedSearchConfiguration": {"numberOfResults": 100, **search}},
    )
    return list(found["retrievalResults"])


def test_a_rejected_file_that_a_job_has_indexed_is_nobodys(world: World, bedrock: str) -> None:
    claims_to_be_bobs = {"kb-user_id": "bob"}
    rejected = "alice/research/leave.txt"
    world.s3.put_object(
        Bucket=BUCKET, Key=rejected, Body=b"Annual leave is over.", Metadata=claims_to_be_bobs
    )
    world.notify("Object Created", rejected)
    world.drop(KEY, b"Annual leave is thirty days.")

    ends = {each.states[-1] for each in world.executions()}

    assert ends == {"WorklistSettled"}
    assert world.catalog(KEY).data_source_type is DataSourceType.S3
    assert world.status(rejected) == "failed"
    owners = {each["metadata"]["user_id"] for each in retrieved(bedrock)}
    assert owners == {"alice", "!rejected"}


@pytest.fixture
def deletions(world: World) -> Deletions:
    return Deletions(
        catalogs=world.catalogs,
        documents=world.documents,
        bucket=S3DocumentBucket(client=session.client("s3"), bucket=BUCKET),
        receipts=DynamoReceipts(client=session.client("dynamodb"), table=CONTROL_TABLE),
        uploads=upload_handler.uploads(),
        requests=upload_handler.requests(),
    )


def delete(world: World, deletions: Deletions, key: str) -> str:
    """The id of the receipt."""
    document = world.document(key)
    assert document is not None
    owner = key.partition("/")[0]
    asked = deletions.delete_document(owner, document.catalog_id, document.document_id)
    assert asked.is_open
    return asked.receipt_id


@pytest.mark.parametrize("way", [DataSourceType.S3, DataSourceType.CUSTOM])
def test_a_file_is_found_by_its_owner_alone_and_replaced_and_deleted_with_a_receipt(
    world: World, bedrock: str, deletions: Deletions, way: DataSourceType
) -> None:
    if way is DataSourceType.CUSTOM:
        world.fill(bedrock, slots=SLOTS)
    world.drop(KEY, b"Annual leave is thirty days.")
    world.drop(OTHERS, b"Annual leave is twenty days.")
    world.executions()
    first = [passages(bedrock, user) for user in ("alice", "bob", "carol")]
    world.drop(KEY, b"Annual leave is forty days.")
    world.executions()
    replaced = passages(bedrock, "alice")

    receipt_id = delete(world, deletions, KEY)

    assert {each.states[-1] for each in world.executions()} == {"WorklistSettled"}
    assert world.catalog(OTHERS).data_source_type is way
    assert first == [["Annual leave is thirty days."], ["Annual leave is twenty days."], []]
    assert replaced == ["Annual leave is forty days."]
    receipt = deletions.receipts.get("alice", receipt_id)
    assert receipt is not None
    assert receipt.unsearchable_since is not None
    assert world.document(KEY) is None
    assert passages(bedrock, "alice") == []
    assert passages(bedrock, "bob") == ["Annual leave is twenty days."]


def test_deleting_nearly_everything_at_once_is_not_held_back(
    world: World, bedrock: str, deletions: Deletions
) -> None:
    keys = [f"alice/research/{number}.txt" for number in range(4)]
    for key in keys:
        world.drop(key, f"Annual leave is {key}.".encode())
    world.executions()

    receipts = [delete(world, deletions, key) for key in keys[1:]]

    world.executions()
    done = [deletions.receipts.get("alice", each) for each in receipts]
    assert [each.is_open for each in done if each is not None] == [False] * 3
    assert [world.status(key) for key in keys] == ["indexed", None, None, None]
    assert passages(bedrock, "alice") == [f"Annual leave is {keys[0]}."]


def test_more_catalogs_than_a_vector_knowledge_base_has_room_for_have_sources_of_their_own(
    world: World, bedrock: str
) -> None:
    keys = [f"alice/shelf {number}/a.txt" for number in range(7)]
    for key in keys:
        world.drop(key)

    executions = world.executions()

    assert {each.states[-1] for each in executions} == {"WorklistSettled"}
    assert {world.status(key) for key in keys} == {"indexed"}
    own = {world.catalog(key).data_source_id for key in keys}
    assert {world.catalog(key).data_source_type for key in keys} == {DataSourceType.S3}
    assert len(own) == 7
    assert world.slots.taken(bedrock) == 7


def test_a_deleted_catalog_gives_its_data_source_and_its_slot_back(
    world: World, bedrock: str, deletions: Deletions
) -> None:
    world.drop(KEY)
    world.executions()

    deletions.delete_catalog("alice", world.catalog(KEY).catalog_id)

    assert {each.states[-1] for each in world.executions()} == {"WorklistSettled"}
    left = session.client("bedrock-agent").list_data_sources(knowledgeBaseId=bedrock)
    assert [each["name"] for each in left["dataSourceSummaries"]] == ["shared"]
    assert world.slots.taken(bedrock) == 0
