"""The console made of its settings, for its function and for the local mode."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from stackroom.access.access_log import AccessLog
from stackroom.access.tokens import TokenVerifier, published_keys
from stackroom.app.function_settings import CatalogToolsSettings, JsonList
from stackroom.aws.dynamodb.user_records import DynamoSignOuts
from stackroom.aws.session import secret_text
from stackroom.catalogs.transfers import Transfers
from stackroom.model.formats import MAX_FILE_BYTES
from stackroom_agents.user_agents.shared_settings import SharedSettings
from stackroom_console.console import Connection, Console
from stackroom_console.openid_provider import OpenIdProvider
from stackroom_console.sealed_cookies import Seal, seal_key
from stackroom_console.services import ConsoleServices


class ConsoleSettings(CatalogToolsSettings, SharedSettings):
    """
    The catalog tools' settings, the console's address, and the clients whose tokens it takes: those
    of its own client from sign-ins, those of any of `identity_client_ids` as bearer tokens.
    """

    agent_runs_queue_url: str
    dashboard_name: str  # in CloudWatch, for operators
    agent_models: JsonList = ()  # that the runner may ask, the usual one first
    retrieve_sharing: str = "off"

    console_url: str
    console_client_id: str
    console_key_arn: str
    mcp_url: str
    command_line: str = ""
    identity_issuer: str
    identity_jwks_url: str
    identity_client_ids: JsonList


def console_of(
    settings: ConsoleSettings, client: Callable[[str], Any], *, log: AccessLog
) -> Console:
    """`client` answers the boto3 client of a service, `log` keeps the audit."""
    services = ConsoleServices(settings=settings, client=client)
    keys = published_keys(settings.identity_jwks_url)
    clients = (*settings.identity_client_ids, settings.console_client_id)
    return Console(
        url=settings.console_url,
        services=services,
        verifier=TokenVerifier(
            keys=keys, issuer=settings.identity_issuer, client_ids=tuple(dict.fromkeys(clients))
        ),
        issuer=OpenIdProvider(
            url=settings.identity_issuer, client_id=settings.console_client_id, keys=keys
        ),
        seal=Seal([seal_key(secret_text(client("secretsmanager"), settings.console_key_arn))]),
        sign_outs=DynamoSignOuts(client=client("dynamodb"), table=settings.kb_control_table),
        uploads=uploads_origin(services.transfers),
        log=log,
        connection=_connection(settings),
        speed=settings.ingest_speed,
    )


def _connection(settings: ConsoleSettings) -> Connection:
    own = settings.console_client_id
    others = [each for each in settings.identity_client_ids if each != own]
    project = settings.kb_control_table.removesuffix("-kb-control")
    return Connection(
        mcp_url=settings.mcp_url,
        client_id=others[0] if others else own,
        command_line=settings.command_line or f"stackroom --deployment {project} {{}}",
        is_deployment=not settings.command_line,
    )


def uploads_origin(transfers: Transfers) -> str:
    """Return the origin that forms are posted to, without a call of AWS."""
    form = transfers.form(
        "any", content_type="text/plain", attributes={}, max_bytes=MAX_FILE_BYTES, seconds=1
    )
    parts = urlsplit(form.url)
    return f"{parts.scheme}://{parts.netloc}"
