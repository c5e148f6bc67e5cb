"""Verbs of the agent: questions with a user's token, and the token itself."""

import sys
from typing import Annotated

import typer

from stackroom_local.cli.verbs.options import CatalogId, Groups, StateDir, User


def ask(
    question: str,
    *,
    state_dir: StateDir,
    user: User,
    group: Groups,
    catalog: CatalogId = None,
    top: Annotated[int, typer.Option(min=1, max=20, help="How many passages.")] = 3,
) -> None:
    """Ask as an agent would, over MCP with the user's token: passages with file, page and score."""
    from stackroom_local.cli import asking

    asking.ask(state_dir, question, user=user, groups=group, catalog=catalog, top=top)


def retrieve(
    query: str,
    *,
    state_dir: StateDir,
    user: User,
    group: Groups,
    catalog: CatalogId = None,
    top: Annotated[int, typer.Option(min=1, max=20, help="How many passages.")] = 5,
    arguments: Annotated[
        str, typer.Option("--arguments", help="More arguments of the tool, as a JSON object.")
    ] = "{}",
) -> None:
    """Print the retrieve tool's answer as JSON, as it arrives over MCP."""
    from stackroom_local.cli import asking

    asking.retrieve(
        state_dir,
        query,
        user=user,
        groups=group,
        catalog=catalog,
        top=top,
        arguments=arguments,
    )


def token(
    state_dir: StateDir,
    user: User,
    group: Groups,
    session: Annotated[
        str | None, typer.Option(help="Of which session; default: a new one, as after a sign-in.")
    ] = None,
    minutes: Annotated[int, typer.Option(min=1, max=1440, help="How long it lasts.")] = 60,
) -> None:
    """Print an access token of the local issuer, for any MCP client."""
    from stackroom_local.cli import asking

    asking.token(state_dir, user=user, groups=group, session=session, minutes=minutes)


def whoami(
    state_dir: StateDir,
    token: Annotated[
        str | None, typer.Option(help="An access token; default: read from standard input.")
    ] = None,
) -> None:
    """Tell the user of a token, and with it the prefix to drop files under."""
    from stackroom_local.cli import asking

    given = token or sys.stdin.buffer.read().decode(errors="backslashreplace")
    asking.whoami(state_dir, given.strip())
