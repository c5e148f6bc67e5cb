"""One world a test, all of it in memory, in which nothing waits."""

import logging
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from moto import mock_aws

import stackroom.runs.run
import stackroom.runs.run_leases
from stackroom.aws import session
from stackroom.aws.dynamodb.admission_records import DynamoAdmissionBook
from stackroom.aws.dynamodb.catalog_records import DynamoCatalogs
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.aws.dynamodb.lease_records import DynamoLeases
from stackroom.runs.ledger import Mode
from tests.aws.stores import (
    BUCKET,
    CATALOG_TABLE,
    CONTROL_TABLE,
    ENVIRONMENT,
    create_bucket,
    create_tables,
)
from tests.support.strict_requests import strict_requests
from tests.workflow.bedrock import Bedrock, pool
from tests.workflow.engine import calling
from tests.workflow.functions import Functions, forget, forget_clients, read_files_here
from tests.workflow.machine import Machine, definition
from tests.workflow.world import World

__all__ = ["strict_requests"]  # a fixture of all tests here

MOTO: Any = {"stepfunctions": {"execute_state_machine": True}, "lambda": {"use_docker": False}}
ROLE = "arn:aws:iam::123456789012:role/ingest-catalog"


@pytest.fixture(autouse=True, scope="module")
def clients() -> Iterator[None]:
    """Made once a module, for they are slow to make; none outlives the fake credentials."""
    forget_clients()
    yield
    forget_clients()


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    pace = {"INGEST_SPEED": "1000", "ADMISSION_SECONDS_BETWEEN_STARTS": "0"}
    for name, value in {**ENVIRONMENT, **pace}.items():
        monkeypatch.setenv(name, value)
    read_files_here(monkeypatch)
    for name in ("_FIRST", "_LEAST"):
        monkeypatch.setattr(stackroom.runs.run, name, dict.fromkeys(Mode, 0))
    monkeypatch.setattr(stackroom.runs.run, "_FIRST_WAIT", 0)
    logging.getLogger("moto.stepfunctions").setLevel(logging.CRITICAL)  # tells of every Fail


@pytest.fixture
def bedrock(environment: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bedrock]:
    """Bedrock with the two knowledge bases of the pool."""
    bedrock = Bedrock(session.client("s3"), BUCKET)
    for _ in range(2):
        bedrock.provision()
    monkeypatch.setenv("KB_POOL", pool(bedrock.shared))
    with bedrock.answering(*map(session.client, ("bedrock-agent", "bedrock-agent-runtime"))):
        yield bedrock
    bedrock.close()


@pytest.fixture
def one_knowledge_base(bedrock: Bedrock, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of the pool's only member."""
    knowledge_base_id, data_source_id = next(iter(bedrock.shared.items()))
    monkeypatch.setenv("KB_POOL", pool({knowledge_base_id: data_source_id}))
    return knowledge_base_id


@pytest.fixture
def by_jobs(one_knowledge_base: str, bedrock: Bedrock, monkeypatch: pytest.MonkeyPatch) -> str:
    """Its catalogs have data sources that take jobs."""
    home = {one_knowledge_base: bedrock.shared[one_knowledge_base]}
    monkeypatch.setenv("KB_POOL", pool(home, catalog_data_sources="s3"))
    return one_knowledge_base


@pytest.fixture
def no_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs follow broken ones at once."""
    monkeypatch.setattr(stackroom.runs.run_leases, "_FIRST_DELAY", 0)


@pytest.fixture
def world(bedrock: Bedrock, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    forget()
    functions = Functions()
    with mock_aws(config=MOTO), calling(functions):
        s3, dynamodb = session.client("s3"), session.client("dynamodb")
        create_tables(dynamodb)
        create_bucket(s3)
        machine = _machine(definition(), monkeypatch)
        yield World(
            s3=s3,
            functions=functions,
            machine=machine,
            bedrock=bedrock,
            catalogs=DynamoCatalogs(client=dynamodb, table=CATALOG_TABLE),
            documents=DynamoDocuments(client=dynamodb, table=CATALOG_TABLE),
            leases=DynamoLeases(client=dynamodb, table=CONTROL_TABLE),
            book=DynamoAdmissionBook(client=dynamodb, table=CONTROL_TABLE),
        )
        machine.stop()


def _machine(asl: str, monkeypatch: pytest.MonkeyPatch) -> Machine:
    client = session.client("stepfunctions")
    # The engine may outlive this test.
    created = client.create_state_machine(name=uuid4().hex, definition=asl, roleArn=ROLE)
    arn = created["stateMachineArn"]
    monkeypatch.setenv("STATE_MACHINE_ARN", arn)
    return Machine(client=client, arn=arn)
