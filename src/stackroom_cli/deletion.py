"""The `delete` and `receipts` commands: request removals, wait for them, and show the proof."""

import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import typer
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from stackroom.errors import ValidationError
from stackroom.model.keys import is_unplaced
from stackroom.model.records import Catalog, CatalogStatus, Receipt
from stackroom.tools.texts import counted
from stackroom_cli.callers import checked
from stackroom_cli.document_lookup import DocumentLookup
from stackroom_cli.json_output import DeleteAnswer, ReceiptsAnswer
from stackroom_cli.output import Output, counting
from stackroom_cli.sites.operator_removals import removals_of
from stackroom_cli.sites.site import Site
from stackroom_cli.sites.site_records import SiteRecords
from stackroom_cli.sites.site_services import SiteServices
from stackroom_cli.untrusted_text import one_line

_MOST_SHOWN = 20
_REFRESH_SECONDS = 0.2


def delete(
    site: Site,
    targets: list[str],
    *,
    user: str | None,
    catalog: str | None,
    yes: bool,
    wait: bool,
    output: Output,
) -> None:
    services = SiteServices(site)
    if targets:
        answer = _delete_documents(
            services, targets, user=user, catalog=catalog, wait=wait, out=output.people
        )
    elif catalog is not None:
        chosen = DocumentLookup.among(services).catalog(user, catalog)
        answer = _delete_catalog(services, chosen, yes=yes, wait=wait, out=output.people)
    else:
        raise ValidationError(
            "name documents by their keys, or a whole catalog by --user and --catalog"
        )
    output.answer(answer)


def _delete_documents(
    services: SiteServices,
    targets: list[str],
    *,
    user: str | None,
    catalog: str | None,
    wait: bool,
    out: Console,
) -> DeleteAnswer:
    documents = DocumentLookup.among(services).chosen(targets, user=user, catalog=catalog)
    deletions = removals_of(services)
    receipts: list[Receipt] = []
    removed: list[str] = []
    for document in documents:
        if is_unplaced(document.catalog_id):
            deletions.delete_unplaced(document.s3_key)
            out.print(escape(f"{one_line(document.s3_key)} is deleted; it belonged to no catalog"))
            removed.append(document.s3_key)
            continue
        owner = document.s3_key.partition("/")[0]
        receipts.append(deletions.delete_document(owner, document.catalog_id, document.document_id))
    if receipts:
        if wait:
            receipts = _closed(services, receipts, out)
        out.print(receipts_text(receipts))
        _tell_of_open(out, receipts)
    return DeleteAnswer(receipts=receipts, removed=removed)


def _delete_catalog(
    services: SiteServices, catalog: Catalog, *, yes: bool, wait: bool, out: Console
) -> DeleteAnswer:
    count = catalog.document_count
    documents = "document" if count == 1 else f"{count} documents"
    what = f"{catalog.user_id}/{catalog.name} and its {documents}"
    if not yes:
        typer.confirm(f"Delete {what}?", abort=True, err=True)
    deletions = removals_of(services)
    deletion = deletions.delete_catalog(catalog.user_id, catalog.catalog_id)
    while not deletion.is_asked_for:
        out.print("… continuing with further documents")
        deletion = deletions.delete_catalog(catalog.user_id, catalog.catalog_id)
    receipts = _receipts(services, catalog.user_id, deletion.receipt_ids)
    if wait:
        receipts = _closed(services, receipts, out)
        _wait_until_gone(services, catalog, out)
    if 0 < len(receipts) <= _MOST_SHOWN:
        out.print(receipts_text(receipts))
    closed = sum(not each.is_open for each in receipts)
    out.print(
        escape(
            f"{closed} of {len(receipts)} receipts closed; see: "
            f"stackroom receipts --user {catalog.user_id}"
        )
    )
    _tell_of_open(out, receipts)
    now = services.stores.catalogs.get(catalog.catalog_id)
    out.print(escape(f"{catalog.user_id}/{catalog.name} {_outcome(now)}"))
    return DeleteAnswer(
        receipts=receipts,
        catalog=catalog.catalog_id,
        catalog_status=now.status if now is not None else None,
    )


