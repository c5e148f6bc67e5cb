"""How another program reaches the gateway: its address, a token, and lines for each client."""

import json
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from starlette.responses import Response

from stackroom_console.console import OPERATORS, Connection
from stackroom_console.rendering import render
from stackroom_console.request import Request

# Made of docs/clients.md, whose lines are all run by its tests.
_CLIENTS = Path(__file__).parents[1] / "clients.json"
# Of those lines, where each language has the gateway's address from. The token stays a variable:
# nobody's stands on a page.
_ADDRESS = {
    "bash": "$STACKROOM_MCP_URL",
    "js": "process.env.STACKROOM_MCP_URL",
    "python": 'os.environ["STACKROOM_MCP_URL"]',
}


@dataclass(frozen=True, kw_only=True)
class Lines:
    """To be copied; `about` is Markdown."""

    text: str
    about: str


def page(request: Request) -> Response:
    connection, told = request.console.connection, _clients()
    own = OPERATORS in request.caller.groups
    return render(
        request,
        "connect.html",
        connection=connection,
        token_lines=token_lines(connection, request.user_id),
        clients=_shown(told["gateway"], connection),
        for_operators=_shown(told["knowledge_base"], connection) if own else {},
        operator_lines=_operator_lines(request) if own else "",
        signing_in_on_aws=told["signing_in_on_aws"] if connection.is_deployment else "",
    )


def token_lines(connection: Connection, user_id: str) -> str:
    """What a shell is told once, before anything else."""
    call = connection.command_line.format
    if connection.is_deployment:
        return f'{call("login")}\nexport STACKROOM_TOKEN="$({call("token")})"\n'
    token = call(f"token --user {shlex.quote(user_id)}")
    return f'export STACKROOM_TOKEN="$({token})"\n'


def _operator_lines(request: Request) -> str:
    """The same for who asks the knowledge base itself; on AWS the credentials are there."""
    connection = request.console.connection
    member = request.services.deployment.pool[0]
    keys = connection.command_line.format("env --operator")
    before = "" if connection.is_deployment else f'eval "$({keys})"\n'
    return f'{before}export KNOWLEDGE_BASE_ID="{member.knowledge_base_id}"\n'


def _shown(
    told: dict[str, list[dict[str, str]]], connection: Connection
) -> dict[str, tuple[Lines, ...]]:
    return {
        name: tuple(
            Lines(text=_with_address(each, connection.mcp_url), about=each["about"])
            for each in blocks
        )
        for name, blocks in told.items()
    }


def _with_address(block: dict[str, str], url: str) -> str:
    language = block["language"]
    return block["text"].replace(_ADDRESS[language], url if language == "bash" else json.dumps(url))


@cache
def _clients() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(_CLIENTS.read_text("utf-8"))
    return told
