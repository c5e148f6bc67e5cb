"""The demonstration's agent: examples/agent/agent.py, as a reader would start it."""

import os
import subprocess
import sys
from collections.abc import Iterator

from stackroom_local.cli.asking import issuer_of
from stackroom_local.problems import DemoFailed
from stackroom_local.project import ROOT
from stackroom_local.state import Instance

PROGRAM = ROOT / "examples" / "agent" / "agent.py"
ANSWER = "22:40"  # stands in examples/agent/night-ferry.md, and nowhere else


def play(instance: Instance, user: str) -> Iterator[str]:
    """
    What the agent prints, line by line: its calls, over MCP with the user's token, and its answer.

    Raises DemoFailed if it breaks off, or doesn't find the answer.
    """
    environment = {
        **os.environ,
        "STACKROOM_MCP_URL": instance.mcp_url,
        "STACKROOM_TOKEN": issuer_of(instance).mint(user),
    }
    command = [sys.executable, str(PROGRAM)]
    said = ""
    with subprocess.Popen(  # noqa: S603 - a program of this project
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as agent:
        assert agent.stdout is not None, "it is a pipe"
        for line in agent.stdout:
            said += line
            yield line.rstrip()
    if agent.returncode:
        raise DemoFailed(f"the agent ended with exit code {agent.returncode}")
    if ANSWER not in said:
        raise DemoFailed(f"the agent's answer is not {ANSWER}")
