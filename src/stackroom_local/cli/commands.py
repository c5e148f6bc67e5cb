"""The verbs as a program: their arguments are text, and their errors a line and an exit code."""

import os
import sys
from collections.abc import Iterable
from typing import Any

import typer
from typer.core import TyperCommand

from stackroom.errors import StackroomError
from stackroom_local.cli.foreign import lines, one_line
from stackroom_local.cli.usage import WrongUsage
from stackroom_local.cli.verbs import VERBS


class Verb(TyperCommand):
    """Refuses what is no text; only a path to drop, a `Path` by now, may be of any bytes."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        for given in ctx.params.values():
            for each in _texts(given):
                _require_utf8(each)
        return super().invoke(ctx)


commands = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,  # they would print environments and tokens
    help="Drop a file into S3 and it becomes searchable by agents. All of it on this machine.",
)
for verb in VERBS:
    commands.command(cls=Verb)(verb)


def run() -> None:
    """Our own errors are their text and an exit code, without a traceback."""
    try:
        commands()
    except StackroomError as error:
        print(f"stackroom: {lines(str(error))}", file=sys.stderr)  # noqa: T201 - a command line
        sys.exit(2 if isinstance(error, WrongUsage) else 1)


def _texts(given: object) -> Iterable[str]:
    values = given if isinstance(given, list | tuple) else [given]
    return (each for each in values if isinstance(each, str))


def _require_utf8(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        # Python keeps the bytes that it can't decode as lone surrogates; fsencode gives them back.
        shown = os.fsencode(text).decode("utf-8", "backslashreplace")
        raise WrongUsage(
            f"the argument '{one_line(shown)}' must be UTF-8; what \\x stands before is not"
        ) from None
