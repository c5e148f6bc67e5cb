"""
Lines for the clients that most people have, each of which signs in by itself in a browser.

On AWS the user pool registers no clients, so that each is told the id of the app client, and the
redirect that it comes back to must be allowed there (docs/sign-in.md). Sources:
- https://code.claude.com/docs/en/mcp
- https://cursor.com/docs/mcp
- https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
- https://github.com/geelen/mcp-remote
"""

import json
import shlex
from dataclasses import dataclass
from typing import Any

from stackroom_console.console import Connection
from stackroom_console.messages import gettext

_REMOTE = "mcp-remote@0.15.1"
_REMOTE_PORT = 6276
# `stackroom login` comes back to the same address, so that every user pool allows it.
_CLAUDE_CODE_PORT = 8976


@dataclass(frozen=True, kw_only=True)
class SignInClient:
    """`about` says where the lines go; `redirect` must be allowed, and is empty where it is."""

    name: str
    about: str
    lines: str
    redirect: str = ""


def sign_in_clients(connection: Connection) -> tuple[SignInClient, ...]:
    return (
        _claude_code(connection),
        _claude_desktop(connection),
        _cursor(connection),
        _vs_code(connection),
    )


def _claude_code(connection: Connection) -> SignInClient:
    client = ["--client-id", connection.client_id, "--callback-port", str(_CLAUDE_CODE_PORT)]
    parts = ["claude", "mcp", "add", "--transport", "http"]
    parts += client if connection.is_deployment else []
    return SignInClient(
        name="Claude Code",
        about=gettext("Run this in a shell, then type `/mcp` in Claude Code and sign in."),
        lines=shlex.join([*parts, "stackroom", connection.mcp_url]) + "\n",
    )


def _claude_desktop(connection: Connection) -> SignInClient:
    arguments = ["--yes", _REMOTE, connection.mcp_url]
    if connection.is_deployment:
        client = json.dumps({"client_id": connection.client_id})
        arguments += [str(_REMOTE_PORT), "--static-oauth-client-info", client]
    return SignInClient(
        name="Claude Desktop",
        about=gettext(
            "Add this to `claude_desktop_config.json` (Settings, Developer, Edit Config), and"
            " restart Claude Desktop. It needs Node.js."
        ),
        lines=_json({"mcpServers": {"stackroom": {"command": "npx", "args": arguments}}}),
        redirect=_on_deployment(connection, f"http://localhost:{_REMOTE_PORT}/oauth/callback"),
    )


def _cursor(connection: Connection) -> SignInClient:
    auth = {"auth": {"CLIENT_ID": connection.client_id}} if connection.is_deployment else {}
    return SignInClient(
        name="Cursor",
        about=gettext(
            "Add this to `~/.cursor/mcp.json`, then choose *Needs login* in Cursor's settings,"
            " under MCP."
        ),
        lines=_json({"mcpServers": {"stackroom": {"url": connection.mcp_url, **auth}}}),
        redirect=_on_deployment(connection, "http://localhost:8787/callback"),
    )


def _vs_code(connection: Connection) -> SignInClient:
    oauth = {"oauth": {"clientId": connection.client_id}} if connection.is_deployment else {}
    server = {"type": "http", "url": connection.mcp_url, **oauth}
    return SignInClient(
        name="VS Code",
        about=gettext("Save this as `.vscode/mcp.json`, then choose *Start* above it and sign in."),
        lines=_json({"servers": {"stackroom": server}}),
        redirect=_on_deployment(connection, "https://vscode.dev/redirect"),
    )


def _on_deployment(connection: Connection, redirect: str) -> str:
    return redirect if connection.is_deployment else ""


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2) + "\n"
