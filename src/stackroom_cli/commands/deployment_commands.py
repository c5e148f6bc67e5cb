"""Commands for the deployments on AWS that this machine knows."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from stackroom_cli.commands.options import (
    AsUser,
    Groups,
    Json,
    StateDir,
    create_output,
    named_deployment,
    site_of,
)
from stackroom_cli.failures import WrongUsage

Name = Annotated[str, typer.Argument(help="Your name for it: `stackroom --deployment NAME ...`.")]


def add(
    name: Name,
    outputs: Annotated[
        Path | None,
        typer.Option(help="The file that `make deploy` wrote: cdk.out/outputs.json."),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(help="Ask AWS for the outputs of this project's stacks instead."),
    ] = None,
    region: Annotated[
        str | None, typer.Option(help="With --project: its region; by default AWS_REGION.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Save a deployment's addresses from its stacks' outputs, replacing one of the same name."""
    if (outputs is None) == (project is None):
        raise typer.BadParameter(
            "name the outputs: --outputs cdk.out/outputs.json, or --project stackroom"
        )
    if region is not None and project is None:
        raise typer.BadParameter(
            "--region requires --project; a file of outputs names its own region"
        )
    from stackroom_cli import deployments

    output = create_output(as_json)
    if outputs is not None:
        deployments.add_from_file(name, outputs, output=output)
    elif project is not None:
        deployments.add_from_stacks(name, project=project, region=region, output=output)


def show(as_json: Json = False) -> None:
    """List the saved deployments."""
    from stackroom_cli import deployments

    deployments.show(output=create_output(as_json))


def remove(name: Name, as_json: Json = False) -> None:
    """Remove a saved deployment and its sign-in; nothing on AWS changes."""
    from stackroom_cli import deployments

    deployments.remove(name, output=create_output(as_json))


# Commands of who somebody is: signing in to a deployment, and tokens.


def login(
    state_dir: StateDir,
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open a browser, or only print the address."),
    ] = True,
    port: Annotated[
        int,
        typer.Option(
            min=1, max=65_535, help="Port of the callback URL that the browser returns to."
        ),
    ] = 8976,
    as_json: Json = False,
) -> None:
    """
    Sign in to a deployment, in this machine's browser.

    On a remote machine, connect with ssh -L 8976:localhost:8976 and use --no-browser there.
    """
    from stackroom_cli import callers

    callers.login(site_of(state_dir), browser=browser, port=port, output=create_output(as_json))


def logout(state_dir: StateDir, as_json: Json = False) -> None:
    """Sign out of a deployment, and delete the tokens."""
    from stackroom_cli import callers

    callers.logout(site_of(state_dir), output=create_output(as_json))


def token(
    *,
    state_dir: StateDir,
    user: AsUser = None,
    group: Groups,
    session: Annotated[
        str | None,
        typer.Option(help="Session of the token; by default a new one, as after a sign-in."),
    ] = None,
    minutes: Annotated[
        int | None,
        typer.Option(min=1, max=1440, help="Lifetime of the token.", show_default="60"),
    ] = None,
    as_json: Json = False,
) -> None:
    """
    Print an access token for an MCP client: the local issuer's, or the signed-in user's.

    On a deployment, a token that expires within a minute is renewed first.
    """
    from stackroom_cli import callers
    from stackroom_cli.callers import Asker

    asker = Asker(site=site_of(state_dir), user=user, groups=group)
    callers.token(asker, session=session, minutes=minutes, output=create_output(as_json))


def whoami(
    state_dir: StateDir,
    token: Annotated[
        str | None,
        typer.Option(
            help="An access token; by default that of the sign-in to the deployment, or standard "
            "input."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a token's user, and the prefix for that user's files."""
    from stackroom_cli import callers

    given = token
    if token is None and named_deployment.get() is None:
        piped = b"" if sys.stdin.isatty() else sys.stdin.buffer.read()
        given = piped.decode(errors="backslashreplace")
    found = given.strip() if given is not None else None
    if found == "":
        raise WrongUsage("no token given; pipe one: stackroom token --user NAME | stackroom whoami")
    callers.whoami(site_of(state_dir), found, output=create_output(as_json))
