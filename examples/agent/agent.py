"""
An agent that makes a catalog, puts a file into it, waits until it is indexed, and asks about it.

    make up                                           # in another terminal
    eval "$(.venv/bin/stackroom env --operator)"
    export STACKROOM_TOKEN="$(.venv/bin/stackroom token --user alice)"
    .venv/bin/python examples/agent/agent.py                 # over MCP, through the gateway
    .venv/bin/python examples/agent/agent.py --in-process    # with the tools in this process

Without --model a script takes the model's place, so that no provider is needed; it calls the tools
in the same loop. With one: --model ollama --model-id qwen3, or --model bedrock, in a shell that has
AWS's endpoints, not the local mode's: over MCP that is one with STACKROOM_MCP_URL alone.
"""

import argparse
import base64
import importlib
import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError
from scripted import ScriptedModel, store_and_ask, text_of
from strands import Agent, tool
from strands.hooks import AfterToolCallEvent
from strands.models import Model
from strands.tools.mcp import MCPClient

from stackroom_agents.catalog_tools import catalog_tools
from stackroom_agents.configuration import from_project

_PROVIDERS = {  # of strands.models, and what each takes beside a model id
    "anthropic": ("AnthropicModel", {"max_tokens": 4096}),
    "bedrock": ("BedrockModel", {}),
    "gemini": ("GeminiModel", {}),
    "llamacpp": ("LlamaCppModel", {}),
    "mistral": ("MistralModel", {}),
    "ollama": ("OllamaModel", {"host": os.environ.get("OLLAMA_HOST")}),
    "openai": ("OpenAIModel", {}),
}
_PROMPT = """Make a catalog named {catalog!r}, or use it if there is one.
Upload the file {file} to it: read_file gives its content in base64, which
upload_to_catalog takes as file_content. Call get_indexing_status until it is ready, with wait in
between. Then select the catalog, and answer from it: {question}"""
_LARGEST = 8_000  # bytes: a model has to repeat them
_WIDTH = 100


@tool
def read_file(path: str) -> str:
    """The content of a small file of this machine, in base64.

    Args:
        path: Where the file is.
    """
    content = Path(path).read_bytes()
    if len(content) > _LARGEST:
        raise ValueError(f"{path} has over {_LARGEST} bytes: upload it by a link")
    return base64.b64encode(content).decode()


@tool
def wait(seconds: float) -> str:
    """Do nothing for a while.

    Args:
        seconds: How long, at most 30.
    """
    time.sleep(min(seconds, 30))
    return "Waited."


def main() -> None:
    logging.getLogger("strands").setLevel(logging.CRITICAL)  # what it logs is raised as well
    try:
        _run(_arguments())
    except Exception as error:  # a reader wants to know what to mend, not where it broke
        sys.exit(f"{type(error).__name__}: {_innermost(error)}")


def _innermost(error: BaseException) -> BaseException:
    """An MCP client runs its transport in task groups, whose errors come in groups."""
    while isinstance(error, ExceptionGroup) or error.__cause__:
        error = error.exceptions[0] if isinstance(error, ExceptionGroup) else error.__cause__
    return error


def _run(asked: argparse.Namespace) -> None:
    prompt = _PROMPT.format(catalog=asked.catalog, file=asked.file, question=asked.question)
    with _tools(asked) as tools:
        agent = Agent(model=_model(asked), tools=[*tools, read_file, wait], callback_handler=None)
        agent.hooks.add_callback(AfterToolCallEvent, Narrator().tell)
        # For the tools in this process; behind the gateway the token tells who is asking.
        caller = {"user_id": asked.user, "session_id": f"example-{os.getpid()}"}
        print(f"\n{agent(prompt, invocation_state=caller)}")


@contextmanager
def _tools(asked: argparse.Namespace) -> Iterator[list[Any]]:
    if asked.in_process:
        try:
            services = from_project(asked.project)
        except ClientError as error:
            sys.exit(f"{error}\nEvaluate `stackroom env --operator` first; see --help.")
        yield [*catalog_tools(services)]
        return
    if not asked.url or not asked.token:
        sys.exit(
            "Set STACKROOM_MCP_URL and STACKROOM_TOKEN, or call with --in-process; see --help."
        )
    client = MCPClient(url=asked.url, headers={"Authorization": f"Bearer {asked.token}"})
    with client:
        yield [*client.list_tools_sync()]


def _model(asked: argparse.Namespace) -> Model:
    if asked.model is None:
        return ScriptedModel(store_and_ask(asked.catalog, asked.file, asked.question))
    name, options = _PROVIDERS[asked.model]
    try:
        provider = getattr(importlib.import_module(f"strands.models.{asked.model}"), name)
    except ImportError as error:
        extra = f"pip install 'strands-agents[{asked.model}]'"
        sys.exit(f"--model {asked.model} can't be imported here ({error}). Install it: {extra}")
    model_id = {"model_id": asked.model_id} if asked.model_id else {}
    made: Model = provider(**options, **model_id)
    return made


class Narrator:
    """A line for each call, but for those that say what the last one said."""

    def __init__(self) -> None:
        self._last = ""

    def tell(self, event: AfterToolCallEvent) -> None:
        name = event.tool_use["name"].rpartition("___")[2]
        text = text_of({"role": "user", "content": [{"toolResult": event.result}]})
        line = f"{name}: {' '.join(text.split())}"
        line = line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3]}..."
        if name not in ("read_file", "wait") and line != self._last:
            print(line, flush=True)
            self._last = line


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    here = Path(__file__).resolve().parent
    parser.add_argument("--model", choices=sorted(_PROVIDERS), help="a provider that Strands has")
    parser.add_argument("--model-id", help="by default the provider's own default")
    parser.add_argument("--in-process", action="store_true", help="instead of MCP")
    parser.add_argument("--user", default="alice", help="in process: who is asking")
    parser.add_argument("--project", default="stackroom", help="in process: what is deployed")
    parser.add_argument("--url", default=os.environ.get("STACKROOM_MCP_URL"))
    parser.add_argument("--token", default=os.environ.get("STACKROOM_TOKEN"))
    parser.add_argument("--catalog", default="Travel notes")
    parser.add_argument("--file", type=Path, default=here / "night-ferry.md")
    parser.add_argument("--question", default="When does the late ferry leave Corran on Sundays?")
    asked = parser.parse_args()
    if not asked.file.is_file() or asked.file.stat().st_size > _LARGEST:
        parser.error(f"--file {asked.file} is no file of at most {_LARGEST} bytes")
    return asked


if __name__ == "__main__":
    main()
