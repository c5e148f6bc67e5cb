"""The `drop`, `status`, `catalogs` and `retry` commands, with an operator's rights."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from textwrap import indent

from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn
from rich.text import Text

from stackroom.errors import StoreUnavailable, ValidationError
from stackroom.model.keys import (
    NO_USER,
    SIDECAR_SUFFIX,
    Unplaced,
    is_folder_marker,
    is_junk,
    is_ours,
    locate,
)
from stackroom.model.records import Document, DocumentStatus
from stackroom.reconciler.bucket_audit import has_the_same_content
from stackroom.runs.inventory import Inventory, ListedObject
from stackroom.tools.texts import counted, size
from stackroom_cli.callers import checked
from stackroom_cli.document_lookup import DocumentLookup
from stackroom_cli.document_tables import STYLES, drop_answer, overview, status_answer
from stackroom_cli.json_output import CatalogsAnswer, CatalogTold, NotAgain, RetryAnswer
from stackroom_cli.live_status import StatusWatch
from stackroom_cli.output import Output, TerminalConsole, table
from stackroom_cli.sites.file_drop import (
    DroppableFile,
    Dropped,
    FoundFiles,
    NotDropped,
    find,
    was_replaced,
)
from stackroom_cli.sites.file_drop import drop as drop_files
from stackroom_cli.sites.site import Site
from stackroom_cli.sites.site_records import CatalogListing, FollowedRecords, SiteRecords
from stackroom_cli.sites.site_services import SiteServices
from stackroom_cli.untrusted_text import one_line
from stackroom_local.local_errors import LocalModeError

# Uploads that are not processed yet: objects in the bucket without a record of this content.
#
# Their events are on the way, in the queue, or with a worker that died: these come again after the
# queue's visibility timeout, as on AWS. Uploading the same file again changes no record.

_SHOWN = 20
SIDECARS = "sidecars (use stackroom adopt)"
JUNK = "hidden or system files"


def objects(inventory: Inventory, user_id: str | None) -> Iterator[ListedObject]:
    """Yield the files in the bucket, of one user or of everybody, including junk."""
    prefix = f"{user_id}/" if user_id else ""
    after: str | None = ""
    while after is not None:
        page = inventory.objects(after=after, prefix=prefix)
        for each in page.items:
            if not is_ours(each.key) and not is_folder_marker(each.key, each.size):
                yield each
        after = page.next


def waiting(lying: Iterable[ListedObject], records: Iterable[Document]) -> list[str]:
    """
    Return the keys of uploads that no record covers yet.

    `records` must include all documents, also those of large catalogs. List `lying` before reading
    the records, which are written after the objects.
    """
    left = {each.key: each for each in lying if not is_junk(each.key)}
    for record in records:
        there = left.get(record.s3_key)
        if there is not None and has_the_same_content(record, there):
            del left[record.s3_key]
    return list(left)


def waiting_text(keys: list[str]) -> str:
    """Describe the waiting uploads for people; empty if there are none."""
    if not keys:
        return ""
    count = f"{counted(len(keys), 'upload')} not processed yet"
    more = [f"and {len(keys) - _SHOWN} more"] if len(keys) > _SHOWN else []
    return f"{count}:\n" + indent("\n".join([*keys[:_SHOWN], *more]), "  ")


_NAMES = 10  # of files that have the same reason
_NAMED = 3  # of files that are left out


def left_out_text(names: Sequence[str], what: str) -> str:
    """Describe the files that were left out for people; empty if there are none."""
    if not names:
        return ""
    more = [f"and {len(names) - _NAMED} more"] if len(names) > _NAMED else []
    listed = ", ".join([*map(one_line, names[:_NAMED]), *more])
    return f"left out {len(names)} {what}: {listed}"


class SomeFailed(LocalModeError):
    def __init__(self, count: int, of: int) -> None:
        super().__init__(f"{count} of {counted(of, 'file')} not searchable; see above")


def drop(
    site: Site, paths: list[Path], *, user: str, catalog: str, wait: bool, output: Output
) -> None:
    out = output.people
    prefix = prefix_of(site, user, catalog)
    found = found_at(paths)
    started = time.monotonic()
    files = tuple(_as_known(site, prefix, each) for each in found.files)
    outcomes = put(site, files, prefix=prefix, out=out)
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
        bad += len(dropped) - len(settled)
    output.answer(drop_answer(prefix, found, outcomes, settled))
    if bad:
        raise SomeFailed(bad, len(outcomes))


def _as_known(site: Site, prefix: str, file: DroppableFile) -> DroppableFile:
    """
    Return the file with its document's key, since another system may have encoded the name
    differently.
    """
    try:
        location = locate(prefix + file.name)
    except UnicodeEncodeError:
        return file  # no key is its name, so that it will be refused
    if location.key.isascii() or isinstance(location, Unplaced):
        return file
    documents = SiteServices(site).stores.documents
    there = documents.get(location.catalog_id, location.document_id)
    return file if there is None else replace(file, key=there.s3_key)


def prefix_of(site: Site, user: str, catalog: str) -> str:
    """
    Return the prefix of the user's catalog of this name.

    A catalog that a tool created has its id in the prefix, and a renamed one its first name. Raises
    ValidationError, before any upload, if files would be rejected there.
    """
    location = locate(f"{checked(user)}/{catalog}/file.txt")
    if isinstance(location, Unplaced):
        raise ValidationError(f"--user {user!r} --catalog {catalog!r}: {location.reason}")
    if location.prefix != f"{user}/{catalog}/":
        raise ValidationError(f"--catalog {catalog!r} must not contain '/'")
    choosing = DocumentLookup.among(SiteServices(site))
    there = choosing.catalogs.get(location.catalog_id) or choosing.named(user, catalog)
    return location.prefix if there is None else there.s3_prefix


def status(
    site: Site, *, user: str | None, watch: bool, until_settled: bool, output: Output
) -> None:
    out = output.people
    if user not in (None, NO_USER):
        checked(user)
    if not watch and not until_settled:
        # In this order, so that at least one of them has a document that is recorded meanwhile.
        lying = list(objects(SiteServices(site).stores.inventory, user))
        waits = waiting(lying, SiteRecords(site).documents(user))
        junk = [each.key for each in lying if is_junk(each.key)]
        listings = SiteRecords(site).listings(user)
        if not (out.is_terminal and _is_under_way(listings)):
            out.print(overview(listings, speed=site.speed))
            shown = {each.s3_key for listing in listings for each in listing.documents}
            left = [key for key in waits if key not in shown]
            if left:
                out.print(Text(waiting_text(left)))
            if junk:
                out.print(Text(left_out_text(junk, JUNK), style="dim"))
            output.answer(status_answer(listings, left, junk))
            return
        until_settled = True
    following = FollowedRecords(site, user)
    with StatusWatch.of(
        out, speed=site.speed, lines=output if output.is_json else None
    ) as watching:
        while True:
            listings = following.refresh()
            watching.show(listings)
            if until_settled and _has_settled(following, listings):
                return
            watching.rest()


def keys_waiting(site: Site, user: str | None) -> list[str]:
    """Return the keys of uploads that no record covers yet."""
    lying = list(objects(SiteServices(site).stores.inventory, user))
    return waiting(lying, SiteRecords(site).documents(user))


def _has_settled(following: FollowedRecords, listings: Iterable[CatalogListing]) -> bool:
    """
    Return whether all documents have settled, including recent uploads that have no record yet.
    """
    if _is_under_way(listings):
        return False
    try:
        if keys_waiting(following.site, following.user_id):
            return False
    except StoreUnavailable:
        return False  # the next check tells
    return not _is_under_way(following.refresh())  # it may have been recorded in between


def _is_under_way(listings: Iterable[CatalogListing]) -> bool:
    settled = (DocumentStatus.INDEXED, DocumentStatus.FAILED)
    found = (each for listing in listings for each in listing.documents)
    idle = (each for each in found if not each.is_to_come and not each.is_postponed)
    return any(each.status not in settled for each in idle)


def put(
    site: Site, files: tuple[DroppableFile, ...], *, prefix: str, out: TerminalConsole
) -> list[Dropped | NotDropped]:
    with uploading(files, out=out) as advance:

        def put_one(file: DroppableFile) -> None:
            advance(file.path.stat().st_size)

        return list(drop_files(site, files, prefix=prefix, on_put=put_one))


@contextmanager
def uploading(
    files: tuple[DroppableFile, ...], *, out: TerminalConsole
) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on a terminal; yields a function that takes the number of bytes sent."""
    columns = (TextColumn("uploading"), BarColumn(), DownloadColumn(binary_units=True))
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        bar = progress.add_task("", total=sum(file.path.stat().st_size for file in files))
        yield partial(progress.advance, bar)


