"""Where the command line writes: coloured on a terminal, plain text with no wrapping in a pipe."""

import sys
import time
from collections.abc import Callable, Iterable

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment

from stackroom_local.cli.foreign import lines

_PIPE_WIDTH = 200


class Console(rich.console.Console):
    """Whatever is printed, only our own styles reach the terminal as control codes."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(lines(segment.text), segment.style)


def console() -> Console:
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Console(highlight=False, soft_wrap=width is not None, width=width)


def stopwatch(out: Console) -> Callable[[str], None]:
    """Announces what was done, and when since now."""
    started = time.monotonic()

    def announce(text: str) -> None:
        out.print(f"[dim]{time.monotonic() - started:6.1f} s[/dim]  {text}")

    return announce


def size(count: int) -> str:
    if count < 1000:
        return f"{count} B"
    if count < 1_000_000:
        return f"{count / 1000:.0f} KB"
    return f"{count / 1_000_000:.1f} MB"
