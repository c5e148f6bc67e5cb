"""
The command line: `commands` defines what each command takes, and the modules beside it do the work.

A command's modules are imported when it runs, because boto3, the MCP client and `rich` take longer
to import than most commands take to do their work.
"""

import sys


def app() -> None:
    """Run the command line. Ctrl-C ends it quietly, even during the imports."""
    try:
        from stackroom_cli.program import run  # noqa: PLC0415

        run()
    except KeyboardInterrupt:
        sys.exit(130)
