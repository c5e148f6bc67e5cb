"""Verbs of who somebody is: signing in to a deployment, and tokens."""

import sys
from typing import Annotated

import typer

from stackroom_local.cli.verbs.options import (
    Groups,
    Json,
    Owner,
    StateDir,
    named_deployment,
    site_of,
)


def login(
    state_dir: StateDir,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open one, or print the address alone.")
    ] = True,
    port: Annotated[
        int,
        typer.Option(min=1, max=65_535, help="That the browser comes back to, by a callback URL."),
    ] = 8976,
    as_json: Json = False,
) -> None:
    """
    Sign in to a deployment, in the browser of this machine.

    From a machine without one: ssh -L 8976:localhost:8976, and --no-browser there.
    """
    from stackroom_local.cli import signing_in
    from stackroom_local.cli.console import output

    signing_in.login(site_of(state_dir), browser=browser, port=port, told=output(as_json))


def logout(state_dir: StateDir, as_json: Json = False) -> None:
    """Sign out of a deployment, and forget the tokens."""
    from stackroom_local.cli import signing_in
    from stackroom_local.cli.console import output

    signing_in.logout(site_of(state_dir), told=output(as_json))


def token(
    *,
    state_dir: StateDir,
    user: Owner = None,
    group: Groups,
    session: Annotated[
        str | None, typer.Option(help="Of which session; default: a new one, as after a sign-in.")
    ] = None,
    minutes: Annotated[
        int | None,
        typer.Option(min=1, max=1440, help="How long it lasts.", show_default="60"),
    ] = None,
    as_json: Json = False,
) -> None:
    """
    Print an access token, for any MCP client: of the local issuer, or of whoever is signed in.

    On a deployment it is renewed where it would not last another minute.
    """
    from stackroom_local.cli import signing_in
    from stackroom_local.cli.callers import Asker
    from stackroom_local.cli.console import output

    asker = Asker(site=site_of(state_dir), user=user, groups=group)
    signing_in.token(asker, session=session, minutes=minutes, told=output(as_json))


def whoami(
    state_dir: StateDir,
    token: Annotated[
        str | None,
        typer.Option(
            help="An access token; default: whoever is signed in to the deployment, or standard "
            "input."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell the user of a token, and with it the prefix to drop files under."""
    from stackroom_local.cli import signing_in
    from stackroom_local.cli.console import output

    given = token
    if token is None and named_deployment.get() is None:
        given = sys.stdin.buffer.read().decode(errors="backslashreplace")
    found = given.strip() if given is not None else None
    signing_in.whoami(site_of(state_dir), found, told=output(as_json))
