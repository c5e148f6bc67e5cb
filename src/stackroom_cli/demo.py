"""
The demonstration: a temporary local mode with two users, real files and real questions.

It fails with the reason if anything goes wrong, so it is also the shortest end-to-end test of an
installation.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict
from rich.markup import escape

from stackroom.model.records import DocumentStatus
from stackroom_cli.callers import Asker, issuer_of
from stackroom_cli.json_output import DemoAnswer
from stackroom_cli.operator_documents import put, settle
from stackroom_cli.output import Output, TerminalConsole, stopwatch
from stackroom_cli.retrieve_tool import print_passages
from stackroom_cli.sites.file_drop import DroppableFile, Dropped, NotDropped, find
from stackroom_client.calls import SEARCH
from stackroom_local.local_errors import DemoFailed, command
from stackroom_local.processes import free_ports
from stackroom_local.project_files import ROOT, part
from stackroom_local.servers import Ports
from stackroom_local.state import Instance, StateDirectory
from stackroom_local.supervisor import LocalMode, Stopped

# The demonstration's agent: examples/agent/agent.py, as a reader would start it.

PROGRAM = ROOT / "examples" / "agent" / "agent.py"
ANSWER = "22:40"  # stands in examples/agent/night-ferry.md, and nowhere else


def play(instance: Instance, user: str) -> Iterator[str]:
    """
    Run the example agent, and yield each line it prints: its MCP calls and its answer.

    Raises DemoFailed if the agent fails, or doesn't find the answer.
    """
    environment = {
        **os.environ,
        "STACKROOM_MCP_URL": instance.mcp_url,
        "STACKROOM_TOKEN": issuer_of(instance).mint(user),
    }
    command = [sys.executable, str(PROGRAM)]
    printed = ""
    with subprocess.Popen(  # noqa: S603 - a program of this project
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as agent:
        assert agent.stdout is not None, "it is a pipe"
        for line in agent.stdout:
            printed += line
            yield line.rstrip()
    if agent.returncode:
        raise DemoFailed(f"the agent ended with exit code {agent.returncode}")
    if ANSWER not in printed:
        raise DemoFailed(f"the agent's answer is not {ANSWER}")


EXAMPLES = ROOT / "examples"
_SETTLE_SECONDS = 90.0
_PASSAGES = 3


class DemoQuestion(BaseModel):
    """A user's question, with the file, the page and the phrase that answer it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    user: str
    question: str
    file: str
    page: int | None
    phrase: str

    def is_answered_by(self, result: dict[str, Any]) -> bool:
        source = result["source"]
        there = source["uri"].endswith(f"/{self.file}") and source["page"] == self.page
        return there and _spaced(self.phrase) in _spaced(result["content"])


