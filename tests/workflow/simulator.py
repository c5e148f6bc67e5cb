"""
The Bedrock simulator put together in this process, under simulated time.

Its rules and life cycles are those that `stackroom up` serves. Nothing is parsed or embedded: a
document is its text, and a search finds what its filter lets through.
"""

from functools import cache
from pathlib import Path
from typing import Any

import botocore.session

from benchmarks.simulated_time.bedrock import Durations, NothingToParse, WaitInsteadOfEmbedding
from benchmarks.simulated_time.searching import SearchableDocuments
from stackroom_local.simulator.assembly import Services
from stackroom_local.simulator.assumptions import Assumptions
from stackroom_local.simulator.components import Components
from stackroom_local.simulator.errors import ServiceError
from stackroom_local.simulator.faults import Faults
from stackroom_local.simulator.identifiers import Arns
from stackroom_local.simulator.rules import MANAGED_CREATION
from stackroom_local.simulator.store import Store
from tests.simulator.world import ROLE, knowledge_base_request
from tests.workflow.answering import Members
from tests.workflow.bucket import TroubledBucket
from tests.workflow.timeline import StampingClock, Timeline

_ARNS = Arns(account="123456789012", region="us-east-1")


class Simulator:
    """Time passes as it is told to, and not otherwise. Safe to use from several threads."""

    def __init__(self, s3: Any, assumptions: Assumptions | None = None) -> None:
        self.faults = Faults()
        self._assumptions = assumptions
        self._timeline = Timeline()
        clock = StampingClock(self._timeline.hub)
        self._bucket = TroubledBucket(lambda: s3, clock)
        self._services = self._timeline.do(lambda: self._assembled(clock))

    def close(self) -> None:
        self._timeline.do(self._bucket.let_all_go)
        self._timeline.do(self._services.close)
        self._timeline.close()

    def call(self, operation: Any, members: Members, *, after: float) -> Members:
        """Of the service model, after so many seconds. Raises ServiceError, ConnectionDropped."""
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

    def managed_knowledge_base(self, name: str) -> str:
        """A new one of type MANAGED; answers its id once something can be connected to it."""
        made = self.ask(
            "CreateKnowledgeBase",
            name=name,
            roleArn=ROLE,
            knowledgeBaseConfiguration={"type": "MANAGED"},
        )
        self.pass_time(MANAGED_CREATION.value)
        return str(made["knowledgeBase"]["knowledgeBaseId"])

    def pass_time(self, seconds: float) -> None:
        self._timeline.do(lambda: None, after=seconds)

    def hold(self, key: str) -> None:
        """Whoever reads this document from now on is at it until it is let go."""
        self._timeline.do(lambda: self._bucket.hold(key))

    def let_go(self, key: str) -> None:
        self._timeline.do(lambda: self._bucket.let_go(key))

    def refuse_listings(self, times: int) -> None:
        self._timeline.do(lambda: self._bucket.refuse(times))

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
