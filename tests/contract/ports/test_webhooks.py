"""The book of webhooks has a user's own and the operators', and nobody else's."""

from typing import Any

import pytest

from stackroom.aws.dynamodb.webhook_records import DynamoWebhooks
from stackroom.catalogs.webhooks import (
    MOST_WEBHOOKS,
    OPERATORS,
    Webhook,
    Webhooks,
    WebhookType,
    add_webhook,
)
from stackroom.errors import LimitReached
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.webhooks import FakeWebhooks


def a_webhook(owner: str = "alice", **more: Any) -> Webhook:
    return Webhook(owner=owner, url="https://example.com/hook?key=1", **more)


@pytest.fixture(params=["fake", "dynamodb"])
def webhooks(request: pytest.FixtureRequest) -> Webhooks:
    if request.param == "fake":
        return FakeWebhooks()
    return DynamoWebhooks(client=request.getfixturevalue("dynamodb"), table=CONTROL_TABLE)


def test_a_user_has_their_own_and_those_of_operators_and_no_other(webhooks: Webhooks) -> None:
    mine = a_webhook(types=(WebhookType.DELETION,))
    everybodys = a_webhook(OPERATORS)
    for each in (mine, everybodys, a_webhook("alice2"), a_webhook("bob")):
        webhooks.add(each)

    assert webhooks.of("alice") == [mine, everybodys]
    assert webhooks.of(OPERATORS) == [everybodys]
    assert webhooks.of("carol") == [everybodys]
    assert len(webhooks.all()) == 4


def test_removed_webhook_may_be_removed_again(webhooks: Webhooks) -> None:
    kept, removed = a_webhook(), a_webhook()
    for each in (kept, removed):
        webhooks.add(each)

    for _ in range(2):
        webhooks.remove(removed)

    assert webhooks.all() == [kept]


def test_an_owner_has_ten_at_most_whatever_others_have(webhooks: Webhooks) -> None:
    webhooks.add(a_webhook(OPERATORS))
    for _ in range(MOST_WEBHOOKS):
        add_webhook(webhooks, a_webhook())

    with pytest.raises(LimitReached):
        add_webhook(webhooks, a_webhook())

    add_webhook(webhooks, a_webhook("bob"))
    add_webhook(webhooks, a_webhook(OPERATORS))
    assert len(webhooks.all()) == MOST_WEBHOOKS + 3
