from collections.abc import Iterator

import pytest

from stackroom_local.gateway.issuer import CLIENT_ID, Issuer
from tests.gateway.serving import (
    RunningGateway,
    a_permit,
    a_prohibition,
    a_target,
    an_engine,
    serving,
)

INSPECTOR = "http://localhost:6274"
ELSEWHERE = "https://inspector.example"
ANOTHER = "another"  # a client that the gateway allows, too
STAFFED = "staffed___say_it"
STAFF = 'principal.hasTag("cognito:groups") && principal.getTag("cognito:groups") like "*staff*"'


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    """One tool for whoever signed in, at most three times; and one for staff."""
    engine = an_engine(
        a_permit(),
        a_permit(STAFFED, when=STAFF),
        a_prohibition(when="context.input has times && context.input.times > 3"),
    )
    with serving(
        tmp_path_factory.mktemp("gateway"),
        allowed_client_ids=[CLIENT_ID, ANOTHER],
        policy_engine=engine,
        targets=[a_target(), a_target("staffed")],
    ) as running:
        yield running


@pytest.fixture(scope="session")
def issuer(gateway: RunningGateway) -> Issuer:
    return gateway.issuer


@pytest.fixture(scope="session")
def lenient_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    """
    Pages of two origins may call it, and it has neither an interceptor nor policies: whoever asks
    for it marks the test as one of `processes`.
    """
    with serving(
        tmp_path_factory.mktemp("lenient"),
        origins=f"{INSPECTOR} {ELSEWHERE}",
        interceptor=None,
        policy_engine=None,
    ) as running:
        yield running
