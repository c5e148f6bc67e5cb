"""Catalogs and documents in DynamoDB, beyond what tests/contract/ports holds every store to."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from bedrock_kb_simulator.service_errors import ServiceError
from stackroom.aws import session
from stackroom.aws.dynamodb.catalog_records import DynamoCatalogRegister, DynamoCatalogs
from stackroom.aws.dynamodb.document_names import DynamoDocumentNames
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.aws.dynamodb.table import DynamoTable, transact
from stackroom.aws.listed_inventory import AwsInventory
from stackroom.errors import CatalogFull, StoreUnavailable
from stackroom.model.records import CapKind, DataSource, DataSourceType, DocumentStatus
from stackroom.runs.inventory import ListingExpired
from tests.aws.stores import BUCKET, CATALOG_TABLE, CONTROL_TABLE
from tests.support.records import NOW, a_catalog, a_document
from tests.workflow.answering import answered


@pytest.fixture
def documents(dynamodb: Any) -> DynamoDocuments:
    return DynamoDocuments(client=dynamodb, table=CATALOG_TABLE)


def test_a_catalog_lists_its_documents_and_nothing_else_over_all_pages(
    documents: DynamoDocuments, dynamodb: Any
) -> None:
    metadata = {"catalog_id": {"S": "cat-1"}, "sk": {"S": "METADATA"}}
    dynamodb.put_item(TableName=CATALOG_TABLE, Item=metadata)
    documents.save(a_document().model_copy(update={"catalog_id": "cat-2"}))
    reason = "x" * 100_000  # 20 of these fill two pages: Query answers 1 MB at a time
    failed = {"status": DocumentStatus.FAILED, "status_reason": reason}
    saved = documents.save_all(a_document(number).model_copy(update=failed) for number in range(20))

    listed = list(documents.of_catalog("cat-1"))

    assert sorted(listed, key=lambda each: each.document_id) == saved


def test_ids_of_failed_and_of_waiting_documents_are_listed_apart(
    documents: DynamoDocuments, dynamodb: Any
) -> None:
    states: list[dict[str, Any]] = [
        {"status": DocumentStatus.INDEXED, "indexed_at": NOW},
        {"status": DocumentStatus.FAILED, "status_reason": "it is locked"},
        {"status": DocumentStatus.PENDING},
        {"over_cap": CapKind.DOCUMENTS, "status_reason": "waits"},
    ]
    metadata = {"catalog_id": {"S": "cat-1"}, "sk": {"S": "METADATA"}, "status": {"S": "ready"}}
    dynamodb.put_item(TableName=CATALOG_TABLE, Item=metadata)
    _, failed, pending, held = (
        documents.save(a_document(number).model_copy(update=each)).document_id
        for number, each in enumerate(states)
    )
    names = DynamoDocumentNames(client=dynamodb, table=CATALOG_TABLE)

    assert names.failed("cat-1", limit=9) == [failed]
    assert names.waiting("cat-1", limit=9) == [pending, held]


def test_listing_and_reading_are_consistent(
    documents: DynamoDocuments, dynamodb: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []
    dynamodb.meta.events.register(
        "before-parameter-build.dynamodb", lambda params, **_: asked.append(params)
    )

    documents.get("cat-1", "doc-0001")
    list(documents.of_catalog("cat-1"))
    list(documents.open_in("cat-1"))
    list(documents.failed_in("cat-1"))

    assert [each["ConsistentRead"] for each in asked] == [True] * 4


@pytest.fixture
def catalogs(dynamodb: Any) -> DynamoCatalogRegister:
    return DynamoCatalogRegister(client=dynamodb, table=CATALOG_TABLE, control_table=CONTROL_TABLE)


def test_new_catalog_is_listed_before_the_index_has_it(
    catalogs: DynamoCatalogRegister, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DynamoCatalogRegister, "ids_of", lambda *_: iter(()))
    first, second = catalogs.open(a_catalog(1)), catalogs.open(a_catalog(2))
    catalogs.mark_deleting(first.catalog_id, at=NOW)

    both = list(catalogs.of_user("alice"))
    catalogs.close(first)
    left = list(catalogs.of_user("alice"))

    assert {each.catalog_id for each in both} == {first.catalog_id, second.catalog_id}
    assert left == [second]


def cancel(stub: Stubber, *reasons: str) -> None:
    """The next transaction is canceled, for a reason each of its items."""
    canceled = {"CancellationReasons": [{"Code": each} for each in reasons]}
    stub.add_client_error(
        "transact_write_items", "TransactionCanceledException", modeled_fields=canceled
    )


def test_an_opening_canceled_for_a_mistake_of_ours_is_not(
    catalogs: DynamoCatalogRegister, dynamodb: Any
) -> None:
    with Stubber(dynamodb) as stub:
        cancel(stub, "ValidationError", "None")
        stub.add_response("get_item", {})

        with pytest.raises(ClientError, match="TransactionCanceled"):
            catalogs.open(a_catalog())


def test_catalogs_beyond_one_batch_and_keys_left_over_are_asked_for_again(
    dynamodb: Any,
) -> None:
    catalogs = DynamoCatalogs(client=dynamodb, table=CATALOG_TABLE)
    keys = [{"catalog_id": {"S": f"cat-{number}"}} for number in range(101)]
    left_over = {CATALOG_TABLE: {"Keys": [{**keys[0], "sk": {"S": "METADATA"}}]}}
    empty: dict[str, Any] = {"Responses": {CATALOG_TABLE: []}}

    with Stubber(dynamodb) as stub:
        page = {"Items": keys[:60], "LastEvaluatedKey": keys[59]}
        stub.add_response("query", page)
        stub.add_response("query", {"Items": keys[60:]})
        stub.add_response("batch_get_item", {**empty, "UnprocessedKeys": left_over})
        stub.add_response("batch_get_item", empty, {"RequestItems": left_over})
        stub.add_response("batch_get_item", empty)
        listed = list(catalogs.of_user("alice"))
        stub.assert_no_pending_responses()

    assert listed == []


MALFORMED = [
    {"size": {"S": "large"}},
    {"surprise": {"S": "somebody's"}},
    {"status": {"S": "lost"}},
]


def test_malformed_record_is_named_and_the_others_are_listed(dynamodb: Any) -> None:
    kept = DynamoDocuments(client=dynamodb, table=CATALOG_TABLE).save(a_document())
    for number, values in enumerate(MALFORMED):
        key = {"catalog_id": {"S": "cat-broken"}, "sk": {"S": f"DOC#{number}"}}
        dynamodb.put_item(TableName=CATALOG_TABLE, Item=key | values)
    inventory = AwsInventory(
        s3=None,
        dynamodb=dynamodb,
        bedrock_agent=None,
        bucket=BUCKET,
        catalog_table=CATALOG_TABLE,
    )

    page = inventory.records(None)

    assert page.items == [kept]
    told = sorted(page.malformed)
    assert [each[:18] for each in told] == [f"cat-broken DOC#{number}: " for number in range(3)]
    assert "somebody's" not in str(told)


def test_rejected_listing_token_raises_listing_expired() -> None:
    client = session.client("bedrock-agent")
    inventory = AwsInventory(
        s3=None, dynamodb=None, bedrock_agent=client, bucket=BUCKET, catalog_table=CATALOG_TABLE
    )
    source = DataSource(
        knowledge_base_id="KB1234567X", data_source_id="DS1234567X", type=DataSourceType.CUSTOM
    )

    def refuse(_operation: Any, _asked: dict[str, Any]) -> dict[str, Any]:
        raise ServiceError("ValidationException", "the token is not valid")

    with answered(refuse, client):
        assert inventory.indexed(source, None) is None
        with pytest.raises(ListingExpired, match="the listing of DS1234567X"):
            inventory.indexed(source, "token-of-yesterday")


SERVICE = "dynamodb"  # of the fixture `client`

KEY = {"catalog_id": {"S": "cat-1"}, "sk": {"S": "METADATA"}}
PUT = {"Put": {"TableName": CATALOG_TABLE, "Item": KEY}}


def table(client: Any) -> DynamoTable:
    return DynamoTable(client=client, table=CATALOG_TABLE)


Write = Callable[[Any], object]
WRITES: dict[str, Write] = {
    "transact_write_items": lambda client: transact(client, PUT, PUT),
    "put_item": lambda client: table(client)._put(KEY, condition="a = b"),
    "update_item": lambda client: table(client)._update(KEY, "SET a = :a", {":a": 1}),
    "delete_item": lambda client: table(client)._delete(KEY, condition="a = :a", values={":a": 1}),
}


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The attempts that were paused after."""
    paused: list[int] = []
    monkeypatch.setattr("stackroom.aws.dynamodb.table._among_writers", paused.append)
    return paused


