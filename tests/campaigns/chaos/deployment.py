"""
Stackroom as it is deployed, in an account under simulated time.

The handlers, their adapters and the state machine are the product's own. What stands in for AWS is
held to it by tests of its own: moto, the simulator, the walk, the queues.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from bedrock_kb_simulator.faults import Faults
from functions.upload_handler.handler import UploadSettings
from simulated_time.account import Account
from simulated_time.bedrock import ACCOUNT, REGION
from simulated_time.executions import Execution
from simulated_time.functions import Function, FunctionFailed
from simulated_time.hub import Hub
from stackroom.app.run_builder import RunBuilder
from stackroom.app.tool_builder import ToolBuilder
from stackroom.errors import CatalogNotFound, DocumentNotFound
from stackroom.model.keys import Location, is_ours, locate
from stackroom.model.records import CatalogDataSources, PoolMember
from stackroom.runs.capacity import CAPACITIES
from tests.aws.stores import ENVIRONMENT, create_bucket, create_tables
from tests.campaigns.chaos.disruptions import Disruptions, delivered, disturb
from tests.campaigns.chaos.handlers import Event, handle
from tests.campaigns.chaos.kills import Kills
from tests.campaigns.chaos.wire import Wire
from tests.workflow.machine import DEFINITION


@dataclass(frozen=True)
class Command:
    """`key` is a document's; of a catalog's, any key in it."""

    action: Literal["delete_document", "delete_catalog", "retry", "lift_caps"]
    key: str


def place_of(key: str) -> Location:
    place = locate(key)
    assert isinstance(place, Location), "people name what has its place"
    return place


class _UseCases(ToolBuilder, RunBuilder):
    """The use cases behind people's commands."""


def carry_out(
    command: Command, client: Callable[[str], Any], environment: Mapping[str, str]
) -> None:
    place = place_of(command.key)
    # The upload handler reads all that these need.
    use_cases = _UseCases(settings=UploadSettings.from_env(environment), client=client)
    with suppress(CatalogNotFound, DocumentNotFound):  # gone already
        match command.action:
            case "delete_document":
                use_cases.deletions.delete_document(
                    place.user_id, place.catalog_id, place.document_id
                )
            case "delete_catalog":
                use_cases.deletions.delete_catalog(place.user_id, place.catalog_id)
            case "lift_caps":
                use_cases.caps.remove(place.user_id)
                use_cases.user_caps.reassess(use_cases.register.of_user(place.user_id))
            case "retry":
                use_cases.retrying.retry(place.user_id, place.catalog_id)


_OWN_SLOTS = CAPACITIES["BEDROCK"].own_sources
_SWEEP = 300.0  # seconds [infra/runs.py]
_TIMEOUTS = {  # seconds [infra/pipeline_functions.py]
    "upload_handler": 60.0,
    "inspect": 660.0,
    "ingest": 120.0,
    "status_poller": 120.0,
    "reconciler": 900.0,
    "event_publisher": 60.0,
    "person": 900.0,
}
# Lambda tries what it was given asynchronously twice more, a minute and two minutes later.
# https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
_AGAIN = (60.0, 120.0)
_READERS, _VISIBILITY = 100, 720.0  # at a time, and seconds of a message [infra/pipeline.py]


@dataclass(frozen=True)
class Terms:
    """Under which conditions a world lives; equal terms, equal world."""

    seed: int = 0
    own_slots: int = 4  # data sources of catalogs' own; 0: everyone shares
    by_jobs: bool = False  # these take ingestion jobs instead of direct calls
    deliveries: int = 1  # of each event of the story
    shuffle: float = 0.0  # seconds by which events are late, at most


