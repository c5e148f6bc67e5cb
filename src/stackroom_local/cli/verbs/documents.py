"""Verbs that put documents in, tell how far they are, and take them out again."""

from pathlib import Path
from typing import Annotated

import typer

from stackroom_local.cli.verbs.options import CatalogId, CatalogName, SomeUser, StateDir, User


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
    state_dir: StateDir,
    user: User,
    catalog: CatalogName,
    wait: Annotated[bool, typer.Option("--wait", help="Until each is indexed or failed.")] = False,
) -> None:
    """Put files into the bucket, as `aws s3 cp` would; folders keep their structure."""
    from stackroom_local.cli import documents

    documents.drop(state_dir, paths, user=user, catalog=catalog, wait=wait)


def status(
    state_dir: StateDir,
    user: SomeUser = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Keep showing.")] = False,
    pool: Annotated[
        bool,
        typer.Option(
            "--pool", help="The knowledge bases: their catalogs, who is at work and who waits."
        ),
    ] = False,
) -> None:
    """
    Show documents and how far they have come; on a terminal, until all have settled.

    Of a catalog of 200 and more, those that are open or failed.
    """
    from stackroom_local.cli import documents, pooling

    if pool:
        pooling.pool(state_dir)
    else:
        documents.status(state_dir, user=user, watch=watch)


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
) -> None:
    """Remove documents, or a catalog, from the bucket and the index; prints the receipts."""
    from stackroom_local.cli import removing

    removing.delete(state_dir, targets or [], user=user, catalog=catalog, yes=yes, wait=wait)


def receipts(
    state_dir: StateDir,
    receipt_id: Annotated[str | None, typer.Argument(help="Only this one.")] = None,
    user: SomeUser = None,
) -> None:
    """Show what was deleted: searchable before, asked for, and not searchable since."""
    from stackroom_local.cli import removing

    removing.receipts(state_dir, receipt_id, user=user)


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
) -> None:
    """Have what failed tried again, as it lies there."""
    from stackroom_local.cli import retrying

    retrying.retry(state_dir, targets or [], user=user, catalog=catalog)


def reconcile(
    state_dir: StateDir,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell what would be mended.")
    ] = False,
) -> None:
    """Compare bucket, records and index, and mend what they tell differently."""
    from stackroom_local.cli import repairing

    repairing.reconcile(state_dir, dry_run=dry_run)
