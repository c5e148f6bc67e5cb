"""An AWS account under simulated time: its services, and how they are connected."""

import json
import random
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from bedrock_kb_simulator.assumptions import Assumptions
from bedrock_kb_simulator.faults import Faults
from bedrock_kb_simulator.store import Store
from simulated_time.bedrock import Durations, Shelves, bedrock
from simulated_time.bill import Bill
from simulated_time.client import Client
from simulated_time.definition import definition_of
from simulated_time.functions import Function, FunctionEnded, Functions, Pace
from simulated_time.hub import Hub, Signal
from simulated_time.queues import IDLE_REQUESTS, Queue
from simulated_time.queues import Mapping as SourceMapping
from simulated_time.searching import SearchableDocuments
from simulated_time.workflow import Workflow

T = TypeVar("T")

CREATED, DELETED = "Object Created", "Object Deleted"

# Assumed seconds: from a request to S3 until its event is in the queue, and of a call of Bedrock as
# a function sees it.
EVENT_DELAY = (0.3, 1.5)
CALL = 0.1
_SEARCH = 0.3


class Account:
    """An AWS account whose services share a clock; all randomness comes from the seed."""

    def __init__(
        self,
        *,
        shelves: Shelves,
        durations: Durations,
        seed: int,
        hub: Hub,
        faults: Faults | None = None,
        assumptions: Assumptions | None = None,
    ) -> None:
        self.hub = hub
        self.bill = Bill()
        self.chance = random.Random(seed)
        self.functions = Functions(hub, self.bill)
        self.pace = Pace(hub=hub)
        self.durations = durations
        self.queues: list[Queue] = []
        self.searchable = SearchableDocuments(hub)
        self._bedrock = partial(
            bedrock,
            hub,
            shelves,
            durations,
            self.searchable,
            store=Store(Path(":memory:")),
            faults=faults,
            assumptions=assumptions,
        )
        self._services = self._bedrock()
        self._events = count(1)
        self._seed = seed
        self._event_counts: Counter[tuple[str, str]] = Counter()

    def restart_bedrock(self) -> None:
        """Restart the simulator of Bedrock, which takes a second and cuts off running work."""
        self._services.close()
        self.hub.sleep(1)
        self._services = self._bedrock()

    def client(self, service: str, *, unpaced: bool = False) -> Client:
        """Return a service's client; an unpaced one takes no time and serves to set things up."""
        return Client(
            service=service,
            dispatcher=self._services.dispatcher,
            spend=(lambda _seconds: None) if unpaced else self.pace.spend,
            bill=self.bill,
            latency=_SEARCH if service == "bedrock-agent-runtime" else CALL,
            chance=self.chance,
        )

    def knowledge_base(self) -> tuple[str, str]:
        """Create a knowledge base with a shared CUSTOM data source; the next one needs a pause."""
        vectors, agent = (
            self.client(each, unpaced=True) for each in ("s3vectors", "bedrock-agent")
        )
        name = f"kb-{next(self._events)}"
        vectors.create_vector_bucket(vectorBucketName=name)
        index = vectors.create_index(
            vectorBucketName=name,
            indexName=name,
            dataType="float32",
            dimension=1024,
            distanceMetric="cosine",
            metadataConfiguration={
                "nonFilterableMetadataKeys": ["AMAZON_BEDROCK_TEXT", "AMAZON_BEDROCK_METADATA"]
            },
        )
        made = agent.create_knowledge_base(**_knowledge_base(name, index["indexArn"]))
        knowledge_base_id = made["knowledgeBase"]["knowledgeBaseId"]
        source = agent.create_data_source(
            knowledgeBaseId=knowledge_base_id,
            name="shared",
            dataSourceConfiguration={"type": "CUSTOM"},
        )
        return knowledge_base_id, source["dataSource"]["dataSourceId"]

    def function(self, function: Function) -> None:
        self.functions.add(function)

    def consumed_queue(
        self,
        name: str,
        function: str,
        *,
        batch_size: int,
        window: float,
        batches: int | None = None,
        visibility: float | None = None,
        wants: Callable[[str], bool] = lambda _key: True,
    ) -> Queue:
        """Create a queue like infra/queues.py: five receives, six times the function's timeout."""
        queue = Queue(
            hub=self.hub,
            bill=self.bill,
            name=name,
            visibility=visibility or 6 * self.functions.known[function].timeout + window,
            receives=5,
            wants=wants,
        )
        SourceMapping(
            hub=self.hub,
            functions=self.functions,
            queue=queue,
            function=function,
            batch_size=batch_size,
            window=window,
            batches=batches,
        )
        self.queues.append(queue)
        return queue

    def run_parallel(self, actions: Sequence[Callable[[], T]]) -> list[T]:
        """
        Run the actions in parallel as `stackroom.concurrency.run_in_threads` does, in one function.

        Together they take as long as the slowest, even if that one has only read and owes time.
        """
        if len(actions) < 2:
            return [action() for action in actions]
        answers: dict[int, T] = {}
        errors: dict[int, BaseException] = {}
        over = Signal(self.hub)
        self.pace.settle()
        caller = self.hub.current().context

        def begin(number: int) -> None:
            try:
                answer = actions[number]()
                self.pace.settle()
                answers[number] = answer
            except (Exception, FunctionEnded) as error:  # the caller raises it
                errors[number] = error
            if len(answers) + len(errors) == len(actions):
                over.set()

        for number in range(len(actions)):
            self.hub.spawn(partial(begin, number)).context = caller and caller.strand()
        over.wait()
        for number in sorted(errors):
            raise errors[number]
        return [answers[number] for number in range(len(actions))]

    def workflow(self, text: str, functions: Mapping[str, str]) -> Workflow:
        return Workflow(
            hub=self.hub,
            bill=self.bill,
            functions=self.functions,
            definition=definition_of(text, functions),
            chance=self.chance,
        )

    def notify(self, kind: str, key: str) -> None:
        """Send the event of an object to its queues; `kind` is CREATED or DELETED."""
        number = next(self._events)
        body = json.dumps(
            {
                "id": f"event-{number}",
                "detail-type": kind,
                "detail": {"bucket": {"name": "docs"}, "object": {"key": key}},
            }
        )
        self._event_counts[kind, key] += 1
        for queue in (each for each in self.queues if each.wants(key)):
            delay = self.event_delay(kind, key, target=queue.name)
            self.hub.spawn(partial(queue.send, body), after=delay)

    def event_delay(self, kind: str, key: str, target: str = "uploads") -> float:
        """Return the delay of the object's latest event."""
        number = self._event_counts[kind, key]
        return event_delay(self._seed, kind, key, number=number, target=target)

    def charge_idle_polling(self, seconds: float) -> None:
        """Charge the requests of the queues' pollers that find nothing."""
        self.bill.add("sqs requests", IDLE_REQUESTS * len(self.queues) * seconds)


def event_delay(
    seed: int, kind: str, key: str, *, number: int = 1, target: str = "uploads"
) -> float:
    """
    Return the seconds until an object's event, counted from 1, reaches its target. They depend on
    the names alone, so that they are equal for all designs, and known to a bound.
    """
    drawn = zlib.crc32(f"{seed}/{kind}/{key}/{number}/{target}".encode()) / 2**32
    shortest, longest = EVENT_DELAY
    return shortest + drawn * (longest - shortest)


def _knowledge_base(name: str, index_arn: str) -> dict[str, Any]:
    model = "arn:aws:bedrock:us-east-1::foundation-model/amazon.titan-embed-text-v2:0"
    return {
        "name": name,
        "roleArn": "arn:aws:iam::123456789012:role/knowledge-base",
        "knowledgeBaseConfiguration": {
            "type": "VECTOR",
            "vectorKnowledgeBaseConfiguration": {"embeddingModelArn": model},
        },
        "storageConfiguration": {
            "type": "S3_VECTORS",
            "s3VectorsConfiguration": {"indexArn": index_arn},
        },
    }