@dataclass(kw_only=True)
class Deployment:
    """`troubled` counts what went wrong that is neither a kill nor a fault of Bedrock's."""

    terms: Terms
    wire: Wire
    kills: Kills
    faults: Faults
    account: Account
    pool: list[PoolMember] = field(default_factory=list)
    ended: list[Execution] = field(default_factory=list)
    deliveries: int = 1  # of each event, at present
    silent: bool = False  # events get lost
    troubled: int = 0
    pending: int = 0  # events and invocations under way
    disruptions: Disruptions = field(default_factory=Disruptions)

    @property
    def hub(self) -> Hub:
        return self.account.hub

    @property
    def s3(self) -> Any:
        return self.wire.client("s3")

    def happened(self, kind: str, key: str) -> None:
        if self.silent or is_ours(key):
            return
        chance = self.account.chance
        self.troubled += self.deliveries != 1
        for _ in range(self.deliveries):
            self.pending += 1
            self.hub.spawn(
                partial(self._notify, kind, key), after=chance.uniform(0, self.terms.shuffle)
            )

    def _notify(self, kind: str, key: str) -> None:
        deliver = partial(self.account.notify, kind, key)
        delivered(self.disruptions.met("events.Deliver"), deliver, self._later)
        self.hub.sleep(2)  # by then it is in the queue
        self.pending -= 1

    def _later(self, seconds: float, action: Callable[[], object]) -> None:
        self.pending += 1

        def act() -> None:
            action()
            self.hub.sleep(2)
            self.pending -= 1

        self.hub.spawn(act, after=seconds)

    def begin(self, function: str, event: Event) -> None:
        """An asynchronous invocation, as EventBridge's."""
        self.pending += 1

        def insist() -> None:
            for wait in (*_AGAIN, None):
                try:
                    self.account.functions.begin(function, event).result()
                    break
                except FunctionFailed:
                    if wait is not None:
                        self.hub.sleep(wait)
            self.pending -= 1

        self.hub.spawn(insist)

    def _follow(self, execution: Execution) -> None:
        """The rule on executions that ended otherwise than well."""
        self.ended.append(execution)
        if execution.status != "SUCCEEDED":
            told = {"action": "recover", "execution_name": execution.name}
            recover = partial(self.begin, "ingest", told)
            delivered(self.disruptions.met("events.Deliver"), recover, self._later)

    def _keep_sweeping(self) -> None:
        while True:
            self.hub.sleep(_SWEEP)
            self.account.functions.begin("ingest", {"action": "sweep"})

    def set_up(self) -> None:
        """In a new account; before anybody does anything."""
        create_tables(self.wire.client("dynamodb"))
        create_bucket(self.s3)
        knowledge_base_id, data_source_id = self.account.knowledge_base()
        self.pool.append(
            PoolMember(
                knowledge_base_id=knowledge_base_id,
                data_source_id=data_source_id,
                index=self._index_of(knowledge_base_id),
                catalog_data_sources=(
                    CatalogDataSources.S3 if self.terms.by_jobs else CatalogDataSources.CUSTOM
                ),
            )
        )
        self._let_strangers_in(knowledge_base_id, _OWN_SLOTS - self.terms.own_slots)
        self.hub.run(until=self.hub.time + 5)
        for name, seconds in _TIMEOUTS.items():
            handler = partial(self._handle, name)
            self.account.function(Function(name=name, memory=512, timeout=seconds, handler=handler))
        self.queue = self.account.consumed_queue(
            "uploads", "upload_handler", batch_size=10, window=0, batches=10
        )
        self.readings = self.account.consumed_queue(
            "inspections",
            "inspect",
            batch_size=1,
            window=0,
            batches=_READERS,
            visibility=_VISIBILITY,
        )
        for each in (self.queue, self.readings):
            disturb(each, self.disruptions, self._later)
        self.workflow = self.account.workflow(
            DEFINITION.read_text("utf-8"),
            {"IngestFunctionArn": "ingest", "StatusPollerFunctionArn": "status_poller"},
        )
        self.workflow.ended.append(self._follow)
        self.hub.spawn(self._keep_sweeping)

    def _index_of(self, knowledge_base_id: str) -> str:
        agent = self.account.client("bedrock-agent", unpaced=True)
        made = agent.get_knowledge_base(knowledgeBaseId=knowledge_base_id)["knowledgeBase"]
        return str(made["storageConfiguration"]["s3VectorsConfiguration"]["indexArn"])

    def _let_strangers_in(self, knowledge_base_id: str, number: int) -> None:
        """Data sources of other people's, of which Stackroom knows nothing."""
        agent = self.account.client("bedrock-agent", unpaced=True)
        for name in (f"handbooks-{each}" for each in range(number)):
            self.hub.run(until=self.hub.time + 1)  # two a second are let through
            agent.create_data_source(
                knowledgeBaseId=knowledge_base_id,
                name=name,
                dataSourceConfiguration={
                    "type": "S3",
                    "s3Configuration": {"bucketArn": "arn:aws:s3:::handbooks"},
                },
            )

    def _handle(self, name: str, event: Any) -> Any:
        step = event.action if name == "person" else event.get("action", name)
        with self.kills.working(step):
            if name == "person":
                return carry_out(event, self.wire.client, self.environment)
            return json.loads(json.dumps(handle(name, event, self.account.pace)))

    @property
    def environment(self) -> dict[str, str]:
        return {
            **ENVIRONMENT,
            "KB_POOL": json.dumps([each.model_dump() for each in self.pool]),
            "STATE_MACHINE_ARN": f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:ingest",
            "INSPECTIONS_QUEUE_URL": f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/stackroom-inspections",
            "WEBHOOKS_QUEUE_URL": f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/stackroom-webhooks.fifo",
        }
