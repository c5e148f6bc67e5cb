"""drop and status: documents on their way into the bucket, and through their statuses."""

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn
from rich.text import Text

from stackroom.catalog_tools.texts import counted
from stackroom.errors import StoreUnavailable, ValidationError
from stackroom.keys import NO_USER, Unplaced, locate
from stackroom.model import Document, DocumentStatus
from stackroom_local.changed_records import Following
from stackroom_local.cli.asking import checked
from stackroom_local.cli.console import Console, Output
from stackroom_local.cli.foreign import one_line
from stackroom_local.cli.live_status import Watch
from stackroom_local.cli.telling import drop_answer, overview, status_answer
from stackroom_local.dropping import Dropped, File, Found, NotDropped, find
from stackroom_local.dropping import drop as drop_files
from stackroom_local.problems import LocalModeError
from stackroom_local.product import Product
from stackroom_local.records import CatalogListing, Records
from stackroom_local.sites.site import Site
from stackroom_local.waiting import objects, waiting
from stackroom_local.waiting import told as told_waiting

_NAMES = 10  # of files that have the same reason


class SomeFailed(LocalModeError):
    def __init__(self, count: int, of: int) -> None:
        super().__init__(f"{count} of {counted(of, 'file')} did not become searchable; see above")


def drop(
    site: Site, paths: list[Path], *, user: str, catalog: str, wait: bool, told: Output
) -> None:
    out = told.people
    prefix = _prefix(site, user, catalog)
    found = found_at(paths)
    started = time.monotonic()
    outcomes = put(site, found.files, prefix=prefix, out=out)
    _tell(out, found, outcomes)
    out.print(
        f"dropped {sum(isinstance(each, Dropped) for each in outcomes)}"
        f" of {counted(len(outcomes), 'file')} into {prefix} in {time.monotonic() - started:.1f} s"
    )
    bad = sum(isinstance(each, NotDropped) for each in outcomes)
    settled: list[Document] = []
    if wait:
        dropped = [each for each in outcomes if isinstance(each, Dropped)]
        settled = settle(site, dropped, out=out, user=user)
        bad += sum(each.status is DocumentStatus.FAILED for each in settled)
    told.answer(drop_answer(prefix, found, outcomes, settled))
    if bad:
        raise SomeFailed(bad, len(outcomes))


def _prefix(site: Site, user: str, catalog: str) -> str:
    """
    Of the catalog of that name, wherever it lies: a tool names a prefix by the catalog's id. Raises
    ValidationError before anything is uploaded to where it would be rejected.
    """
    location = locate(f"{checked(user)}/{catalog}/file.txt")
    if isinstance(location, Unplaced):
        raise ValidationError(f"--user {user!r} --catalog {catalog!r}: {location.reason}")
    if location.prefix != f"{user}/{catalog}/":
        raise ValidationError(f"--catalog {catalog!r} must not contain '/'")
    there = Product(site).stores.catalogs.get(location.catalog_id)
    return location.prefix if there is None else there.s3_prefix


def status(site: Site, *, user: str | None, watch: bool, until_settled: bool, told: Output) -> None:
    out = told.people
    if user not in (None, NO_USER):
        checked(user)
    if not watch and not until_settled:
        # In this order, so that what is recorded meanwhile is told of by one of them at least.
        waits = keys_waiting(site, user)
        listings = Records(site).listings(user)
        if not (out.is_terminal and _is_under_way(listings)):
            out.print(overview(listings, speed=site.speed))
            shown = {each.s3_key for listing in listings for each in listing.documents}
            left = [key for key in waits if key not in shown]
            if left:
                out.print(Text(told_waiting(left)))
            told.answer(status_answer(listings, left))
            return
        until_settled = True
    following = Following(site, user)
    with Watch.of(out, speed=site.speed, lines=told if told.is_json else None) as watching:
        while True:
            listings = following.look()
            watching.show(listings)
            if until_settled and _has_settled(following, listings):
                return
            watching.rest()


def keys_waiting(site: Site, user: str | None) -> list[str]:
    """Keys of uploads that no record tells of."""
    lying = list(objects(Product(site).stores.inventory, user))
    return waiting(lying, Records(site).documents(user))


