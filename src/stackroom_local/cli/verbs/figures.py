"""The verb that shows the figures of the dashboard."""

from typing import Annotated

import typer

from stackroom_local.cli.verbs.options import Json, StateDir, site_of


def dashboard(
    state_dir: StateDir,
    hours: Annotated[
        float | None,
        typer.Option(
            min=0.1, max=24 * 14, help="How far back; default: as far as the dashboard says."
        ),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Keep showing.")] = False,
    as_json: Json = False,
) -> None:
    """Show what the deployed CloudWatch dashboard shows: alarms, and the lines of each widget."""
    if watch and as_json:
        raise typer.BadParameter("--json prints once; leave out --watch, or --json")
    from stackroom_local.cli import dashboard as shown
    from stackroom_local.cli.console import output

    shown.dashboard(site_of(state_dir), hours=hours, watch=watch, told=output(as_json))
