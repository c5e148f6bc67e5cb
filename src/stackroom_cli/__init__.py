"""
The command line: `commands` has what each verb takes, the modules beside this do the work.

Those are imported when their verb runs, because boto3, the MCP client and the tables of `rich` take
longer to import than most verbs take to do their work.
"""

import sys


def app() -> None:
    """The console script. Ctrl-C ends it quietly, also while it is still being imported."""
    try:
        from stackroom_cli.program import run  # noqa: PLC0415

        run()
    except KeyboardInterrupt:
        sys.exit(130)
