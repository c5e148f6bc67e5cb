"""Commands for webhooks: addresses that are called when something changes."""

from typing import Annotated

import typer

from stackroom_cli.commands.options import Json, StateDir, create_output, site_of

WebhookId = Annotated[str, typer.Argument(help="The id, as `stackroom webhooks list` shows it.")]


def add(
    *,
    state_dir: StateDir,
    url: Annotated[str, typer.Argument(help="A public https:// address; in the local mode any.")],
    user: Annotated[
        str | None,
        typer.Option("--user", "-u", help="Whose changes to send; by default everybody's."),
    ] = None,
    types: Annotated[
        str, typer.Option(help="The types of changes to send, separated by commas.")
    ] = "document,catalog,deletion,cap",
    as_json: Json = False,
) -> None:
    """Add a webhook, and show the secret that signs its deliveries."""
    from stackroom_cli import webhook_administration

    webhook_administration.add(
        site_of(state_dir), url, user=user, types=types, output=create_output(as_json)
    )


def show(state_dir: StateDir, as_json: Json = False) -> None:
    """List all webhooks."""
    from stackroom_cli import webhook_administration

    webhook_administration.show(site_of(state_dir), output=create_output(as_json))


def remove(state_dir: StateDir, webhook_id: WebhookId, as_json: Json = False) -> None:
    """Remove a webhook and its pending deliveries."""
    from stackroom_cli import webhook_administration

    webhook_administration.remove(site_of(state_dir), webhook_id, output=create_output(as_json))


def secret(state_dir: StateDir, webhook_id: WebhookId, as_json: Json = False) -> None:
    """Show the secret that signs a webhook's deliveries."""
    from stackroom_cli import webhook_administration

    webhook_administration.secret(site_of(state_dir), webhook_id, output=create_output(as_json))


def redeliver(state_dir: StateDir, as_json: Json = False) -> None:
    """Retry all deliveries that were set aside after a day of failures."""
    from stackroom_cli import webhook_administration

    webhook_administration.redeliver(site_of(state_dir), output=create_output(as_json))