def settle(
    site: Site,
    dropped: list[Dropped],
    *,
    out: TerminalConsole,
    user: str | None = None,
    seconds: float = float("inf"),
) -> list[Document]:
    """
    Show the files until each is indexed or failed, and return their records.

    A file that somebody replaced or deleted meanwhile is reported, and its record not returned.
    Raises `TimeoutError` naming those that have not settled within `seconds`.
    """
    started = time.monotonic()
    following = FollowedRecords(site, user)
    replaced: set[str] = set()
    with StatusWatch.of(out, speed=site.speed, every_document=False) as watching:
        while True:
            listings = _only(following.refresh(), dropped)
            watching.show(listings)
            settled = _settled(listings, dropped)
            left = [each for each in dropped if each.key not in settled.keys() | replaced]
            while left and was_replaced(following.site, left[0]):
                replaced.add(left.pop(0).key)
            if not left:
                break
            if time.monotonic() - started > seconds:
                missing = sorted(each.key for each in left)
                raise TimeoutError(f"not settled within {seconds:g} s: {', '.join(missing)}")
            watching.rest()
    out.print(f"all settled in {time.monotonic() - started:.1f} s")
    for status in (DocumentStatus.FAILED, DocumentStatus.PENDING):
        those = (each for each in settled.values() if each.status is status)
        reasons = ((each.s3_key, str(each.status_reason)) for each in those)
        tell_reasons(out, str(status), reasons, style=STYLES[status])
    gone = ((each, "somebody replaced or deleted it meanwhile") for each in sorted(replaced))
    tell_reasons(out, "not searchable", gone, style="red")
    return list(settled.values())


