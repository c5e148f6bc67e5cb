"""
The command line: `verbs` has what each verb takes, the modules beside this do the work.

Those are imported when their verb runs, because boto3, the MCP client and the tables of `rich` take
longer to import than most verbs take to do their work.
"""

import sys

import typer

from stackroom.errors import StackroomError
from stackroom_local.cli.foreign import lines
from stackroom_local.cli.verbs import VERBS

commands = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,  # they would print environments and tokens
    help="Drop a file into S3 and it becomes searchable by agents. All of it on this machine.",
)
for verb in VERBS:
    commands.command()(verb)


def app() -> None:
    """The console script; our own errors are their text and exit code 1, without a traceback."""
    try:
        commands()
    except StackroomError as error:
        print(f"stackroom: {lines(str(error))}", file=sys.stderr)  # noqa: T201 - a command line
        sys.exit(1)
