"""delete and receipts: removals asked for, waited for, and proven."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from stackroom.errors import ValidationError
from stackroom.keys import is_unplaced
from stackroom.model import Catalog, CatalogStatus, Receipt
from stackroom_local.cli.asking import checked
from stackroom_local.cli.choosing import Choosing
from stackroom_local.cli.console import console
from stackroom_local.cli.foreign import one_line
from stackroom_local.product import Product
from stackroom_local.records import Records
from stackroom_local.state import StateDirectory

_MOST_SHOWN = 20
_REFRESH_SECONDS = 0.2


def delete(
    state_dir: Path,
    targets: list[str],
    *,
    user: str | None,
    catalog: str | None,
    yes: bool,
    wait: bool,
) -> None:
    product = Product(StateDirectory(state_dir).instance())
    if targets:
        _delete_documents(product, targets, user=user, catalog=catalog, wait=wait)
    elif catalog is not None:
        chosen = Choosing.among(product).catalog(user, catalog)
        _delete_catalog(product, chosen, yes=yes, wait=wait)
    else:
        raise ValidationError("name what to delete: keys, or --user and --catalog for all of it")


def receipts(state_dir: Path, receipt_id: str | None, *, user: str | None) -> None:
    instance = StateDirectory(state_dir).instance()
    if user is None:
        found = Records(instance).receipts()
    else:
        found = list(Product(instance).stores.receipts.of_user(checked(user)))
    if receipt_id is not None:
        found = [each for each in found if each.receipt_id == receipt_id]
        if not found:
            of = f" of {user!r}" if user is not None else ""
            raise ValidationError(
                f"there is no receipt {receipt_id!r}{of}; see: stackroom receipts"
            )
    found.sort(key=lambda each: each.receipt_id, reverse=True)
    console().print(told(found) if found else "no receipts: nothing was deleted yet")


def _delete_documents(
    product: Product, targets: list[str], *, user: str | None, catalog: str | None, wait: bool
) -> None:
    out = console()
    documents = Choosing.among(product).chosen(targets, user=user, catalog=catalog)
    deletions = product.use_cases.deletions
    asked = []
    for document in documents:
        if is_unplaced(document.catalog_id):
            deletions.delete_unplaced(document.s3_key)
            out.print(escape(f"{one_line(document.s3_key)} is gone; it belonged to no catalog"))
            continue
        owner = document.s3_key.partition("/")[0]
        asked.append(deletions.delete_document(owner, document.catalog_id, document.document_id))
    if not asked:
        return
    if wait:
        asked = _closed(product, asked, out)
    out.print(told(asked))
    _tell_of_open(out, asked)


def _delete_catalog(product: Product, catalog: Catalog, *, yes: bool, wait: bool) -> None:
    out = console()
    count = catalog.document_count
    documents = "document" if count == 1 else f"{count} documents"
    what = f"{catalog.user_id}/{catalog.name} and its {documents}"
    if not yes:
        typer.confirm(f"Delete {what}?", abort=True, err=True)
    deletions = product.use_cases.deletions
    deletion = deletions.delete_catalog(catalog.user_id, catalog.catalog_id)
    while not deletion.is_asked_for:
        out.print("… goes on: not every document is asked for yet")
        deletion = deletions.delete_catalog(catalog.user_id, catalog.catalog_id)
    asked = _receipts(product, catalog.user_id, deletion.receipt_ids)
    if wait:
        asked = _closed(product, asked, out)
        _wait_until_gone(product, catalog, out)
    if 0 < len(asked) <= _MOST_SHOWN:
        out.print(told(asked))
    closed = sum(not each.is_open for each in asked)
    out.print(
        escape(
            f"{closed} of {len(asked)} receipts closed; see: "
            f"stackroom receipts --user {catalog.user_id}"
        )
    )
    _tell_of_open(out, asked)
    out.print(escape(f"{catalog.user_id}/{catalog.name} {_outcome(product, catalog)}"))


def _outcome(product: Product, catalog: Catalog) -> str:
    now = product.stores.catalogs.get(catalog.catalog_id)
    if now is None:
        return "is gone"
    if now.status is CatalogStatus.DELETING:
        return "is being deleted"
    return "stays: files were dropped into it meanwhile"


def _receipts(product: Product, user_id: str, receipt_ids: Iterable[str]) -> list[Receipt]:
    found = (product.stores.receipts.get(user_id, receipt_id) for receipt_id in receipt_ids)
    return [each for each in found if each is not None]


def _closed(product: Product, asked: Sequence[Receipt], out: Console) -> list[Receipt]:
    """The same receipts, once every removal is verified or superseded."""
    now = {each.receipt_id: each for each in asked}
    with _bar(out, "removing", len(now)) as advance:
        while True:
            for each in [each for each in now.values() if each.is_open]:
                found = product.stores.receipts.get(each.user_id, each.receipt_id)
                now[each.receipt_id] = found or each
            left = sum(each.is_open for each in now.values())
            advance(len(now) - left)
            if not left:
                return list(now.values())
            time.sleep(_REFRESH_SECONDS)


def _wait_until_gone(product: Product, catalog: Catalog, out: Console) -> None:
    with _bar(out, "removing the catalog", 1) as advance:
        while (now := product.stores.catalogs.get(catalog.catalog_id)) is not None:
            if now.status is not CatalogStatus.DELETING:
                return
            time.sleep(_REFRESH_SECONDS)
        advance(1)


@contextmanager
def _bar(out: Console, text: str, total: int) -> Iterator[Callable[[int], None]]:
    columns = (TextColumn(text), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        bar = progress.add_task("", total=total)
        yield lambda done: progress.update(bar, completed=done)


def told(found: Sequence[Receipt]) -> Text:
    """Two lines for each receipt, the second with its times in UTC."""
    return Text("\n").join(map(_lines, found))


def _lines(receipt: Receipt) -> Text:
    before = receipt.searchable_before
    found = f"searchable before {_time(before)}" if before else "never found by a search"
    asked = f"asked {_time(receipt.asked_at)}"
    return Text.assemble(
        f"{receipt.receipt_id}  ",
        (one_line(receipt.s3_key or receipt.filename), "bold"),
        f"\n    {found}  {asked}  ",
        _end(receipt),
    )


def _end(receipt: Receipt) -> Text:
    if receipt.unsearchable_since is not None:
        return Text(f"unsearchable since {_time(receipt.unsearchable_since)}", style="green")
    if receipt.superseded_at is not None:
        return Text(f"dropped again {_time(receipt.superseded_at)}", style="yellow")
    return Text("being removed", style="magenta")


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _tell_of_open(out: Console, asked: Sequence[Receipt]) -> None:
    if left := sum(each.is_open for each in asked):
        out.print(
            f"{left} may still be found; they are removed once their receipt says since when they "
            "are not: stackroom receipts"
        )
