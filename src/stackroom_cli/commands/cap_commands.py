"""Commands that show and limit how much each user may have and use."""

import re
from decimal import Decimal
from typing import Annotated

import typer

from stackroom_cli.commands.options import (
    Everybody,
    Json,
    SomeUser,
    StateDir,
    create_output,
    is_ones_own,
    site_of,
)

_MOST = 10**15  # documents: DynamoDB's numbers have 38 digits
_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}

Whose = Annotated[
    str | None,
    typer.Option("--user", "-u", help="The user; by default everybody without caps of their own."),
]


def _bytes(text: str) -> int:
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?) *([KMGT]B)?", text.strip().upper())
    if found is None:
        raise typer.BadParameter(f"{text!r} is not a size; use 5GB, 500MB, or a number of bytes")
    return round(Decimal(found[1]) * _UNITS[found[2] or ""])


def _dollars(text: str) -> Decimal:
    if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", text.strip()) is None:
        raise typer.BadParameter(f"{text!r} is not an amount; use 20, or 0.50")
    return Decimal(text.strip())


def set_caps(
    *,
    state_dir: StateDir,
    user: Whose = None,
    documents: Annotated[
        int | None, typer.Option(min=0, max=_MOST, help="Maximum number of documents.")
    ] = None,
    size: Annotated[
        int | None,
        typer.Option("--bytes", metavar="SIZE", parser=_bytes, help="Maximum size, such as 5GB."),
    ] = None,
    dollars: Annotated[
        Decimal | None,
        typer.Option(
            metavar="DOLLARS",
            parser=_dollars,
            help="Maximum cost of a month (UTC), as in `stackroom usage`. Once it is spent,"
            " questions are refused, too.",
        ),
    ] = None,
    unlimited: Annotated[
        bool, typer.Option("--unlimited", help="No caps, whatever everybody's are.")
    ] = False,
    as_json: Json = False,
) -> None:
    """
    Set a user's caps, or everybody's, replacing earlier ones.

    Documents over a cap wait in the bucket until there is room.
    """
    given = {"documents": documents, "bytes": size, "dollars": dollars}
    if unlimited == any(each is not None for each in given.values()):
        raise typer.BadParameter("use --documents, --bytes or --dollars, or else --unlimited")
    from stackroom_cli import cap_administration

    cap_administration.keep(site_of(state_dir), user, given, output=create_output(as_json))


def show(*, state_dir: StateDir, as_json: Json = False) -> None:
    """List the caps that are set."""
    from stackroom_cli import cap_administration

    cap_administration.show(site_of(state_dir), output=create_output(as_json))


def remove(*, state_dir: StateDir, user: Whose = None, as_json: Json = False) -> None:
    """Remove a user's own caps, so that everybody's apply; or everybody's caps."""
    from stackroom_cli import cap_administration

    cap_administration.remove(site_of(state_dir), user, output=create_output(as_json))


def _month(text: str) -> str:
    if re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])", text) is None:
        raise typer.BadParameter(f"{text!r} is not a month; use 2026-11")
    return text


def usage(
    *,
    state_dir: StateDir,
    month: Annotated[
        str | None,
        typer.Option(
            metavar="MONTH",
            parser=_month,
            help="A month in UTC, such as 2026-11; by default this one.",
        ),
    ] = None,
    user: SomeUser = None,
    everybody: Everybody = False,
    as_json: Json = False,
) -> None:
    """Show users' documents, their usage in a month, its cost, and their caps."""
    from stackroom_cli import cap_administration
    from stackroom_cli.own_documents import SignedInPerson

    site, output = site_of(state_dir), create_output(as_json)
    if is_ones_own(user, everybody=everybody):
        cap_administration.own_usage(SignedInPerson.at(site), month, output=output)
    else:
        cap_administration.usage(site, month, user, output=output)
