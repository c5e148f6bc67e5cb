"""Verbs of the deployments on AWS that this machine knows."""

from pathlib import Path
from typing import Annotated

import typer

from stackroom_local.cli.verbs.options import Json

Name = Annotated[str, typer.Argument(help="What you call it: `stackroom --deployment NAME ...`.")]


def add(
    name: Name,
    outputs: Annotated[
        Path | None,
        typer.Option(help="What `make deploy` wrote: cdk.out/outputs.json."),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(help="Instead: ask AWS for the outputs of this project's stacks."),
    ] = None,
    region: Annotated[
        str | None, typer.Option(help="With --project: where they are; default: AWS_REGION.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Keep where a deployment is, from its stacks' outputs; one of that name is replaced."""
    if (outputs is None) == (project is None):
        raise typer.BadParameter(
            "say where its outputs are: --outputs cdk.out/outputs.json, or --project stackroom"
        )
    if region is not None and project is None:
        raise typer.BadParameter("--region goes with --project; a file of outputs tells its own")
    from stackroom_local.cli import deployments
    from stackroom_local.cli.console import output

    told = output(as_json)
    if outputs is not None:
        deployments.add_from_file(name, outputs, told=told)
    elif project is not None:
        deployments.add_from_stacks(name, project=project, region=region, told=told)


def show(as_json: Json = False) -> None:
    """List the deployments that were added."""
    from stackroom_local.cli import deployments
    from stackroom_local.cli.console import output

    deployments.show(told=output(as_json))


def remove(name: Name, as_json: Json = False) -> None:
    """Forget a deployment, and the sign-in to it; nothing on AWS is touched."""
    from stackroom_local.cli import deployments
    from stackroom_local.cli.console import output

    deployments.remove(name, told=output(as_json))
