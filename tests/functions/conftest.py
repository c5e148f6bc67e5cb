"""Fixtures: the pipeline's functions on simulated AWS, where no execution moves by itself."""

from collections.abc import Iterator
from typing import Any

import pytest
from moto import mock_aws

import functions.catalog_tools.handler as catalog_tools
import functions.opensearch_retrieve.handler as opensearch_retrieve
import functions.retrieve.handler as retrieve
import functions.search_index.handler as search_index
from bedrock_kb_simulator.assumptions import Assumptions
from stackroom.aws import session
from stackroom.aws.stepfunctions.executions import StepFunctionsTaskTokens
from stackroom.catalogs import deletions
from stackroom.search.search import Retrieval
from tests.aws.stores import BUCKET, ENVIRONMENT, create_bucket, create_tables
from tests.fakes.knowledge_base import AllStaying, FakeKnowledgeBase
from tests.fakes.pipeline import FakeCatalogs
from tests.fakes.place_maps import FakePlaceMaps
from tests.functions.pipeline import FUNCTIONS, Pipeline
from tests.functions.printed import Printed, listening
from tests.functions.tools import MODEL, Tools
from tests.support.strict_requests import strict_requests
from tests.workflow.bedrock import Bedrock, pool
from tests.workflow.functions import forget, forget_clients, read_files_here

__all__ = ["strict_requests"]  # a fixture of all tests here

MOTO: Any = {"stepfunctions": {"execute_state_machine": False}}
WAITING = '{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 9, "End": true}}}'
ROLE = "arn:aws:iam::123456789012:role/ingest-catalog"


@pytest.fixture(autouse=True, scope="module")
def clients() -> Iterator[None]:
    """Create clients once per module, as that is slow; none outlives the fake credentials."""
    forget_clients()
    yield
    forget_clients()


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # Direct calls are looked at after seconds, by the clock of AWS; here that clock is faster.
    for name, value in {**ENVIRONMENT, "INGEST_SPEED": "1000"}.items():
        monkeypatch.setenv(name, value)
    read_files_here(monkeypatch)
    # Here no run takes a deleted catalog down while its owner waits.
    monkeypatch.setattr(deletions, "_PATIENCE", 0.0)


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printed:
    """Record what any of the functions prints."""
    handlers = (
        *FUNCTIONS.values(),
        catalog_tools,
        opensearch_retrieve,
        retrieve,
        search_index,
    )
    return listening([each.logger for each in handlers], monkeypatch, capsys)


@pytest.fixture
def data_sources() -> str:
    """The kind of data source per catalog: for direct calls, for jobs, or a shared one."""
    return "custom"


@pytest.fixture
def assumptions() -> Assumptions:
    """The assumptions about AWS that a test may vary."""
    return Assumptions()


@pytest.fixture
def pipeline(
    environment: None,
    printed: Printed,
    data_sources: str,
    assumptions: Assumptions,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Pipeline]:
    forget()
    with mock_aws(config=MOTO):
        s3 = session.client("s3")
        create_tables(session.client("dynamodb"))
        create_bucket(s3)
        machine = session.client("stepfunctions").create_state_machine(
            name="ingest", definition=WAITING, roleArn=ROLE
        )
        monkeypatch.setenv("STATE_MACHINE_ARN", machine["stateMachineArn"])
        bedrock = Bedrock(s3, BUCKET, assumptions)
        bedrock.provision()
        described = pool(bedrock.shared, catalog_data_sources=data_sources)
        monkeypatch.setenv("KB_POOL", described)
        # No task waits with any token here; a grant is found all the same.
        monkeypatch.setattr(StepFunctionsTaskTokens, "wake", lambda _self, _token: True)
        services = ("bedrock-agent", "bedrock-agent-runtime", "searches")
        clients = map(session.client, services)
        with bedrock.answering(*clients):
            yield Pipeline(bedrock=bedrock, monkeypatch=monkeypatch)
        bedrock.close()
    forget()


@pytest.fixture
def tools(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tools]:
    """The tools that agents call, with a model that writes answers."""
    monkeypatch.setenv("ANSWER_MODEL_ARN", MODEL)
    made = (catalog_tools.use_cases, retrieve.retrieval)
    for each in made:
        each.cache_clear()
    with pipeline.bedrock.answering(session.client("writing")):
        yield Tools(pipeline=pipeline)
    for each in made:
        each.cache_clear()


@pytest.fixture
def knowledge_base(monkeypatch: pytest.MonkeyPatch) -> FakeKnowledgeBase:
    """The knowledge base that the retrieve function searches."""
    knowledge_base = FakeKnowledgeBase()
    retrieval = Retrieval(
        pool={"KB1": knowledge_base},
        catalogs=FakeCatalogs(),
        documents=AllStaying(),
        place_maps=FakePlaceMaps(),
    )
    monkeypatch.setattr(retrieve, "retrieval", lambda: retrieval)
    return knowledge_base
