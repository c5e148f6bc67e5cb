"""Verbs that put documents in, tell how far they are, and take them out again."""

from pathlib import Path
from typing import Annotated

import typer

from stackroom_local.cli.verbs.options import (
    CatalogId,
    CatalogName,
    Everybody,
    Json,
    Owner,
    SomeUser,
    StateDir,
    User,
    is_ones_own,
    site_of,
)
from stackroom_local.state import LOOK_SECONDS


def _named(path: str) -> Path:
    """An empty path is the present folder to the system, and to nobody who left a variable out."""
    if not path:
        raise typer.BadParameter("a path is empty; name a file or a folder, '.' for this one")
    return Path(path)


def drop(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATHS", parser=_named, help="Files, or folders with all below them."
        ),
    ],
    *,
    state_dir: StateDir,
    catalog: CatalogName,
    user: Owner = None,
    wait: Annotated[bool, typer.Option("--wait", help="Until each is indexed or failed.")] = False,
    as_json: Json = False,
) -> None:
    """Put files into the bucket, as `aws s3 cp` would; folders keep their structure."""
    from stackroom_local.cli import documents, sending
    from stackroom_local.cli.console import output
    from stackroom_local.cli.signed_in import Person

    site, told = site_of(state_dir), output(as_json)
    if user is None:
        sending.drop(Person.at(site), paths, catalog=catalog, wait=wait, told=told)
    else:
        documents.drop(site, paths, user=user, catalog=catalog, wait=wait, told=told)


def status(
    *,
    state_dir: StateDir,
    user: SomeUser = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Keep showing.")] = False,
    until_settled: Annotated[
        bool, typer.Option("--until-settled", help="Keep showing until each is indexed or failed.")
    ] = False,
    pool: Annotated[
        bool,
        typer.Option(
            "--pool", help="The knowledge bases: their catalogs, who is at work and who waits."
        ),
    ] = False,
    everybody: Everybody = False,
    as_json: Json = False,
) -> None:
    """
    Show documents and how far they have come; on a terminal, until all have settled.

    Of a catalog of 200 and more, those that are open or failed.
    """
    from stackroom_local.cli import documents, pooling, signed_in
    from stackroom_local.cli.console import output
    from stackroom_local.cli.signed_in import Person

    site, told = site_of(state_dir, seconds=LOOK_SECONDS), output(as_json)
    if pool:
        pooling.pool(site, told=told)
    elif is_ones_own(user, everybody=everybody):
        person = Person.at(site)
        signed_in.status(person, watch=watch, until_settled=until_settled, told=told)
    else:
        documents.status(site, user=user, watch=watch, until_settled=until_settled, told=told)


def delete(
    state_dir: StateDir,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY|FILE...",
            help="Keys, or names of files in --catalog; without any, the whole catalog.",
        ),
    ] = None,
    *,
    user: SomeUser = None,
    catalog: CatalogId = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Delete a whole catalog without asking.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Until no search finds it any more.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Remove documents, or a catalog, from the bucket and the index; prints the receipts."""
    from stackroom_local.cli import removing, signed_in
    from stackroom_local.cli.console import output
    from stackroom_local.cli.signed_in import Person

    site, told = site_of(state_dir), output(as_json)
    if is_ones_own(user):
        person = Person.at(site)
        signed_in.delete(person, targets or [], catalog=catalog, yes=yes, wait=wait, told=told)
        return
    removing.delete(
        site,
        targets or [],
        user=user,
        catalog=catalog,
        yes=yes,
        wait=wait,
        told=told,
    )


def receipts(
    state_dir: StateDir,
    receipt_id: Annotated[str | None, typer.Argument(help="Only this one.")] = None,
    user: SomeUser = None,
    as_json: Json = False,
) -> None:
    """Show what was deleted or lost: searchable before, asked for, and not searchable since."""
    from stackroom_local.cli import receipting
    from stackroom_local.cli.console import output

    receipting.receipts(site_of(state_dir), receipt_id, user=user, told=output(as_json))


def catalogs(
    state_dir: StateDir, user: SomeUser = None, everybody: Everybody = False, as_json: Json = False
) -> None:
    """List catalogs: how many documents they have, and whether they are ready."""
    from stackroom_local.cli import cataloguing, signed_in
    from stackroom_local.cli.console import output
    from stackroom_local.cli.signed_in import Person

    site, told = site_of(state_dir), output(as_json)
    if is_ones_own(user, everybody=everybody):
        signed_in.catalogs(Person.at(site), told=told)
    else:
        cataloguing.catalogs(site, user=user, told=told)


def retry(
    state_dir: StateDir,
    user: User,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY|FILE...", help="Keys, or names of files in --catalog; default: all."
        ),
    ] = None,
    catalog: CatalogId = None,
    as_json: Json = False,
) -> None:
    """Have what failed tried again, as it lies there."""
    from stackroom_local.cli import retrying
    from stackroom_local.cli.console import output

    site = site_of(state_dir)
    retrying.retry(site, targets or [], user=user, catalog=catalog, told=output(as_json))


def reconcile(
    state_dir: StateDir,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what would be mended.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare bucket, records and index, and mend what they tell differently."""
    from stackroom_local.cli import reconciling
    from stackroom_local.cli.console import output

    reconciling.reconcile(site_of(state_dir), dry_run=dry_run, told=output(as_json))
