"""The clients that docs/clients.md names, and where the tests have them from."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
REQUIREMENTS = HERE / "requirements"
NPM = HERE / "npm"


@dataclass(frozen=True)
class Client:
    """
    `name` is the heading of its blocks: one with what the page exported, and where it `signs_in` by
    itself, another that does. `environment` is a lock of `requirements`, `npm`, or nothing where
    the program is in `.venv` or on any machine; `package` names it there. `protocol` is the version
    of MCP that its block prints, if it does.
    """

    name: str
    package: str | None = None
    environment: str | None = None
    signs_in: bool = False
    protocol: str = ""

    @property
    def label(self) -> str:
        return f"{self.name} {self.version}".rstrip()

    @property
    def version(self) -> str:
        """That is pinned; nothing for a program of the machine's own."""
        if self.package is None:
            return ""
        if self.environment == NPM.name:
            lock = json.loads((NPM / "package-lock.json").read_text("utf-8"))
            return str(lock["packages"][f"node_modules/{self.package}"]["version"])
        lock_file = (
            REQUIREMENTS / f"{self.environment}.lock"
            if self.environment
            else ROOT / "requirements.lock"
        )
        [version] = re.findall(
            rf"^{re.escape(self.package)}==(\S+)", lock_file.read_text("utf-8"), re.MULTILINE
        )
        return str(version)


CLIENTS = (
    Client("curl"),
    Client("MCP Inspector", "@modelcontextprotocol/inspector", "npm", signs_in=True),
    Client("Claude Desktop, by mcp-remote", "mcp-remote", "npm", signs_in=True),
    Client("MCP SDK for Python", "mcp", "mcp", signs_in=True, protocol="2026-07-28"),
    Client("MCP SDK for Python, of 2025", "mcp", "mcp-2025", protocol="2025-06-18"),
    Client("FastMCP", "fastmcp", "fastmcp", signs_in=True),
    Client("MCP SDK for TypeScript", "@modelcontextprotocol/client", "npm"),
    Client("Strands Agents", "strands-agents"),
    Client("LangChain's MCP adapters", "langchain-mcp-adapters", "langchain"),
    Client("AWS CLI", "awscli"),
    Client("boto3", "boto3"),
    Client("LangChain's retriever", "langchain-aws", "langchain"),
    Client("LlamaIndex's retriever", "llama-index-retrievers-bedrock", "llama-index"),
    Client("AWS Labs' MCP server", "awslabs-bedrock-kb-retrieval-mcp-server", "mcp"),
)
