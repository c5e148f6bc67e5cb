from collections.abc import Iterator

import pytest

from stackroom_local.gateway.issuer import CLIENT_ID, Issuer
from tests.gateway.serving import RunningGateway, an_engine, serving

INSPECTOR = "http://localhost:6274"
ELSEWHERE = "https://inspector.example"
ANOTHER = "another"  # a client that the gateway allows, too


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    """The gateway as it is deployed, with the echo function as its one target."""
    folder = tmp_path_factory.mktemp("gateway")
    with serving(folder, allowed_client_ids=[CLIENT_ID, ANOTHER]) as running:
        yield running


@pytest.fixture(scope="session")
def issuer(gateway: RunningGateway) -> Issuer:
    return gateway.issuer


@pytest.fixture(scope="session")
def lenient_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    """
    Pages of two origins may call it, it has no interceptor, its policies are only logged, and it
    tells nothing of a function's errors: whoever asks for it marks the test as one of `processes`.
    """
    with serving(
        tmp_path_factory.mktemp("lenient"),
        origins=f"{INSPECTOR} {ELSEWHERE}",
        interceptor=None,
        policy_engine=an_engine(mode="LOG_ONLY"),
        exception_level=None,
    ) as running:
        yield running