def _outcome(now: Catalog | None) -> str:
    if now is None:
        return "is deleted"
    if now.status is CatalogStatus.DELETING:
        return "is being deleted"
    return "remains: files were dropped into it meanwhile"


def _receipts(services: SiteServices, user_id: str, receipt_ids: Iterable[str]) -> list[Receipt]:
    found = (services.stores.receipts.get(user_id, receipt_id) for receipt_id in receipt_ids)
    return [each for each in found if each is not None]


def _closed(services: SiteServices, receipts: Sequence[Receipt], out: Console) -> list[Receipt]:
    """Return the same receipts, once every removal is verified or superseded."""
    now = {each.receipt_id: each for each in receipts}
    with counting(out, "removing", len(now)) as advance:
        while True:
            for each in [each for each in now.values() if each.is_open]:
                found = services.stores.receipts.get(each.user_id, each.receipt_id)
                now[each.receipt_id] = found or each
            left = sum(each.is_open for each in now.values())
            advance(len(now) - left)
            if not left:
                return list(now.values())
            time.sleep(_REFRESH_SECONDS)


def _wait_until_gone(services: SiteServices, catalog: Catalog, out: Console) -> None:
    with counting(out, "removing the catalog", 1) as advance:
        while (now := services.stores.catalogs.get(catalog.catalog_id)) is not None:
            if now.status is not CatalogStatus.DELETING:
                return
            time.sleep(_REFRESH_SECONDS)
        advance(1)


def _tell_of_open(out: Console, receipts: Sequence[Receipt]) -> None:
    if left := sum(each.is_open for each in receipts):
        out.print(
            f"{counted(left, 'document')} hidden from answers, and still in the index until the "
            "receipts are closed; see: stackroom receipts"
        )


# receipts: deleted documents, and the time since when no search finds each.


def receipts(site: Site, receipt_id: str | None, *, user: str | None, output: Output) -> None:
    if user is None:
        found = SiteRecords(site).receipts()
    else:
        found = list(SiteServices(site).stores.receipts.of_user(checked(user)))
    if receipt_id is not None:
        found = [each for each in found if each.receipt_id == receipt_id]
        if not found:
            of = f" of {user!r}" if user is not None else ""
            raise ValidationError(
                f"there is no receipt {receipt_id!r}{of}; see: stackroom receipts"
            )
    found.sort(key=lambda each: each.receipt_id, reverse=True)
    output.people.print(receipts_text(found) if found else "no receipts yet")
    output.answer(ReceiptsAnswer(receipts=found))


def receipts_text(found: Sequence[Receipt]) -> Text:
    """Return two lines for each receipt, the second with its times in UTC."""
    return Text("\n").join(map(_lines, found))


def _lines(receipt: Receipt) -> Text:
    before = receipt.searchable_before
    found = f"searchable before {_time(before)}" if before else "never searchable"
    asked = f"{'lost, missing since' if receipt.lost else 'requested'} {_time(receipt.asked_at)}"
    return Text.assemble(
        f"{receipt.receipt_id}  ",
        (one_line(receipt.s3_key or receipt.filename), "bold"),
        f"\n    {found}  {asked}  ",
        _end(receipt),
    )


def _end(receipt: Receipt) -> Text:
    found = receipt.found_again_at
    again = f", found again {_time(found)}" if found else ""
    if receipt.unsearchable_since is not None:
        waited = receipt.waited_until
        why = f", searches before {_time(waited)} not counted" if waited else ""
        since = _time(receipt.unsearchable_since)
        return Text(f"unsearchable since {since}{why}{again}", style="green")
    if receipt.superseded_at is not None:
        return Text(f"dropped again {_time(receipt.superseded_at)}", style="yellow")
    return Text(f"being removed{again}", style="magenta")


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
