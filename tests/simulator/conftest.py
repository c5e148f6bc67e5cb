"""An S3 for the documents and a simulator beside it, both on free ports of this machine."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stackroom_local.simulator.server import Configuration, Simulator
from tests.simulator.chat_endpoint import ChatEndpoint, chat_endpoint
from tests.simulator.running import ministack
from tests.simulator.world import REGION, World

FAST = 100.0


@pytest.fixture(scope="session", autouse=True)
def _fake_credentials() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", REGION)
        yield


@pytest.fixture(scope="session")
def s3_endpoint(_fake_credentials: None) -> Iterator[str]:
    with ministack() as endpoint:
        yield endpoint


# A file's own, since an account has 100 knowledge bases at most, and each test makes one.
@pytest.fixture(scope="module")
def _endpoint(s3_endpoint: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    configuration = Configuration(
        data_dir=tmp_path_factory.mktemp("simulator"), s3_endpoint=s3_endpoint, speed=FAST
    )
    with Simulator(configuration) as simulator:
        yield simulator.endpoint


@pytest.fixture
def world(_endpoint: str, s3_endpoint: str) -> World:
    """The simulator that all tests of a file share, with a bucket of the test's own."""
    return World(_endpoint, s3_endpoint, patient=True)


@pytest.fixture
def world_at(s3_endpoint: str, tmp_path: Path) -> Iterator[Callable[..., World]]:
    """A fresh simulator at a speed of the test's choice."""
    running: list[Simulator] = []

    def start(speed: float, *, patient: bool = False) -> World:
        configuration = Configuration(
            data_dir=tmp_path / str(len(running)), s3_endpoint=s3_endpoint, speed=speed
        )
        running.append(Simulator(configuration).__enter__())
        return World(running[-1].endpoint, s3_endpoint, patient=patient)

    yield start
    for simulator in running:
        simulator.__exit__(None, None, None)


@pytest.fixture(scope="module")
def _chat() -> Iterator[ChatEndpoint]:
    with chat_endpoint() as endpoint:
        yield endpoint


@pytest.fixture
def chat(_chat: ChatEndpoint) -> ChatEndpoint:
    """As if nobody had asked it yet."""
    _chat.reset()
    return _chat
