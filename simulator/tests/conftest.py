"""Fixtures: an S3 for documents and a simulator, both on free ports of this machine."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.model_endpoint import ModelEndpoint
from simulator.tests.chat_endpoint import KEY as OF_ENDPOINT
from simulator.tests.chat_endpoint import ChatEndpoint, chat_endpoint
from simulator.tests.running import ministack, simulated
from simulator.tests.world import KEY, REGION, World


@pytest.fixture(scope="session", autouse=True)
def _fake_credentials() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", KEY)
        patch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
        patch.setenv("AWS_DEFAULT_REGION", REGION)
        yield


@pytest.fixture(scope="package", autouse=True)
def _room() -> Iterator[None]:
    """Raise a quota, since all tests share an account."""
    with pytest.MonkeyPatch.context() as patch:
        name = "KNOWLEDGE_BASES_PER_ACCOUNT"
        patch.setattr(rules, name, replace(getattr(rules, name), value=10_000))
        yield


@pytest.fixture(scope="session")
def s3_endpoint(_fake_credentials: None) -> Iterator[str]:
    with ministack() as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def shared(s3_endpoint: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Return the simulator of all tests, for resources that a module only reads."""
    directory = tmp_path_factory.mktemp("simulator")
    with simulated(directory, s3_endpoint) as world:
        yield world


@pytest.fixture
def world(shared: World) -> World:
    """Return the simulator of all tests, with a bucket of the test's own."""
    return shared.anew()


@pytest.fixture
def world_at(s3_endpoint: str, tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Return a factory of simulators with a speed and further `Configuration`."""
    with ExitStack() as running:

        def start(speed: float, *, patient: bool = False, **more: Any) -> World:
            made = simulated(tmp_path / "fresh", s3_endpoint, speed=speed, **more)
            world = running.enter_context(made)
            return world if patient else World(world.endpoint, s3_endpoint)

        yield start


@pytest.fixture(scope="session")
def _chat() -> Iterator[ChatEndpoint]:
    with chat_endpoint() as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def modelled(
    _chat: ChatEndpoint, s3_endpoint: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """Return a simulator with a model endpoint and a short timeout."""
    model = ModelEndpoint(base_url=_chat.base_url, model="small", key=OF_ENDPOINT, seconds=1)
    with simulated(tmp_path_factory.mktemp("modelled"), s3_endpoint, model=model) as world:
        yield world


@pytest.fixture
def chat(_chat: ChatEndpoint) -> ChatEndpoint:
    """Return the model endpoint in its initial state."""
    _chat.reset()
    return _chat
