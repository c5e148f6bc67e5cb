"""The product's Amazon Bedrock: what a test can do to it, and what there is to see of it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator.assumptions import Assumptions
from bedrock_kb_simulator.faults import Fault, Kind
from bedrock_kb_simulator.service_errors import ConnectionDropped, ServiceError
from simulator.tests.world import CUSTOM
from tests.workflow.answering import Members, answered
from tests.workflow.simulator import Simulator

# AWS seconds. Longer than a job, a direct call or a deletion of anything small takes.
_SOON_ENOUGH = 20.0


@dataclass(frozen=True, kw_only=True)
class Call:
    """One of the product's; `error` is the code of its refusal, or what became of its answer."""

    operation: str
    asked: Members
    error: str | None = None


class Bedrock:
    """
    Time passes before each call of the product's: by default so much that whatever was under way
    is over by the next look at it. A test's own looks and doings take no time.
    """

    def __init__(self, s3: Any, bucket: str, assumptions: Assumptions | None = None) -> None:
        self._pace = _SOON_ENOUGH
        self.calls: list[Call] = []
        self.shared: dict[str, str] = {}  # CUSTOM data sources, by knowledge base
        self._bucket = bucket
        self._simulator = Simulator(s3, assumptions)
        self.pass_time = self._simulator.pass_time
        self.close = self._simulator.close

    @contextmanager
    def answering(self, *clients: Any) -> Iterator[None]:
        """Answer these clients of bedrock-agent and bedrock-agent-runtime."""
        with answered(self._answer, *clients):
            yield

    # What happens in the world.

    def provision(self) -> str:
        """A knowledge base with its shared data source, as infra/ makes them."""
        home = self._simulator.knowledge_base(f"passages-{len(self.shared)}")
        shared: Members = {"name": "shared", "dataSourceConfiguration": CUSTOM}
        made = self._simulator.ask("CreateDataSource", knowledgeBaseId=home, **shared)
        self.shared[home] = str(made["dataSource"]["dataSourceId"])
        return home

    def look_every(self, seconds: float) -> None:
        """So many AWS seconds pass before each call from now on."""
        self._pace = seconds

    def fail(self, operation: str, kind: Kind, **order: Any) -> None:
        """The next such call, or what it makes, meets this fault (simulator/faults.py)."""
        self._simulator.faults.ask(Fault(operation=operation, kind=kind, **order))

    # What there is to see.

    @property
    def refusals(self) -> list[str]:
        """The operations of the product's calls that were not answered, or with an error."""
        return [each.operation for each in self.calls if each.error is not None]

    def accepted(self, operation: str) -> list[Members]:
        """Return the requests of the product that were answered."""
        found = (each for each in self.calls if each.operation == operation)
        return [each.asked for each in found if each.error is None]

    def sources(self) -> list[Members]:
        """Catalogs' own data sources."""
        return [
            self._simulator.ask("GetDataSource", **_ids(each, home))["dataSource"]
            for home, shared in self.shared.items()
            for each in self._listed("ListDataSources", knowledgeBaseId=home)
            if each["dataSourceId"] != shared
        ]

    def jobs(self) -> list[Members]:
        """Return the jobs of the existing data sources, oldest source first."""
        found = [
            job
            for each in self.sources()
            if each["dataSourceConfiguration"] != CUSTOM
            for job in self._listed("ListIngestionJobs", **_ids(each))
        ]
        return sorted(found, key=lambda each: str(each["startedAt"]))

    def prefixes(self) -> list[str]:
        """Return the prefix of each job, in order."""
        prefixes = {
            each["dataSourceId"]: each["dataSourceConfiguration"]["s3Configuration"]
            for each in self.sources()
        }
        return [prefixes[each["dataSourceId"]]["inclusionPrefixes"][0] for each in self.jobs()]

    def documents(self) -> list[Members]:
        """
        Return the documents of all data sources that were ever used; one for jobs lists none before
        its first.
        """
        synced = {each["dataSourceId"] for each in self.jobs()}
        own = [
            _ids(each)
            for each in self.sources()
            if each["dataSourceId"] in synced or each["dataSourceConfiguration"] == CUSTOM
        ]
        shared = [_ids({"dataSourceId": each}, home) for home, each in self.shared.items()]
        return [
            detail
            for place in (*own, *shared)
            for detail in self._listed("ListKnowledgeBaseDocuments", **place)
        ]

    def _listed(self, operation: str, **members: str) -> list[Members]:
        """All of them: a page holds a thousand."""
        answer = self._simulator.ask(operation, **members)
        [listed] = [value for value in answer.values() if isinstance(value, list)]
        return listed

    def _answer(self, operation: Any, asked: Members) -> Members:
        """A call of the product's."""
        error: str | None = None
        try:
            return self._simulator.call(operation, asked, after=self._pace)
        except ServiceError as refusal:
            error = refusal.code
            raise
        except ConnectionDropped:
            error = "no answer"
            raise
        finally:
            self.calls.append(Call(operation=operation.name, asked=asked, error=error))


def pool(shared: Mapping[str, str], **more: str) -> str:
    """The setting of that name, from shared data sources by knowledge base; `more` is of each."""
    return json.dumps(
        [
            {"knowledge_base_id": home, "data_source_id": each, **more}
            for home, each in shared.items()
        ]
    )


def _ids(source: Members, home: str | None = None) -> dict[str, str]:
    return {
        "knowledgeBaseId": home or source["knowledgeBaseId"],
        "dataSourceId": source["dataSourceId"],
    }
