"""
The Bedrock simulator put together in this process, under simulated time.

Its rules and life cycles are those that `stackroom up` serves. Nothing is parsed or embedded: a
document is its text, and a search finds what its filter lets through.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import botocore.session

from bedrock_kb_simulator.assembly import Components, Services
from bedrock_kb_simulator.assumptions import Assumptions
from bedrock_kb_simulator.bucket_objects import S3Objects
from bedrock_kb_simulator.faults import Faults
from bedrock_kb_simulator.identifiers import Arns
from bedrock_kb_simulator.service_errors import ServiceError
from bedrock_kb_simulator.store import Store
from simulated_time.bedrock import Durations, NothingToParse, WaitInsteadOfEmbedding
from simulated_time.clock import VirtualClock
from simulated_time.hub import Hub
from simulated_time.searching import SearchableDocuments
from simulator.tests.world import knowledge_base_request
from tests.workflow.answering import Members

Answer = TypeVar("Answer")


class Timeline:
    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="bedrock")
        self.hub = self._thread.submit(Hub).result()

    def do(self, action: Callable[[], Answer], *, after: float = 0.0) -> Answer:
        """
        Let so many seconds pass, then do this, and answer what it answers or raise what it raises.

        Whatever else is due by then is done before. Safe to call from any thread but the hub's.
        """
        return self._thread.submit(self._do, action, after).result()

    def close(self) -> None:
        """Everything that waits for a moment has come to its end."""
        self._thread.submit(self.hub.run).result()
        self._thread.shutdown()

    def _do(self, action: Callable[[], Answer], after: float) -> Answer:
        self.hub.run(until=self.hub.time + after)
        answer: Future[Answer] = Future()
        self.hub.spawn(partial(_answer, answer, action))
        self.hub.run(until=self.hub.time)
        while not answer.done():  # it takes time of its own
            self.hub.run(until=self.hub.time + 1)
        return answer.result()


class StampingClock(VirtualClock):
    """Its delays are simulated, its timestamps are not: the product compares them with its own."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def _answer(answer: Future[Answer], action: Callable[[], Answer]) -> None:
    try:
        answer.set_result(action())
    except Exception as error:
        answer.set_exception(error)


_ARNS = Arns(account="123456789012", region="us-east-1")


class Simulator:
    """Time passes as it is told to, and not otherwise. Safe to use from several threads."""

    def __init__(self, s3: Any, assumptions: Assumptions | None = None) -> None:
        self.faults = Faults()
        self._assumptions = assumptions
        self._timeline = Timeline()
        clock = StampingClock(self._timeline.hub)
        self._bucket = S3Objects(lambda: s3)
        self._services = self._timeline.do(lambda: self._assembled(clock))

    def close(self) -> None:
        self._timeline.do(self._services.close)
        self._timeline.close()

    def call(self, operation: Any, members: Members, *, after: float) -> Members:
        """
        Return the service's answer after some seconds. Raises ServiceError, ConnectionDropped.
        """
        dispatcher = self._services.dispatcher
        return self._timeline.do(lambda: dispatcher.call(operation, members), after=after)

    def ask(self, operation: str, *, service: str = "bedrock-agent", **members: Any) -> Members:
        """A test's own call, which takes no time unless it has to wait for a rate."""
        model, seconds = _model(service).operation_model(operation), 0.0
        while True:
            try:
                return self.call(model, members, after=seconds)
            except ServiceError as error:
                if error.code != "ThrottlingException":
                    raise
                seconds = 1.0

    def knowledge_base(self, name: str) -> str:
        """A new one over a new index, both named so; answers its id."""
        self.ask("CreateVectorBucket", service="s3vectors", vectorBucketName=name)
        index = self.ask(
            "CreateIndex",
            service="s3vectors",
            vectorBucketName=name,
            indexName=name,
            dataType="float32",
            dimension=1024,
            distanceMetric="cosine",
        )
        made = self.ask("CreateKnowledgeBase", **knowledge_base_request(index["indexArn"]))
        return str(made["knowledgeBase"]["knowledgeBaseId"])

    def pass_time(self, seconds: float) -> None:
        self._timeline.do(lambda: None, after=seconds)

    def _assembled(self, clock: StampingClock) -> Services:
        hub = self._timeline.hub
        return Services(
            Components(
                clock=clock,
                store=Store(Path(":memory:")),
                arns=_ARNS,
                objects=self._bucket,
                parser=NothingToParse(),
                embedder=WaitInsteadOfEmbedding(hub=hub, durations=Durations()),
                vectors=lambda _memory: SearchableDocuments(hub),
                faults=self.faults,
                assumptions=self._assumptions,
            )
        )


@cache
def _model(service: str) -> Any:
    return botocore.session.get_session().get_service_model(service)
