"""
Agents' runs as they are deployed: tables, bucket and queue in memory, models and knowledge bases of
the simulator, the function as its queue calls it.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

import functions.agent_runner.handler as function
from functions.agent_runner.handler import RunnerSettings
from stackroom.agent_run import AgentRun
from stackroom.agents.agents import AgentDefinition
from stackroom.agents.links import NewLink
from stackroom.agents.runs import NewRun, Runs
from stackroom.aws import session
from stackroom.aws.use_cases import UseCases
from stackroom.model import Catalog, DataSource
from stackroom_local.simulator import script_orders
from tests.aws.stores import ENVIRONMENT, create_bucket, create_tables
from tests.functions.printed import Printed
from tests.lambda_context import Context
from tests.records import NOW
from tests.simulator.world import World as Simulated

MODEL = "us.amazon.nova-pro-v1:0"
QUESTION = "How often is the pump greased?"
SECRET = "blue herons"  # of the document, and of no log
TEXT = f"By the manual the pump is greased every 200 hours, and {SECRET} watch it."
TOOL = "search_manuals"

# The model's turns: it searches, and cites what it found.
SEARCHES = {"text": "I look it up.", "uses": [{"name": TOOL, "input": {"query": "{{question}}"}}]}
CITES = {
    "text": "{{often}} [{{file}}]",
    "quotes": {"often": r"every \d+ hours", "file": r'"filename": "([^"]+)"'},
}


class ConsoleSettings(RunnerSettings):
    """Of who starts runs."""

    agent_runs_queue_url: str


@dataclass
class Patient(Context):
    seconds: float = 600.0

    def get_remaining_time_in_millis(self) -> int:
        return round(self.seconds * 1000)


@dataclass
class World:
    monkeypatch: pytest.MonkeyPatch
    printed: Printed
    simulated: Simulated
    agent_id: str = field(init=False, default="")
    knowledge_base_id: str = field(init=False, default="")

    def __post_init__(self) -> None:
        create_tables(session.client("dynamodb"))
        create_bucket(session.client("s3"))
        created = self.sqs.create_queue(QueueName="agent-runs")
        self.knowledge_base_id = self.simulated.knowledge_base()
        pool = [{"knowledge_base_id": self.knowledge_base_id, "data_source_id": "SHARED0001"}]
        variables = {
            **ENVIRONMENT,
            "KB_POOL": json.dumps(pool),
            "AGENT_RUNS_QUEUE_URL": created["QueueUrl"],
            "POWERTOOLS_SERVICE_NAME": "agent_runner",
        }
        for name, value in variables.items():
            self.monkeypatch.setenv(name, value)
        self.catalog("alice", "cat-manuals", "Manuals", TEXT)
        self.agent_id = self.agent("alice", "cat-manuals")

    @property
    def sqs(self) -> Any:
        return session.client("sqs")

    @property
    def use_cases(self) -> UseCases:
        return UseCases.of(ConsoleSettings.from_env(), session.client)

    @property
    def runs(self) -> Runs:
        return self.use_cases.agent_runs

    def catalog(self, user: str, key: str, name: str, text: str) -> None:
        prefix = f"{user}/{name}/"
        catalogs = self.use_cases.deployment.register
        told: dict[str, Any] = {"catalog_id": key, "user_id": user, "name": name}
        catalogs.open(Catalog(**told, s3_prefix=prefix, created_at=NOW, updated_at=NOW))
        attributes = {"user_id": user, "catalog_id": key, "document_id": f"doc-{key}"}
        source = self.filled(self.knowledge_base_id, prefix, text, **attributes)
        placed = DataSource(knowledge_base_id=self.knowledge_base_id, data_source_id=source)
        catalogs.place(key, placed)

    def filled(self, knowledge_base_id: str, prefix: str, text: str, **attributes: object) -> str:
        """A data source with one document."""
        self.simulated.put(f"{prefix}pump.txt", text, {"filename": "pump.txt", **attributes})
        source = self.simulated.data_source(knowledge_base_id, prefix=prefix)
        job = self.simulated.sync(knowledge_base_id, source)
        assert job["statistics"]["numberOfNewDocumentsIndexed"] == 1
        return source

    def agent(
        self, user: str, knowledge_base_id: str, *, model: str = MODEL, prompt: str = ""
    ) -> str:
        """Linked to a catalog, or to what the deployment shares, and to nothing else."""
        definition = AgentDefinition(name="Fitter", model=model, system_prompt=prompt)
        agent = self.use_cases.agents.create(user, definition)
        link = NewLink(
            knowledge_base_id=knowledge_base_id,
            tool_name=TOOL,
            tool_description="Search it",
            default_min_score=0.0,
        )
        self.use_cases.agent_links.link(user, agent.id, link)
        return agent.id

    def model_says(self, *turns: Any, model: str = MODEL, where: str = "") -> None:
        order = {"model": model, "where": where, "turns": turns}
        script_orders.order(self.simulated.endpoint, order)

    def start(self, question: str = QUESTION) -> AgentRun:
        return self.runs.start("alice", self.agent_id, NewRun(message=question))

    def handed_on(self) -> list[dict[str, Any]]:
        """The messages that wait in the queue, as Lambda hands them to the function."""
        got = self.sqs.receive_message(
            QueueUrl=ConsoleSettings.from_env().agent_runs_queue_url, MaxNumberOfMessages=10
        )
        return [
            {"messageId": each["MessageId"], "body": each["Body"]}
            for each in got.get("Messages", ())
        ]

    def deliver(self, records: Sequence[dict[str, Any]], *, seconds: float = 600.0) -> list[str]:
        """Answers which messages failed."""
        event = {"Records": list(records)}
        answer = function.handler(event, Patient(seconds=seconds))
        return [each["itemIdentifier"] for each in answer["batchItemFailures"]]

    def asked(self, question: str = QUESTION) -> AgentRun:
        """A run from its start to its end."""
        run = self.start(question)
        assert self.deliver(self.handed_on()) == []
        return self.runs.get("alice", run.id)