class DemoQuestions(BaseModel):
    """The content of examples/questions.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    note: str
    questions: tuple[DemoQuestion, ...]

    @property
    def users(self) -> list[str]:
        return list(dict.fromkeys(each.user for each in self.questions))

    def some(self) -> list[DemoQuestion]:
        """
        Return three questions: two of the first user's, about different files, and one of the
        second's.
        """
        about = {(each.user, each.file): each for each in reversed(self.questions)}
        first, second, *_ = (
            [q for q in reversed(about.values()) if q.user == u] for u in self.users
        )
        return [*first[:2], *second[:1]]


@dataclass
class _Timings:
    parts: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def of(self, part: str) -> Iterator[None]:
        started = time.monotonic()
        yield
        self.parts[part] = time.monotonic() - started


def run(*, speed: float, output: Output) -> None:
    """Play the whole demonstration. Raises `DemoFailed` if something goes wrong."""
    out = output.people
    questions = DemoQuestions.model_validate_json(part("examples/questions.json").read_bytes())
    directory = Path(tempfile.mkdtemp(prefix="stackroom-demo-"))
    timings = _Timings()
    try:
        _show(out, timings, StateDirectory(directory), questions, speed=speed)
    except Stopped:
        raise DemoFailed("it was stopped before its end") from None
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    _report(out, timings)
    output.answer(DemoAnswer(seconds=timings.parts))


def _show(
    out: TerminalConsole,
    timings: _Timings,
    state: StateDirectory,
    questions: DemoQuestions,
    *,
    speed: float,
) -> None:
    users = questions.users
    _heading(out, "Starting the local mode: AWS, Bedrock and the gateway on this machine")
    mode = LocalMode(
        state=state, ports=Ports(aws=free_ports(4)), speed=speed, announce=stopwatch(out)
    )
    started = time.monotonic()
    with state.held(), mode.running() as instance:
        timings.parts["start"] = time.monotonic() - started
        _heading(out, f"Dropping the documents of {' and '.join(users)} into S3")
        with timings.of("drop and index"):
            _ingest(out, instance, users)
        with timings.of("ask"):
            for question in questions.some():
                _ask(out, instance, question, users)
        _heading(out, f"An agent of {users[0]}'s creates a catalog, uploads, waits and asks")
        with timings.of("agent"):
            for line in play(instance, users[0]):
                out.print(line, markup=False, highlight=False)
        stopping = time.monotonic()
    timings.parts["stop"] = time.monotonic() - stopping


def _ingest(out: TerminalConsole, instance: Instance, users: Sequence[str]) -> None:
    dropped: list[Dropped] = []
    for user in users:
        # examples/{user}/{catalog}/... is laid out as the bucket is
        files = tuple(DroppableFile(each.path, each.name) for each in find([EXAMPLES / user]).files)
        for outcome in put(instance, files, prefix=f"{user}/", out=out):
            if isinstance(outcome, NotDropped):
                raise DemoFailed(f"{outcome.key} was not uploaded: {outcome.reason}")
            dropped.append(outcome)
    try:
        documents = settle(instance, dropped, out=out, seconds=_SETTLE_SECONDS)
    except TimeoutError as error:
        raise DemoFailed(str(error)) from error
    for document in documents:
        if document.status is not DocumentStatus.INDEXED:
            raise DemoFailed(f"{document.s3_key} is {document.status}: {document.status_reason}")


def _ask(
    out: TerminalConsole, instance: Instance, question: DemoQuestion, users: Sequence[str]
) -> None:
    _heading(out, f"{question.user} asks: {question.question}")
    arguments = {"query": question.question, "top_k": _PASSAGES}
    answer = Asker(site=instance, user=question.user).client.call(SEARCH, arguments)
    print_passages(out, answer, brief=True)
    if not any(map(question.is_answered_by, answer["results"])):
        where = question.file + (f", page {question.page}" if question.page else "")
        raise DemoFailed(f"no passage has the answer, {question.phrase!r} in {where}")
    for other in users:
        if other != question.user:
            _ask_as_stranger(out, instance, arguments, stranger=other, owner=question.user)


def _ask_as_stranger(
    out: TerminalConsole,
    instance: Instance,
    arguments: dict[str, Any],
    *,
    stranger: str,
    owner: str,
) -> None:
    """Ask the same question with another user's token, which must find nothing of the owner's."""
    answer = Asker(site=instance, user=stranger).client.call(SEARCH, arguments)
    results = answer["results"]
    leaked = [each for each in results if f"/{owner}/" in each["source"]["uri"]]
    if leaked:
        raise DemoFailed(f"{stranger} saw {json.dumps(leaked[0]['source'])}")
    own = f"only {len(results)} passages of their own" if results else "nothing"
    out.print(escape(f"[{stranger} asks the same and finds {own}: nothing of {owner}'s]"))


def _report(out: TerminalConsole, timings: _Timings) -> None:
    _heading(out, "Everything works")
    for name, seconds in timings.parts.items():
        out.print(f"  {name:<16}{seconds:6.1f} s")
    out.print(f"  {'total':<16}{sum(timings.parts.values()):6.1f} s")
    out.print(f"\nTo serve it yourself, run {command()} up. It prints the address of its console.")


def _spaced(text: str) -> str:
    """
    Return the text with single spaces, because a passage breaks its lines elsewhere than its file.
    """
    return " ".join(text.split())


def _heading(out: TerminalConsole, text: str) -> None:
    out.print(f"\n[bold]{escape(text)}[/bold]")
