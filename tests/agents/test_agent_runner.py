"""A user's question to an agent, from the console's call to the answer that cites a document."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from moto import mock_aws

import functions.agent_runner.handler as function
from bedrock_kb_simulator import scripts
from bedrock_kb_simulator.server import Configuration, Simulator
from functions.agent_runner.handler import RunnerSettings
from simulator.tests.world import World as Simulated
from stackroom.aws import session
from stackroom.model.records import Catalog, DataSource
from stackroom_agents.user_agents.agent_run import AgentRun, RunState, ToolStep
from stackroom_agents.user_agents.agents import AgentDefinition
from stackroom_agents.user_agents.links import NewLink
from stackroom_agents.user_agents.run_bounds import MOST_SECONDS
from stackroom_agents.user_agents.runs import NewRun, Runs
from stackroom_console.services import ConsoleServices
from tests.agents.conftest import logging_taken_back
from tests.aws.stores import BUCKET, ENVIRONMENT, create_bucket, create_tables
from tests.functions.printed import Printed, listening
from tests.support.lambda_context import Context
from tests.support.records import NOW, a_document

pytestmark = pytest.mark.processes  # of the simulator, on a port of this machine

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
    """Settings of a function that starts runs."""

    agent_runs_queue_url: str
    agent_models: tuple[str, ...] = ()
    answer_model_arn: str = f"arn:aws:bedrock:us-east-1::inference-profile/{MODEL}"


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
    def use_cases(self) -> ConsoleServices:
        return ConsoleServices(settings=ConsoleSettings.from_env())

    @property
    def runs(self) -> Runs:
        return self.use_cases.agent_runs

    def catalog(self, user: str, key: str, name: str, text: str) -> None:
        prefix = f"{user}/{name}/"
        catalogs = self.use_cases.register
        told: dict[str, Any] = {"catalog_id": key, "user_id": user, "name": name}
        catalogs.open(Catalog(**told, s3_prefix=prefix, created_at=NOW, updated_at=NOW))
        attributes = {"user_id": user, "catalog_id": key, "document_id": f"doc-{key}"}
        source = self.filled(self.knowledge_base_id, prefix, text, **attributes)
        placed = DataSource(knowledge_base_id=self.knowledge_base_id, data_source_id=source)
        catalogs.place(key, placed)
        document = a_document(catalog_id=key, document_id=f"doc-{key}", filename="pump.txt")
        self.use_cases.documents.save(document)

    def filled(self, knowledge_base_id: str, prefix: str, text: str, **attributes: object) -> str:
        """A data source with one document."""
        self.simulated.put(f"{prefix}pump.txt", text, {"filename": "pump.txt", **attributes})
        source = self.simulated.data_source(knowledge_base_id, prefix=prefix)
        job = self.simulated.sync(knowledge_base_id, source)
        assert job["statistics"]["numberOfNewDocumentsIndexed"] == 1
        return source

    def agent(self, user: str, knowledge_base_id: str) -> str:
        """Linked to a catalog, or to what the deployment shares, and to nothing else."""
        definition = AgentDefinition(name="Fitter", model=MODEL, system_prompt="")
        agent = self.use_cases.agents.create(user, definition)
        link = NewLink(
            knowledge_base_id=knowledge_base_id,
            tool_name=TOOL,
            tool_description="Search it",
            default_min_score=0.0,
        )
        self.use_cases.agent_links.link(user, agent.id, link)
        return agent.id

    def model_says(self, *turns: Any) -> None:
        order = {"model": MODEL, "where": "", "turns": turns}
        scripts.order(self.simulated.endpoint, order)

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


_SERVICES = ("BEDROCK_RUNTIME", "BEDROCK_AGENT_RUNTIME")
_CACHED = (function.settings, function.model_of, function.runner)
S3 = "https://s3.us-east-1.amazonaws.com"


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data = tmp_path_factory.mktemp("simulator")
    with Simulator(Configuration(data_dir=data, s3_endpoint=S3, speed=100)) as running:
        yield running.endpoint


@pytest.fixture
def house(
    simulator: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[World]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    for service in _SERVICES:
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", simulator)
    forget()
    with logging_taken_back(), mock_aws():
        printed = listening([function.logger], monkeypatch, capsys)
        simulated = Simulated(simulator, S3, bucket=BUCKET)
        yield World(monkeypatch=monkeypatch, printed=printed, simulated=simulated)
    forget()


def forget() -> None:
    for each in _CACHED:
        each.cache_clear()


def found(run: AgentRun) -> list[ToolStep]:
    return [each for each in run.steps if isinstance(each, ToolStep)]


def test_model_searches_and_cites_and_no_text_of_it_is_logged_or_queued(house: World) -> None:
    function.logger.setLevel("DEBUG")
    house.model_says(SEARCHES, CITES)
    started = house.start()
    records = house.handed_on()

    assert house.deliver(records) == []

    run = house.runs.get("alice", started.id)
    assert (run.state, run.answer) == (RunState.SUCCEEDED, "every 200 hours [pump.txt]")
    assert [each.kind for each in run.steps] == ["model", "tool", "model"]
    [search] = found(run)
    assert (search.tool_name, search.query, search.is_success) == (TOOL, QUESTION, True)
    assert SECRET in search.passages[0].content
    assert search.passages[0].source["document_id"] == "doc-cat-manuals"
    assert min(run.input_tokens, run.output_tokens) > 0
    assert house.handed_on() == []

    assert [json.loads(each["body"]) for each in records] == [
        {"user_id": "alice", "run_id": run.id}
    ]
    [line] = house.printed.lines("run carried out")
    assert (line["state"], line["run_id"], line["tool_calls"]) == ("succeeded", run.id, 1)
    [access] = house.printed.lines("catalog accessed")
    assert (access["catalog_id"], access["document_ids"]) == ("cat-manuals", "doc-cat-manuals")
    function.logger.setLevel("INFO")
    names = ("AgentRunTokens", "AgentRunToolCalls", "AgentRunsFailed")
    assert [each.name for each in house.printed.figures(*names)] == list(names)
    log = house.printed.log.getvalue()
    assert not [each for each in (QUESTION, SECRET, "200 hours", "look it up") if each in log]


def test_forged_tool_never_searches_another_owners_catalog(house: World) -> None:
    house.catalog("bob", "cat-bobs", "Letters", "The pump is greased every 999 hours.")
    agents = house.use_cases.agents
    [tool] = agents.get("alice", house.agent_id).available_tools
    forged = tool.model_copy(
        update={"config": tool.config.model_copy(update={"knowledge_base_id": "cat-bobs"})}  # type: ignore[union-attr] # it is linked
    )
    agents.changed("alice", house.agent_id, lambda each: each.with_tools((forged,)))
    house.model_says(SEARCHES, {"text": "Nothing."})

    run = house.asked()

    [search] = found(run)
    assert search.told == "Knowledge base not found. It may have been deleted."
    assert "999 hours" not in run.model_dump_json()


def test_message_is_redelivered_if_time_or_the_store_is_missing(house: World) -> None:
    run = house.start()
    [record] = house.handed_on()

    assert house.deliver([record], seconds=MOST_SECONDS) == [record["messageId"]]
    assert house.runs.get("alice", run.id).state is RunState.ACCEPTED
    session.client("dynamodb").delete_table(TableName=ConsoleSettings.from_env().kb_control_table)
    assert house.deliver([record]) == [record["messageId"]]


OF_BOARD = f"For the board: the pump is greased every 400 hours, and {SECRET} watch it."


@pytest.fixture
def board(house: World) -> str:
    """
    The id of a knowledge base that the deployment shares (docs/decisions/0015 and 0017), and that
    members of a group may read.
    """
    shared = house.simulated.knowledge_base()
    house.filled(shared, "board/", OF_BOARD, allowed_groups=["board"])
    entry = {"knowledgeBaseId": shared, "name": "Board", "description": "Ours", "enableAcl": True}
    house.monkeypatch.setenv("KNOWLEDGE_BASES_CONFIG", json.dumps([entry]))
    return shared


def asked_by_bob(house: World, knowledge_base_id: str, *groups: str) -> AgentRun:
    agent = house.agent("bob", knowledge_base_id)
    run = house.runs.start("bob", agent, NewRun(message=QUESTION), groups=groups)
    assert house.deliver(house.handed_on()) == []
    return house.runs.get("bob", run.id)


def passages(run: AgentRun) -> list[str]:
    return [passage.content for each in found(run) for passage in each.passages]


def test_document_of_a_group_answers_only_its_members(house: World, board: str) -> None:
    house.model_says(SEARCHES, {"text": "Nothing says so."})
    outsider = asked_by_bob(house, board, "people")
    house.model_says(SEARCHES, CITES)
    member = asked_by_bob(house, board, "people", "board")

    assert passages(outsider) == []
    assert SECRET not in outsider.model_dump_json()
    assert passages(member) == [OF_BOARD]
    assert "every 400 hours" in (member.answer or "")
