"""The command line's output: coloured on a terminal, plain and unwrapped in a pipe."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import rich.console
from pydantic import BaseModel
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

from stackroom_cli.untrusted_text import in_json, lines

_PIPE_WIDTH = 200


class TerminalConsole(rich.console.Console):
    """A console that escapes control characters in printed text, except those of our own styles."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(lines(segment.text), segment.style)


def console(*, is_quiet: bool = False) -> TerminalConsole:
    width = None if sys.stdout.isatty() and not is_quiet else _PIPE_WIDTH
    return TerminalConsole(
        highlight=False,
        soft_wrap=width is not None,
        width=width,
        quiet=is_quiet,
        force_terminal=False if is_quiet else None,
    )


@dataclass(frozen=True)
class Output:
    """A command's output: text for people as it works, or one JSON document for programs."""

    people: TerminalConsole
    is_json: bool

    def answer(self, answer: BaseModel) -> None:
        """Print the answer if JSON is wanted; people have read the text already."""
        if self.is_json:
            self.tell(_json(answer, indent=2))

    def line(self, answer: BaseModel) -> None:
        """Print one of many answers, each on a line, if JSON is wanted."""
        if self.is_json:
            self.tell(_json(answer))

    def tell(self, text: str) -> None:
        print(in_json(text), flush=True)  # noqa: T201 - for programs, which want it bare


def _json(answer: BaseModel, indent: int | None = None) -> str:
    # Pydantic's own writer refuses names of files that are not UTF-8; `in_json` escapes them.
    return json.dumps(answer.model_dump(mode="json"), ensure_ascii=False, indent=indent)


def create_output(as_json: bool) -> Output:
    """Return the output of a command. If JSON is wanted, nothing else goes to standard output."""
    return Output(console(is_quiet=as_json), as_json)


def table(*columns: str) -> Table:
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


@contextmanager
def counting(out: rich.console.Console, text: str, total: int) -> Iterator[Callable[[int], None]]:
    """
    Show a progress bar that disappears at the end; yields a function that takes the number done.
    """
    # Imported here because most commands have nothing to count.
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (TextColumn(text), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        bar = progress.add_task("", total=total)
        yield lambda done: progress.update(bar, completed=done)


def stopwatch(out: TerminalConsole) -> Callable[[str], None]:
    """Return a function that prints a message with the seconds since now."""
    started = time.monotonic()

    def announce(text: str) -> None:
        out.print(f"[dim]{time.monotonic() - started:6.1f} s[/dim]  {text}")

    return announce
