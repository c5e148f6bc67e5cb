"""What else goes wrong at some moment of a story: leases expire, executions end, machines start."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from benchmarks.simulated_time.hub import Hub
from stackroom.aws.admission import DynamoAdmissionBook
from stackroom.errors import RecordChanged
from stackroom.ports.admission import Ledger
from tests.aws.stores import CONTROL_TABLE
from tests.campaigns.chaos.world import World

_LOOK = 0.01  # seconds; from state to state it is twice as long

Trouble = Callable[[World], None]


def expire(world: World) -> None:
    """Every lease and every grant is void from now on, whoever holds it."""
    past = world.hub.now() - timedelta(seconds=1)
    dynamodb = world.wire.client("dynamodb")
    for item in dynamodb.scan(TableName=CONTROL_TABLE)["Items"]:
        if "live" in item:
            dynamodb.update_item(
                TableName=CONTROL_TABLE,
                Key={"pk": item["pk"], "sk": item["sk"]},
                UpdateExpression="SET #until = :past",
                ExpressionAttributeNames={"#until": "until"},
                ExpressionAttributeValues={":past": {"S": past.isoformat()}},
            )
    book = DynamoAdmissionBook(client=dynamodb, table=CONTROL_TABLE)
    ledger = book.read()
    if not ledger.grants:
        return
    try:
        book.write(_voided(ledger, past))
    except RecordChanged:
        expire(world)


def _voided(ledger: Ledger, past: datetime) -> Ledger:
    return replace(ledger, grants=tuple(replace(each, until=past) for each in ledger.grants))


def restart(world: World) -> None:
    world.restart_account()


def observe(world: World) -> None:
    """See which states the story goes through."""

    def watch() -> None:
        while world.kills.armed:
            for execution in world.workflow.executions.values():
                world.states.add(execution.state)
            world.hub.sleep(_LOOK)

    world.hub.spawn(watch)


def end_execution(world: World, state: str, status: str) -> None:
    """The first execution that comes to the state ends there."""

    def watch(hub: Hub) -> None:
        while world.kills.armed:
            for execution in list(world.workflow.executions.values()):
                if execution.status == "RUNNING" and execution.state == state:
                    world.troubled += 1
                    world.workflow.stop(execution.name, status)
                    return
            hub.sleep(_LOOK)

    world.hub.spawn(partial(watch, world.hub))
