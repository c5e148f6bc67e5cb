"""Options that several commands share."""

from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stackroom_cli.failures import WrongUsage
from stackroom_cli.sites.site import Site
from stackroom_local.state import StateDirectory, default_state_dir

if TYPE_CHECKING:
    from stackroom_cli.output import Output

StateDir = Annotated[
    Path,
    typer.Option(
        "--state-dir",
        default_factory=default_state_dir,
        show_default=".stackroom, or STACKROOM_STATE_DIR",
        help="The directory of the local mode's data.",
    ),
]
Speed = Annotated[
    float, typer.Option(min=0.1, max=1000, help="The factor by which AWS's delays are shortened.")
]
User = Annotated[str, typer.Option("--user", "-u", help="The documents' owner: the token's `sub`.")]
Owner = Annotated[
    str | None,
    typer.Option(
        "--user", "-u", help="The owner: the token's `sub`. On a deployment, by default you."
    ),
]
AsUser = Annotated[
    str | None,
    typer.Option(
        "--user",
        "-u",
        help="The user to act as: the token's `sub`. Only in the local mode; else you.",
    ),
]
Everybody = Annotated[
    bool, typer.Option("--everybody", help="Include all users, as an operator of a deployment.")
]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON; see docs/cli.md.")]
Groups = Annotated[
    list[str],
    typer.Option(
        "--group",
        default_factory=list,
        show_default=False,
        help="A group of the user; repeatable.",
    ),
]
SomeUser = Annotated[str | None, typer.Option("--user", "-u", help="Only this user.")]
CatalogName = Annotated[str, typer.Option("--catalog", "-c", help="The catalog's name.")]
CatalogId = Annotated[
    str | None, typer.Option("--catalog", "-c", help="Only this catalog: its name or id.")
]


# Of `stackroom --deployment NAME ...`; None for the local mode.
named_deployment: ContextVar[str | None] = ContextVar("named_deployment", default=None)


def is_ones_own(user: str | None, *, everybody: bool = False) -> bool:
    """
    Return whether the command works for the person signed in to a deployment, not for a named user.
    """
    if user is not None and everybody:
        raise WrongUsage("--user names one user, --everybody all of them; use one of them")
    return named_deployment.get() is not None and user is None and not everybody


def site_of(state_dir: Path, *, seconds: float | None = None) -> Site:
    """
    Return the site that the command works on.

    In the local mode, requests wait `seconds` for an answer, or a client's usual time. Raises
    `NotUp` if the local mode is not running, or `UnknownDeployment`.
    """
    name = named_deployment.get()
    if name is None:
        instance = StateDirectory(state_dir).instance()
        return instance if seconds is None else instance.within(seconds)
    from stackroom_cli.sites.known_deployments import KnownDeployments

    return KnownDeployments().named(name)


def create_output(as_json: bool) -> "Output":
    from stackroom_cli.output import create_output  # which is slow to load

    return create_output(as_json)
