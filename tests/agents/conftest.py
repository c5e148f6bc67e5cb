"""The tools of both surfaces in one world, where no execution moves by itself."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from moto import mock_aws

import functions.catalog_tools.handler as function
from stackroom.aws import session
from tests.agents.batch_world import World, listening_to
from tests.agents.twins import Twins

# F401: fixtures are found by their names here.
from tests.functions.conftest import (  # noqa: F401
    assumptions,
    clients,
    data_sources,
    environment,
    pipeline,
    printed,
)
from tests.functions.pipeline import Pipeline
from tests.functions.tools import Tools
from tests.support.strict_requests import strict_requests
from tests.workflow.functions import forget_clients

__all__ = ["strict_requests"]  # a fixture of all tests here

_LOGGERS = ("asyncio", "boto3", "botocore", "stackroom", "stackroom_agents", "strands", "urllib3")
MODEL = "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0"


@dataclass(frozen=True, kw_only=True)
class Surfaces:
    """
    The tools behind the gateway and in process, each with a user of its own. The names have one
    length.
    """

    gateway: Tools
    in_process: Tools


@pytest.fixture
def surfaces(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> Iterator[Surfaces]:  # noqa: F811
    monkeypatch.setenv("ANSWER_MODEL_ARN", MODEL)
    function.use_cases.cache_clear()
    with pipeline.bedrock.answering(session.client("writing")):
        yield Surfaces(
            gateway=Tools(pipeline=pipeline, user="gates"),
            in_process=Twins(pipeline=pipeline, user="twins"),
        )
    function.use_cases.cache_clear()


@contextmanager
def logging_taken_back() -> Iterator[None]:
    """Restore the process's logging, and forget the clients that a function made."""
    levels = {name: _state(logging.getLogger(name)) for name in _LOGGERS}
    forget_clients()
    yield
    for name, (level, handlers, propagates) in levels.items():
        log = logging.getLogger(name)
        log.level, log.handlers, log.propagate = level, handlers, propagates
    forget_clients()


def _state(log: logging.Logger) -> tuple[int, list[logging.Handler], bool]:
    return log.level, list(log.handlers), log.propagate


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[World]:
    """The function of a batch agent."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with logging_taken_back(), mock_aws():
        yield World(monkeypatch=monkeypatch, printed=listening_to(monkeypatch, capsys))
