"""
The command line as a program: it checks arguments, and turns errors into a line and an exit code.
"""

import os
import sys
from collections.abc import Iterable
from functools import partial
from importlib import metadata
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from stackroom.errors import StackroomError
from stackroom_cli.commands import COMMANDS, Need
from stackroom_cli.commands.options import named_deployment
from stackroom_cli.failures import WrongUsage, of_gateway, refused, tell, unwritable
from stackroom_cli.untrusted_text import one_line


class Utf8Command(TyperCommand):
    """
    A command that refuses arguments that are not UTF-8, except paths, which may have any bytes.
    """

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        for given in ctx.params.values():
            for each in _texts(given):
                _require_utf8(each)
        return super().invoke(ctx)


class LocalCommand(Utf8Command):
    """A command that also refuses to work on a deployment."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        if named_deployment.get() is not None:
            raise WrongUsage(
                f"{self.name} does not work on a deployment; leave out --deployment, and unset "
                "STACKROOM_DEPLOYMENT"
            )
        return super().invoke(ctx)


_app = partial(
    typer.Typer,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,  # they would print environments and tokens
)
commands = _app(help="Drop a file into S3 and it becomes searchable by agents: here, or on AWS.")
groups = {
    "caps": _app(help="Set and show users' caps."),
    "deployments": _app(help="Manage the deployments on AWS that this machine knows."),
    "webhooks": _app(help="Manage webhooks, which are called on changes."),
}
for group, within in groups.items():
    commands.add_typer(within, name=group)
for typed, listed in COMMANDS.items():
    of, _, name = typed.rpartition(" ")
    (groups[of] if of else commands).command(
        name,
        cls=LocalCommand if listed.need in (Need.LOCAL, Need.APART) else Utf8Command,
        epilog=listed.need,
    )(listed.function)


def _tell_version(asked: bool) -> None:
    if asked:
        print(f"stackroom {metadata.version('stackroom')}")  # noqa: T201 - for a script to read
        raise typer.Exit


@commands.callback()
def stackroom(
    deployment: Annotated[
        str | None,
        typer.Option(
            "--deployment",
            metavar="NAME",
            envvar="STACKROOM_DEPLOYMENT",
            help="Work on this deployment (stackroom deployments list) instead of the local mode.",
        ),
    ] = None,
    version: Annotated[  # noqa: ARG001 - its callback tells
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_tell_version, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Drop a file into S3 and it becomes searchable by agents: here, or on AWS."""
    named_deployment.set(deployment)


def run() -> None:
    """
    Run the command line. An error is printed as a line, without a traceback, and sets the exit
    code.
    """
    is_json = "--json" in sys.argv[1:]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what its encoding lacks
    try:
        if is_json:
            # Else click would write of a wrong command line, in lines of its own.
            sys.exit(commands(standalone_mode=False) or 0)
        commands()
    except StackroomError as error:
        tell(refused(error) or str(error), type(error).__name__, is_json=is_json)
        sys.exit(2 if isinstance(error, WrongUsage) else 1)
    except typer.TyperException as error:
        tell(error.format_message(), type(error).__name__, is_json=is_json)
        sys.exit(error.exit_code)
    except typer.Abort:
        tell("not confirmed; nothing was done", "Abort", is_json=is_json)
        sys.exit(1)
    except Exception as error:
        if (message := refused(error) or of_gateway(error) or unwritable(error)) is None:
            raise
        tell(message, type(error).__name__, is_json=is_json)
        sys.exit(1)


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
            f"the argument '{one_line(shown)}' must be UTF-8; the bytes shown as \\x are not"
        ) from None