def _has_settled(following: Following, listings: Iterable[CatalogListing]) -> bool:
    """Also what was uploaded a moment ago, and has no record yet."""
    if _is_under_way(listings):
        return False
    try:
        if keys_waiting(following.site, following.user_id):
            return False
    except StoreUnavailable:
        return False  # the next look tells
    return not _is_under_way(following.look())  # it may have been recorded in between


def _is_under_way(listings: Iterable[CatalogListing]) -> bool:
    settled = (DocumentStatus.INDEXED, DocumentStatus.FAILED)
    found = (each for listing in listings for each in listing.documents)
    return any(each.status not in settled and not each.is_to_come for each in found)


def put(
    site: Site, files: tuple[File, ...], *, prefix: str, out: Console
) -> list[Dropped | NotDropped]:
    """Uploads them, with a bar on a terminal."""
    columns = (TextColumn("uploading"), BarColumn(), DownloadColumn(binary_units=True))
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        bar = progress.add_task("", total=sum(file.path.stat().st_size for file in files))

        def advance(file: File) -> None:
            progress.advance(bar, file.path.stat().st_size)

        return list(drop_files(site, files, prefix=prefix, on_put=advance))


def settle(
    site: Site,
    dropped: list[Dropped],
    *,
    out: Console,
    user: str | None = None,
    seconds: float = float("inf"),
) -> list[Document]:
    """
    Shows each of them until it is indexed or failed; their records then.

    Raises `TimeoutError` naming those that were neither within `seconds`.
    """
    started = time.monotonic()
    following = Following(site, user)
    with Watch.of(out, speed=site.speed, every_document=False) as watching:
        while True:
            listings = _only(following.look(), dropped)
            watching.show(listings)
            settled = _settled(listings, dropped)
            if len(settled) == len(dropped):
                break
            if time.monotonic() - started > seconds:
                missing = sorted({each.key for each in dropped} - settled.keys())
                raise TimeoutError(f"not settled within {seconds:g} s: {', '.join(missing)}")
            watching.rest()
    out.print(f"all settled in {time.monotonic() - started:.1f} s")
    return list(settled.values())


def found_at(paths: list[Path]) -> Found:
    try:
        found = find(paths)
    except FileNotFoundError as error:
        raise ValidationError(f"no such file or folder: {error}") from error
    if not found.files:
        raise ValidationError("there is no file to drop in " + ", ".join(map(str, paths)))
    return found


def _tell(out: Console, found: Found, outcomes: list[Dropped | NotDropped]) -> None:
    for path in found.left_out:
        out.print(
            escape(
                f"left out {one_line(str(path))}: hidden, or a sidecar, which only Stackroom writes"
            )
        )
    tell_not_dropped(
        out, ((each.key, each.reason) for each in outcomes if isinstance(each, NotDropped))
    )


def tell_not_dropped(out: Console, refused: Iterable[tuple[str, str]]) -> None:
    """Of each its name and the reason, which is said once of those that have the same."""
    names: dict[str, list[str]] = {}
    for name, reason in refused:
        names.setdefault(reason, []).append(name)
    for reason, found in names.items():
        if len(found) == 1:
            out.print(escape(one_line(f"not dropped: {found[0]}: {reason}")), style="red")
            continue
        out.print(escape(one_line(f"not dropped: {len(found)} files: {reason}")), style="red")
        for name in found[:_NAMES]:
            out.print(escape(f"  {one_line(name)}"))
        if len(found) > _NAMES:
            out.print(f"  and {len(found) - _NAMES} more")


def _settled(listings: list[CatalogListing], dropped: list[Dropped]) -> dict[str, Document]:
    documents = {each.s3_key: each for listing in listings for each in listing.documents}
    return {
        each.key: documents[each.key]
        for each in dropped
        if each.key in documents and each.covers(documents[each.key])
    }


def _only(listings: list[CatalogListing], dropped: list[Dropped]) -> list[CatalogListing]:
    keys = {each.key for each in dropped}
    narrowed = [
        replace(listing, documents=tuple(each for each in listing.documents if each.s3_key in keys))
        for listing in listings
    ]
    return [listing for listing in narrowed if listing.documents]
