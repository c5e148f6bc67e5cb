from collections.abc import Iterator

import pytest

from stackroom_local.gateway.issuer import Issuer
from tests.gateway.serving import RunningGateway, serving


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    """The gateway as it is deployed, with the echo function as its one target."""
    with serving(tmp_path_factory.mktemp("gateway")) as running:
        yield running


@pytest.fixture(scope="session")
def issuer(gateway: RunningGateway) -> Issuer:
    return gateway.issuer
