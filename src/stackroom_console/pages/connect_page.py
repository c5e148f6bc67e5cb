"""
The page that connects another program to the gateway: its address, a token, lines for each client.
"""

import json
import re
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from starlette.responses import Response

from stackroom.model.records import DocumentStatus
from stackroom_console.console import OPERATORS, Connection
from stackroom_console.messages import gettext
from stackroom_console.pages.sample_catalog import SAMPLE_QUESTIONS, questions_of
from stackroom_console.pages.sign_in_clients import sign_in_clients
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

_ASKED = "daily meal allowance in Norway"  # in these lines, of a document of the examples
_LOOKED_AT = 10  # catalogs, and documents of each, for one to ask about
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Lines of code or configuration to be copied; `about` is Markdown."""

    text: str
    about: str


def page(request: Request) -> Response:
    connection, clients = request.console.connection, _clients()
    own = OPERATORS in request.caller.groups
    question = _question(request)
    return render(
        request,
        "connect.html",
        connection=connection,
        token_lines=token_lines(connection, request.user_id),
        question=question,
        sign_in_clients=sign_in_clients(connection),
        clients=_shown(clients["gateway"], connection, question),
        for_operators=_shown(clients["knowledge_base"], connection, question) if own else {},
        operator_lines=_operator_lines(request) if own else "",
        signing_in_on_aws=clients["signing_in_on_aws"] if connection.is_deployment else "",
    )


def token_lines(connection: Connection, user_id: str) -> str:
    """Return the shell's lines that get a token, which come before all others."""
    call = connection.command_line.format
    if connection.is_deployment:
        return f'{call("login")}\nexport STACKROOM_TOKEN="$({call("token")})"\n'
    token = call(f"token --user {shlex.quote(user_id)}")
    return f'export STACKROOM_TOKEN="$({token})"\n'


def _operator_lines(request: Request) -> str:
    """The same for who asks the knowledge base itself; on AWS the credentials are there."""
    connection = request.console.connection
    member = request.services.pool[0]
    keys = connection.command_line.format("env --operator")
    before = "" if connection.is_deployment else f'eval "$({keys})"\n'
    return f'{before}export KNOWLEDGE_BASE_ID="{member.knowledge_base_id}"\n'


def _question(request: Request) -> str:
    """
    Return a question that finds something in the caller's documents, or one for the sample. It has
    nothing in it that means something to a shell or in a literal.
    """
    services, user_id = request.services, request.user_id
    catalogs = services.listing.catalogs_of(user_id).catalogs
    for each in catalogs:
        if each.document_count and (questions := questions_of(each)):
            return questions[0]
    for catalog in catalogs[:_LOOKED_AT]:
        page = services.documents.page(catalog.catalog_id, after=None, limit=_LOOKED_AT)
        names = [
            _words_of(each.filename)
            for each in page.documents
            if each.status is DocumentStatus.INDEXED
        ]
        if names:
            longest: list[str] = max(names, key=len)
            return gettext("What is in %(words)s?") % {"words": " ".join(longest)}
    return SAMPLE_QUESTIONS[0]


def _words_of(filename: str) -> list[str]:
    """Return the words of a file name without its folders and extension."""
    return _WORDS.findall(filename.rpartition("/")[2].rpartition(".")[0])


def _shown(
    clients: dict[str, list[dict[str, str]]], connection: Connection, question: str
) -> dict[str, tuple[Lines, ...]]:
    return {
        name: tuple(
            Lines(text=_filled(each, connection.mcp_url, question), about=each["about"])
            for each in blocks
        )
        for name, blocks in clients.items()
    }


def _filled(block: dict[str, str], url: str, question: str) -> str:
    language = block["language"]
    address = url if language == "bash" else json.dumps(url)
    return block["text"].replace(_ADDRESS[language], address).replace(_ASKED, question)


@cache
def _clients() -> dict[str, Any]:
    clients: dict[str, Any] = json.loads(_CLIENTS.read_text("utf-8"))
    return clients
