"""The console over the real use cases, with the stores and the knowledge base in the process."""

from collections.abc import Callable, Iterator

import pytest
from cryptography.fernet import Fernet
from starlette.testclient import TestClient

from stackroom.access.access_log import Access
from stackroom.access.tokens import TokenVerifier
from stackroom.aws import session
from stackroom.aws.dynamodb.user_records import DynamoSignOuts
from stackroom_console.app import console_app
from stackroom_console.console import Connection, Console
from stackroom_console.openid_provider import OpenIdProvider
from stackroom_console.sealed_cookies import Seal
from stackroom_console.services import ConsoleServices
from stackroom_console.wiring import ConsoleSettings, uploads_origin
from tests.aws.stores import CONTROL_TABLE
from tests.console.browser import URL, Browser
from tests.console.provider import CLIENT, ISSUER, Provider
from tests.console.things import LEAVE, Things, indexed, new_catalog, things_of
from tests.functions.conftest import (
    assumptions,
    clients,
    data_sources,
    environment,
    pipeline,
    printed,
)
from tests.functions.pipeline import Pipeline
from tests.functions.tools import MODEL

__all__ = ["assumptions", "clients", "data_sources", "environment", "pipeline", "printed"]

MCP_URL = "https://gateway.test/mcp"
NewBrowser = Callable[[], Browser]


@pytest.fixture
def provider() -> Provider:
    return Provider()


@pytest.fixture
def accesses() -> list[Access]:
    """The entries of the access log."""
    return []


@pytest.fixture
def console(
    pipeline: Pipeline,
    provider: Provider,
    accesses: list[Access],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Console]:
    monkeypatch.setenv("ANSWER_MODEL_ARN", MODEL)
    for name, value in {
        "AGENT_RUNS_QUEUE_URL": session.client("sqs").create_queue(QueueName="runs")["QueueUrl"],
        "AGENT_MODELS": '["amazon.nova-lite-v1:0", "second.model-v1:0"]',
        "CONSOLE_KEY_ARN": "arn:aws:secretsmanager:us-east-1:123456789012:secret:key",
        "CONSOLE_URL": URL,
        "CONSOLE_CLIENT_ID": CLIENT,
        "DASHBOARD_NAME": "stackroom",
        "IDENTITY_ISSUER": ISSUER,
        "IDENTITY_JWKS_URL": f"{ISSUER}/jwks.json",
        "MCP_URL": MCP_URL,
        "IDENTITY_CLIENT_IDS": f'["{CLIENT}"]',
    }.items():
        monkeypatch.setenv(name, value)
    services = ConsoleServices(settings=ConsoleSettings.from_env())
    with pipeline.bedrock.answering(session.client("writing")):
        yield Console(
            url=URL,
            services=services,
            verifier=TokenVerifier(keys=provider, issuer=ISSUER, client_ids=(CLIENT,)),
            issuer=OpenIdProvider(
                url=ISSUER, client_id=CLIENT, keys=provider, transport=provider.transport
            ),
            seal=Seal([Fernet.generate_key()]),
            sign_outs=DynamoSignOuts(client=session.client("dynamodb"), table=CONTROL_TABLE),
            uploads=uploads_origin(services.transfers),
            log=accesses.append,
            connection=Connection(
                mcp_url=MCP_URL, client_id="agents", command_line="stackroom --deployment prod {}"
            ),
        )


@pytest.fixture
def new_browser(console: Console, provider: Provider) -> NewBrowser:
    """Another person's, or the same person's on another machine."""
    app = console_app(console)

    def made() -> Browser:
        return Browser(client=TestClient(app, base_url=URL), provider=provider)

    return made


@pytest.fixture
def browser(new_browser: NewBrowser) -> Browser:
    return new_browser()


@pytest.fixture
def alice(browser: Browser) -> Browser:
    browser.sign_in("alice")
    return browser


@pytest.fixture
def bob(new_browser: NewBrowser) -> Browser:
    browser = new_browser()
    browser.sign_in("bob")
    return browser


@pytest.fixture
def things(alice: Browser, pipeline: Pipeline) -> Things:
    return things_of(alice, pipeline)


@pytest.fixture
def catalog(alice: Browser, pipeline: Pipeline) -> str:
    catalog = new_catalog(alice, "Handbook")
    indexed(pipeline, "alice", catalog, "leave.txt", LEAVE)
    return catalog
