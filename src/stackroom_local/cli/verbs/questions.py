"""Verbs of the agent: questions with a user's token."""

from typing import Annotated

import typer

from stackroom_local.cli.verbs.options import CatalogId, Groups, Json, Owner, StateDir, site_of


def ask(
    question: str,
    *,
    state_dir: StateDir,
    user: Owner = None,
    group: Groups,
    catalog: CatalogId = None,
    top: Annotated[int, typer.Option(min=1, max=20, help="How many passages.")] = 3,
    nearest: Annotated[
        bool, typer.Option("--nearest", help="Show what is nearest, however far it is.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Ask as an agent would, over MCP with the user's token: passages with file, page and score."""
    from stackroom_local.cli import asking
    from stackroom_local.cli.callers import Asker
    from stackroom_local.cli.console import output

    asker = Asker(site=site_of(state_dir), user=user, groups=group)
    asking.ask(asker, question, catalog=catalog, top=top, nearest=nearest, told=output(as_json))


def retrieve(
    query: str,
    *,
    state_dir: StateDir,
    user: Owner = None,
    group: Groups,
    catalog: CatalogId = None,
    top: Annotated[int, typer.Option(min=1, max=20, help="How many passages.")] = 5,
    arguments: Annotated[
        str, typer.Option("--arguments", help="More arguments of the tool, as a JSON object.")
    ] = "{}",
    as_json: Json = False,
) -> None:
    """Print the retrieve tool's answer as JSON, as it arrives over MCP."""
    from stackroom_local.cli import asking
    from stackroom_local.cli.callers import Asker
    from stackroom_local.cli.console import output

    asker = Asker(site=site_of(state_dir), user=user, groups=group)
    told = output(as_json)
    asking.retrieve(asker, query, catalog=catalog, top=top, arguments=arguments, told=told)
