"""The suite itself: deaths strike where they should, and no discrepancy escapes the truth."""

from collections.abc import Callable, Iterator

import pytest

from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.leases import DynamoLeases
from stackroom.aws.worklists import DynamoWorklists
from stackroom.keys import Location, locate
from stackroom.model import Document, DocumentStatus
from stackroom.runs.leases import LEASE
from stackroom.runs.worklists import shared_worklist
from tests.aws.stores import BUCKET, CATALOG_TABLE, CONTROL_TABLE
from tests.chaos.deployment import Terms
from tests.chaos.kills import Kill, Kills
from tests.chaos.truth import discrepancies
from tests.chaos.wire import Wire
from tests.chaos.world import World, world

KEY = "alice/research/a.txt"
START = "bedrock-agent.StartIngestionJob"


@pytest.fixture
def settled(wire: Wire) -> Iterator[World]:
    with world(wire, Terms()) as made:
        made.drop(KEY, "a text")
        assert made.settle()
        yield made


def document_of(made: World) -> tuple[DynamoDocuments, Document]:
    documents = DynamoDocuments(client=made.wire.client("dynamodb"), table=CATALOG_TABLE)
    place = locate(KEY)
    assert isinstance(place, Location)
    found = documents.get(place.catalog_id, place.document_id)
    assert found is not None
    return documents, found


@pytest.mark.parametrize("late", [False, True])
def test_a_worker_dies_before_or_after_the_call_has_its_effect(wire: Wire, late: bool) -> None:
    terms = Terms(by_jobs=True)
    with world(wire, terms) as plain:
        plain.drop(KEY, "a text")
        plain.settle()
        call = plain.kills.names["start", 1].index(START)  # before that, it queues up
    kill = Kill("start", 1, call, late)

    with world(wire, terms, kills=Kills.of([kill])) as made:
        made.drop(KEY, "a text")
        made.settle()
        started = made.account.bill.calls["StartIngestionJob"]
        _, document = document_of(made)

    assert made.kills.done == [kill]
    assert (started > 1) is late  # the job that was started is found to be in the way
    assert document.status is DocumentStatus.INDEXED


def fail_the_record(made: World) -> None:
    documents, document = document_of(made)
    documents.save(document.moved(DocumentStatus.FAILED, at=made.hub.now(), reason="a lie"))


def lose_the_record(made: World) -> None:
    _, document = document_of(made)
    key = {"catalog_id": {"S": document.catalog_id}, "sk": {"S": f"DOC#{document.document_id}"}}
    made.wire.client("dynamodb").delete_item(TableName=CATALOG_TABLE, Key=key)


def change_the_object(made: World) -> None:
    made.silent = True
    made.drop(KEY, "another text")


def remove_the_object(made: World) -> None:
    made.silent = True
    made.remove(KEY)


def lose_the_vectors(made: World) -> None:
    (member,) = made.pool
    searchable = made.account.searchable
    for owner in list(searchable._shelf(member.knowledge_base_id).documents):
        searchable.remove(member.knowledge_base_id, owner)


def ingest_it_twice(made: World) -> None:
    ingest_it(made, "alice")


def ingest_it_as_nobodys(made: World) -> None:
    ingest_it(made, "!rejected")


def ingest_it(made: World, user_id: str) -> None:
    """At another data source than its own."""
    (member,) = made.pool
    _, document = document_of(made)
    place = locate(KEY)
    assert isinstance(place, Location)
    attributes = {"user_id": user_id, "document_id": place.document_id}
    made.account.client("bedrock-agent", unpaced=True).ingest_knowledge_base_documents(
        knowledgeBaseId=member.knowledge_base_id,
        dataSourceId=member.data_source_id,
        documents=[
            {
                "content": {
                    "dataSourceType": "CUSTOM",
                    "custom": {
                        "customDocumentIdentifier": {"id": document.document_id},
                        "sourceType": "S3_LOCATION",
                        "s3Location": {"uri": f"s3://{BUCKET}/{KEY}"},
                    },
                },
                "metadata": {
                    "type": "IN_LINE_ATTRIBUTE",
                    "inlineAttributes": [
                        {"key": key, "value": {"type": "STRING", "stringValue": value}}
                        for key, value in attributes.items()
                    ],
                },
            }
        ],
    )
    made.pass_time(20)


def hold_a_lease(made: World) -> None:
    leases = DynamoLeases(client=made.wire.client("dynamodb"), table=CONTROL_TABLE)
    _, document = document_of(made)
    seen = leases.ask(document.catalog_id)
    leases.take(seen, until=made.hub.now() + LEASE, failures=0)


def leave_a_worklist(made: World) -> None:
    worklists = DynamoWorklists(client=made.wire.client("dynamodb"), table=CONTROL_TABLE)
    (member,) = made.pool
    _, document = document_of(made)
    worklists.add(shared_worklist(member.knowledge_base_id), document.catalog_id)


def miscount(made: World) -> None:
    _, document = document_of(made)
    made.wire.client("dynamodb").update_item(
        TableName=CATALOG_TABLE,
        Key={"catalog_id": {"S": document.catalog_id}, "sk": {"S": "METADATA"}},
        UpdateExpression="ADD total_bytes :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
    )


def take_it_up(made: World) -> None:
    """And ask for no run."""
    documents, document = document_of(made)
    documents.save(document.moved(DocumentStatus.DELETING, at=made.hub.now()))


def kill_a_message(made: World) -> None:
    made.queue.send("not an event")
    made.pass_time(3600)


@pytest.mark.parametrize(
    ("tamper", "seen"),
    [
        (fail_the_record, {"catalog", "false failure", "search", "status"}),
        (lose_the_record, {"ghost", "lost", "orphan", "totals"}),
        (change_the_object, {"stale"}),
        (remove_the_object, {"left over"}),
        (lose_the_vectors, {"search"}),
        (ingest_it_twice, {"orphan", "search"}),
        (ingest_it_as_nobodys, {"orphan", "quarantine"}),
        (hold_a_lease, {"lease"}),
        (leave_a_worklist, {"worklist"}),
        (miscount, {"totals"}),
        (take_it_up, {"unsettled", "open", "search", "status", "totals"}),
        (kill_a_message, {"dead letter"}),
    ],
)
def test_the_truth_sees_what_does_not_agree(
    settled: World, tamper: Callable[[World], None], seen: set[str]
) -> None:
    tamper(settled)

    told = discrepancies(settled)

    assert {each.partition(":")[0] for each in told} == seen
