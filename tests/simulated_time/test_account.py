"""Lambda, SQS and the knowledge base as an account under simulated time has them."""

from collections.abc import Callable
from typing import Any

import pytest

from simulated_time.account import Account
from simulated_time.bedrock import Durations
from simulated_time.functions import COLD_START, Function
from simulated_time.hub import Hub
from simulated_time.stores import Bucket


@pytest.fixture
def account() -> Account:
    hub = Hub()
    bucket = Bucket(hub.now)
    return Account(shelves=bucket, durations=Durations(), seed=1, hub=hub)


def invoked(account: Account, handler: Callable[[Any], Any], timeout: float = 10) -> Any:
    """Return the answer that the caller gets, or the error's name."""
    account.function(Function(name="tested", memory=512, timeout=timeout, handler=handler))
    invocation = account.functions.begin("tested", {})
    account.hub.run()
    return invocation.failure.error if invocation.failure else invocation.answer


def test_a_function_is_billed_for_the_time_that_it_spends(account: Account) -> None:
    answer = invoked(account, lambda _event: account.pace.spend(2.0))

    assert answer is None
    assert account.bill.amounts["lambda requests"] == 1
    assert account.bill.amounts["lambda GB-s"] == pytest.approx((2.005 + COLD_START) / 2)


def test_a_function_that_takes_too_long_is_ended_at_its_timeout(account: Account) -> None:
    def slow(_event: Any) -> None:
        try:
            account.pace.spend(60)
        except Exception:
            pytest.fail("no code of the function's own can catch it")

    assert invoked(account, slow) == "Sandbox.Timedout"
    assert account.hub.time == pytest.approx(10 + COLD_START)


def test_a_full_batch_does_not_wait_for_the_window(account: Account) -> None:
    seen: list[tuple[float, int]] = []

    def consume(event: dict[str, Any]) -> dict[str, Any]:
        seen.append((round(account.hub.time, 1), len(event["Records"])))
        return {"batchItemFailures": []}

    account.function(Function(name="consumer", memory=512, timeout=10, handler=consume))
    queue = account.consumed_queue("queue", "consumer", batch_size=3, window=5)
    for _ in range(4):
        queue.send("{}")
    account.hub.run()

    assert seen == [(0.8, 3), (5.0, 1)]
    assert queue.is_empty
    assert account.bill.amounts["sqs requests"] == 4 + 2 + 2


def test_a_message_that_keeps_failing_is_set_aside_alone(account: Account) -> None:
    def consume(event: dict[str, Any]) -> dict[str, Any]:
        bad = [each["messageId"] for each in event["Records"] if each["body"] == "bad"]
        return {"batchItemFailures": [{"itemIdentifier": each} for each in bad]}

    account.function(Function(name="consumer", memory=512, timeout=10, handler=consume))
    queue = account.consumed_queue("queue", "consumer", batch_size=10, window=1)
    for body in ("good", "bad", "good"):
        queue.send(body)
    account.hub.run()

    assert [(each.body, each.receives) for each in queue.dead] == [("bad", 6)]
    assert not queue.waiting