def found_at(paths: list[Path]) -> FoundFiles:
    try:
        found = find(paths)
    except FileNotFoundError as error:
        raise ValidationError(f"file or folder {str(error)!r} does not exist") from error
    if not found.files:
        left = f"; {counted(len(found.left_out), 'file')} left out" if found.left_out else ""
        raise ValidationError(f"no files to drop in {', '.join(map(str, paths))}{left}")
    return found


def _tell(out: TerminalConsole, found: FoundFiles, outcomes: list[Dropped | NotDropped]) -> None:
    tell_left_out(out, found)
    refused = ((each.key, each.reason) for each in outcomes if isinstance(each, NotDropped))
    tell_reasons(out, "not dropped", refused, style="red")


def tell_left_out(out: TerminalConsole, found: FoundFiles) -> None:
    names = [each.name for each in found.left_out]
    sidecars = [each for each in names if each.endswith(SIDECAR_SUFFIX)]
    others = [each for each in names if each not in sidecars]
    whats = {JUNK: others, SIDECARS: sidecars}
    for what, left_out in whats.items():
        if left_out:
            out.print(Text(left_out_text(left_out, what), style="dim"))


def tell_reasons(
    out: TerminalConsole, what: str, reasons: Iterable[tuple[str, str]], *, style: str
) -> None:
    """Print each name with its reason; names with the same reason share one line."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons:
        names.setdefault(reason, []).append(name)
    for reason, found in names.items():
        if len(found) == 1:
            out.print(escape(one_line(f"{what}: {found[0]}: {reason}")), style=style)
            continue
        out.print(escape(one_line(f"{what}: {len(found)} files: {reason}")), style=style)
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


# catalogs: what there is, by owner and name.


def catalogs(site: Site, *, user: str | None, output: Output) -> None:
    if user is None:
        found = SiteRecords(site).catalogs()
    else:
        found = list(SiteServices(site).stores.catalogs.of_user(checked(user)))
    tell([CatalogTold.model_validate(each) for each in found], output)


def tell(found: list[CatalogTold], output: Output) -> None:
    found.sort(key=lambda each: (each.user_id, each.name))
    shown = table("Catalog", "Id", "Documents", "Size", "Status")
    for each in found:
        shown.add_row(
            Text(f"{each.user_id}/{each.name}"),
            each.catalog_id,
            str(each.document_count),
            size(each.total_bytes),
            each.status,
        )
    output.people.print(shown if found else "no catalogs yet")
    output.answer(CatalogsAnswer(catalogs=found))


# retry: another try for what failed.


def retry(
    site: Site, targets: list[str], *, user: str, catalog: str | None, output: Output
) -> None:
    """
    Retry the failed documents among the targets, or in a catalog, or in all the user's catalogs.
    """
    services, out = SiteServices(site), output.people
    choosing = DocumentLookup.among(services)
    wanted: dict[str, list[str] | None] = {}
    if targets:
        chosen = choosing.by_catalog(targets, user=checked(user), catalog=catalog)
        wanted = {each: [one.document_id for one in found] for each, found in chosen.items()}
    elif catalog is not None:
        wanted[choosing.catalog(user, catalog).catalog_id] = None
    else:
        wanted = dict.fromkeys(
            each.catalog_id for each in services.stores.catalogs.of_user(checked(user))
        )
    again: list[str] = []
    refused: list[NotAgain] = []
    for catalog_id, document_ids in wanted.items():
        retried = services.use_cases.retrying.retry(user, catalog_id, document_ids)
        again += [each.s3_key for each in retried.again]
        refused += [NotAgain(key=each.s3_key, reason=why) for each, why in retried.refused]
        for document in retried.again:
            out.print(escape(f"retrying      {one_line(document.s3_key)}"))
        for document, why_not in retried.refused:
            out.print(
                escape(one_line(f"not retrying  {document.s3_key}: {why_not}")), style="yellow"
            )
    out.print(
        f"{len(again)} being retried, {len(refused)} refused; see: stackroom status --user {user}"
    )
    output.answer(RetryAnswer(again=again, refused=refused))
    if refused and targets:
        raise LocalModeError(
            f"{len(refused)} of {len(again) + len(refused)} were not retried; see above"
        )
    if not again:
        raise LocalModeError(
            f"nothing was retried{'; see above' if refused else ': no document has failed'}"
        )
