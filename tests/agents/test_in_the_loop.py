"""The example of an agent, run as a reader runs it, against one real local mode."""

import os
import subprocess
import sys
from typing import Any

from strands import Agent
from strands.tools.mcp import MCPClient

from examples.agent.scripted import Call, Script, ScriptedModel
from stackroom.tools.tools import TOOLS
from stackroom_cli.callers import issuer_of
from stackroom_cli.demo import ANSWER, PROGRAM
from stackroom_local.state import Instance

# Of a catalog that the pool of the shared local mode has a place for (conftest.py).
USER, CATALOG = "kim", "sea"


def run(
    instance: Instance, *options: str, token: str | None = None
) -> subprocess.CompletedProcess[str]:
    """The example, as a reader runs it after `stackroom env --operator` and `stackroom token`."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", **instance.environment()}
    environment |= {} if token is None else {"STACKROOM_TOKEN": token}
    try:
        return subprocess.run(
            [sys.executable, PROGRAM, *options],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise AssertionError(f"it goes on, and printed: {late.stdout!r} {late.stderr!r}") from None


def calls_of(printed: str) -> list[str]:
    """The tools that were called, one after another, each once for any number of times."""
    names = [each for line in printed.splitlines() if (each := line.partition(":")[0])]
    calls = [each for each in names if each in {tool.name for tool in TOOLS}]
    return [each for n, each in enumerate(calls) if n == 0 or each != calls[n - 1]]


STORED_AND_ASKED = ["upload_to_catalog", "get_indexing_status", "select_catalog", "query_catalog"]


def test_agent_stores_a_file_and_answers_from_it_over_mcp(instance: Instance) -> None:
    ended = run(instance, "--catalog", CATALOG, token=issuer_of(instance).mint(USER))

    assert ended.returncode == 0, ended.stderr
    assert calls_of(ended.stdout) == ["create_catalog", *STORED_AND_ASKED]
    assert ANSWER in ended.stdout
    assert "**Sources:**\n1. night-ferry.md" in ended.stdout
    foreign = over_mcp(instance, "dave", once("list_catalogs", {}))
    assert foreign == "Found 0 catalogs. Use create_catalog to make one."


def once(tool: str, given: dict[str, Any]) -> Script:
    return (yield Call(tool, given))


def over_mcp(instance: Instance, user: str, script: Script) -> str:
    headers = {"Authorization": f"Bearer {issuer_of(instance).mint(user)}"}
    with MCPClient(url=instance.mcp_url, headers=headers) as client:
        tools = client.list_tools_sync()
        agent = Agent(model=ScriptedModel(script), tools=[*tools], callback_handler=None)
        return str(agent("go on")).strip()
