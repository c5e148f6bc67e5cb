"""One world a test, all of it in memory, in which nothing waits."""

import json
import logging
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import pytest
from moto import mock_aws

import stackroom.runs.leases
import stackroom.runs.progress
from stackroom.aws import session
from stackroom.aws.admission import DynamoAdmissionBook
from stackroom.aws.catalogs import DynamoCatalogs
from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.leases import DynamoLeases
from stackroom.aws.slots import DynamoSlots
from tests.aws.stores import (
    BUCKET,
    CATALOG_TABLE,
    CONTROL_TABLE,
    ENVIRONMENT,
    create_bucket,
    create_tables,
)
from tests.workflow import engine
from tests.workflow.bedrock import Bedrock
from tests.workflow.functions import Functions, forget, forget_clients
from tests.workflow.machine import Machine, definition
from tests.workflow.world import World

MOTO: Any = {"stepfunctions": {"execute_state_machine": True}, "lambda": {"use_docker": False}}
SHARED = {"KB00000001": "DSSHARED01", "KB00000002": "DSSHARED02"}
NAME = f"ingest-{uuid4().hex[:12]}"  # an engine elsewhere outlives the tests
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
    for name, value in {**ENVIRONMENT, **pace, "KB_POOL": pool(*SHARED)}.items():
        monkeypatch.setenv(name, value)
    if engine.ENDPOINT:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SFN", engine.ENDPOINT)
    monkeypatch.setattr(stackroom.runs.progress, "FIRST_WAIT", 0)
    logging.getLogger("moto.stepfunctions").setLevel(logging.CRITICAL)  # tells of every Fail


@pytest.fixture
def one_knowledge_base(environment: None, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of the pool's only member."""
    monkeypatch.setenv("KB_POOL", pool("KB00000001"))
    return "KB00000001"


@pytest.fixture
def longest_wait() -> int | None:
    """Seconds until AdmitIngestion times out; as deployed if None."""
    return None


@pytest.fixture
def no_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs follow broken ones at once."""
    monkeypatch.setattr(stackroom.runs.leases, "_FIRST_DELAY", 0)


@pytest.fixture
def world(
    environment: None, monkeypatch: pytest.MonkeyPatch, longest_wait: int | None
) -> Iterator[World]:
    forget()
    functions = Functions()
    with mock_aws(config=MOTO), engine.calling(functions), ExitStack() as stack:
        s3, dynamodb = session.client("s3"), session.client("dynamodb")
        create_tables(dynamodb)
        create_bucket(s3)
        bedrock = Bedrock(s3, BUCKET)
        for knowledge_base_id, data_source_id in SHARED.items():
            bedrock.direct.share(knowledge_base_id, data_source_id)
        clients = map(session.client, ("bedrock-agent", "bedrock-agent-runtime"))
        stack.enter_context(bedrock.answering(*clients))
        machine = _machine(monkeypatch, longest_wait)
        yield World(
            s3=s3,
            functions=functions,
            machine=machine,
            bedrock=bedrock,
            catalogs=DynamoCatalogs(client=dynamodb, table=CATALOG_TABLE),
            documents=DynamoDocuments(client=dynamodb, table=CATALOG_TABLE),
            leases=DynamoLeases(client=dynamodb, table=CONTROL_TABLE),
            slots=DynamoSlots(client=dynamodb, table=CONTROL_TABLE),
            book=DynamoAdmissionBook(client=dynamodb, table=CONTROL_TABLE),
        )
        machine.stop()


def pool(*knowledge_base_ids: str) -> str:
    members = [
        {"knowledge_base_id": each, "data_source_id": SHARED[each]} for each in knowledge_base_ids
    ]
    return json.dumps(members)


def _machine(monkeypatch: pytest.MonkeyPatch, longest_wait: int | None) -> Machine:
    client = session.client("stepfunctions")
    created = client.create_state_machine(
        name=f"{NAME}-{uuid4().hex[:8]}", definition=definition(longest_wait), roleArn=ROLE
    )
    arn = created["stateMachineArn"]
    monkeypatch.setenv("STATE_MACHINE_ARN", arn)
    return Machine(client=client, arn=arn)
