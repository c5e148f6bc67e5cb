"""One world a test, all of it in memory, in which nothing waits."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import pytest
from moto import mock_aws

import stackroom.progress
import stackroom.runs
from stackroom.aws import session
from stackroom.aws.catalogs import DynamoCatalogs
from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.leases import DynamoLeases
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
POOL = '[{"knowledge_base_id": "KB00000001"}, {"knowledge_base_id": "KB00000002"}]'
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
    for name, value in {**ENVIRONMENT, "KB_POOL": POOL}.items():
        monkeypatch.setenv(name, value)
    if engine.ENDPOINT:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SFN", engine.ENDPOINT)
    monkeypatch.setattr(stackroom.progress, "FIRST_WAIT", 0)
    logging.getLogger("moto.stepfunctions").setLevel(logging.CRITICAL)  # tells of every Fail


@pytest.fixture
def no_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs follow broken ones at once."""
    monkeypatch.setattr(stackroom.runs, "_FIRST_DELAY", 0)


@pytest.fixture
def world(environment: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    forget()
    functions = Functions()
    with mock_aws(config=MOTO), engine.calling(functions), ExitStack() as stack:
        s3, dynamodb = session.client("s3"), session.client("dynamodb")
        create_tables(dynamodb)
        create_bucket(s3)
        bedrock = Bedrock(s3, BUCKET)
        stack.enter_context(bedrock.answering(session.client("bedrock-agent")))
        machine = _machine(monkeypatch)
        yield World(
            s3=s3,
            functions=functions,
            machine=machine,
            bedrock=bedrock,
            catalogs=DynamoCatalogs(client=dynamodb, table=CATALOG_TABLE),
            documents=DynamoDocuments(client=dynamodb, table=CATALOG_TABLE),
            leases=DynamoLeases(client=dynamodb, table=CONTROL_TABLE),
        )
        machine.stop()


def _machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    client = session.client("stepfunctions")
    created = client.create_state_machine(
        name=f"{NAME}-{uuid4().hex[:8]}", definition=definition(), roleArn=ROLE
    )
    arn = created["stateMachineArn"]
    monkeypatch.setenv("STATE_MACHINE_ARN", arn)
    return Machine(client=client, arn=arn)
