"""The verb that shows the figures of the dashboard."""

from typing import Annotated

import typer

from stackroom_local.cli.verbs.options import StateDir


def dashboard(
    state_dir: StateDir,
    hours: Annotated[
        float | None,
        typer.Option(
            min=0.1, max=24 * 14, help="How far back; default: as far as the dashboard says."
        ),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Keep showing.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="For programs: every value, with its time.")
    ] = False,
) -> None:
    """Show what the deployed CloudWatch dashboard shows: alarms, and the lines of each widget."""
    if watch and as_json:
        raise typer.BadParameter("--json prints once; leave out --watch, or --json")
    from stackroom_local.cli import dashboard as shown

    shown.dashboard(state_dir, hours=hours, watch=watch, as_json=as_json)
