"""Catalogs in DynamoDB, beyond what tests/contract/ports holds every `Catalogs` to."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from stackroom.aws.catalog_register import DynamoCatalogRegister
from stackroom.aws.catalogs import DynamoCatalogs
from stackroom.errors import RecordChanged
from tests.aws.stores import CATALOG_TABLE, CONTROL_TABLE
from tests.records import NOW, a_catalog


@pytest.fixture
def catalogs(dynamodb: Any) -> DynamoCatalogRegister:
    return DynamoCatalogRegister(client=dynamodb, table=CATALOG_TABLE, control_table=CONTROL_TABLE)


def counted(dynamodb: Any, user_id: str = "alice") -> int:
    key = {"pk": {"S": f"USER#{user_id}"}, "sk": {"S": "CATALOGS"}}
    found = dynamodb.get_item(TableName=CONTROL_TABLE, Key=key)
    return int(found["Item"]["catalogs"]["N"])


def test_a_catalog_is_listed_though_the_index_knows_nothing_of_it_yet(
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


def test_a_catalog_that_no_register_names_is_listed_by_the_index(
    catalogs: DynamoCatalogRegister, dynamodb: Any
) -> None:
    opened = catalogs.open(a_catalog())
    key = {"pk": {"S": "USER#alice"}, "sk": {"S": "CATALOGS"}}
    dynamodb.delete_item(TableName=CONTROL_TABLE, Key=key)

    assert list(catalogs.of_user("alice")) == [opened]


def cancel(stub: Stubber, *reasons: str) -> None:
    """The next transaction is canceled, for a reason each of catalog and count."""
    canceled = {"CancellationReasons": [{"Code": reason} for reason in reasons]}
    stub.add_client_error(
        "transact_write_items", "TransactionCanceledException", modeled_fields=canceled
    )
    if "ValidationError" in reasons:
        stub.add_response("get_item", {})


def test_an_opening_that_others_of_the_same_user_were_in_the_way_of_is_tried_again_at_once(
    catalogs: DynamoCatalogRegister, dynamodb: Any
) -> None:
    with Stubber(dynamodb) as stub:
        cancel(stub, "None", "TransactionConflict")
        cancel(stub, "None", "TransactionConflict")
        stub.add_response("transact_write_items", {})

        opened = catalogs.open(a_catalog())
        stub.assert_no_pending_responses()

    assert opened == a_catalog()


def test_an_opening_canceled_for_a_mistake_of_ours_is_not(
    catalogs: DynamoCatalogRegister, dynamodb: Any
) -> None:
    with Stubber(dynamodb) as stub:
        cancel(stub, "ValidationError", "None")

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


def test_a_refused_closing_counts_nothing(catalogs: DynamoCatalogRegister, dynamodb: Any) -> None:
    catalog = catalogs.open(a_catalog())

    with pytest.raises(RecordChanged):
        catalogs.close(catalog)

    assert counted(dynamodb) == 1


def test_a_closing_that_others_were_in_the_way_of_is_tried_again(
    catalogs: DynamoCatalogRegister, dynamodb: Any
) -> None:
    catalog = catalogs.open(a_catalog())

    with Stubber(dynamodb) as stub:
        cancel(stub, "TransactionConflict", "None")
        stub.add_response("transact_write_items", {})
        catalogs.close(catalog)
        stub.assert_no_pending_responses()