def conflict(stub: Stubber, operation: str) -> None:
    if operation == "transact_write_items":
        cancel(stub, "None", "TransactionConflict")
    else:
        stub.add_client_error(operation, "TransactionConflictException")


@pytest.mark.parametrize("operation", WRITES)
def test_conflicting_write_is_retried_until_store_is_called_unavailable(
    client: Any, pauses: list[int], operation: str
) -> None:
    with Stubber(client) as stub:
        conflict(stub, operation)
        conflict(stub, operation)
        stub.add_response(operation, {"Attributes": KEY} if operation == "update_item" else {})

        WRITES[operation](client)
        stub.assert_no_pending_responses()
        assert pauses == [0, 1]

        pauses.clear()
        for _ in range(12):
            conflict(stub, operation)
        with pytest.raises(StoreUnavailable, match="TransactionConflict"):
            WRITES[operation](client)

    assert len(pauses) == 11


def test_a_transaction_that_came_to_a_busy_partition_is_tried_again_later(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """boto3 repeats throttled calls, but no canceled ones."""
    waited: list[int] = []
    monkeypatch.setattr("stackroom.aws.dynamodb.table._while_busy", waited.append)

    with Stubber(client) as stub:
        cancel(stub, "None", "ThrottlingError")
        stub.add_response("transact_write_items", {})
        transact(client, PUT, PUT)
        for _ in range(12):
            cancel(stub, "None", "ProvisionedThroughputExceeded")
        with pytest.raises(StoreUnavailable, match="ProvisionedThroughputExceeded"):
            transact(client, PUT, PUT)
        stub.assert_no_pending_responses()

    assert waited == [0, *range(11)]


@pytest.mark.parametrize("operation", WRITES)
def test_write_to_a_full_catalog_raises_catalog_full_at_once(
    client: Any, pauses: list[int], operation: str
) -> None:
    with Stubber(client) as stub:
        if operation == "transact_write_items":
            cancel(stub, "ItemCollectionSizeLimitExceeded", "None")
        else:
            stub.add_client_error(operation, "ItemCollectionSizeLimitExceededException")

        with pytest.raises(CatalogFull, match="10 GB"):
            WRITES[operation](client)

    assert pauses == []


def test_documents_whose_writers_meet_are_all_kept(dynamodb: Any, pauses: list[int]) -> None:
    """A conflict is nobody's change: no RecordChanged, and none is left out of many."""
    documents = DynamoDocuments(client=dynamodb, table=CATALOG_TABLE)
    metadata = {**KEY, "status": {"S": "ready"}}
    dynamodb.put_item(TableName=CATALOG_TABLE, Item=metadata)
    read = documents.save_all(a_document(number) for number in range(3))
    later = NOW + timedelta(minutes=1)

    with Stubber(dynamodb) as stub:
        conflict(stub, "transact_write_items")
        stub.add_response("transact_write_items", {})
        saved = documents.save_all(each.moved(DocumentStatus.INDEXED, at=later) for each in read)
        stub.assert_no_pending_responses()

    assert [each.document_id for each in saved] == ["doc-0000", "doc-0001", "doc-0002"]
    assert pauses == [0]
