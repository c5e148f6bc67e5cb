"""receipts: what was deleted, and since when no search finds it."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rich.text import Text

from stackroom.errors import ValidationError
from stackroom.model import Receipt
from stackroom_local.cli.answers import ReceiptsAnswer
from stackroom_local.cli.asking import checked
from stackroom_local.cli.console import Output
from stackroom_local.cli.foreign import one_line
from stackroom_local.product import Product
from stackroom_local.records import Records
from stackroom_local.sites.site import Site


def receipts(site: Site, receipt_id: str | None, *, user: str | None, told: Output) -> None:
    if user is None:
        found = Records(site).receipts()
    else:
        found = list(Product(site).stores.receipts.of_user(checked(user)))
    if receipt_id is not None:
        found = [each for each in found if each.receipt_id == receipt_id]
        if not found:
            of = f" of {user!r}" if user is not None else ""
            raise ValidationError(
                f"there is no receipt {receipt_id!r}{of}; see: stackroom receipts"
            )
    found.sort(key=lambda each: each.receipt_id, reverse=True)
    told.people.print(receipts_told(found) if found else "no receipts: nothing was deleted yet")
    told.answer(ReceiptsAnswer(receipts=found))


def receipts_told(found: Sequence[Receipt]) -> Text:
    """Two lines for each receipt, the second with its times in UTC."""
    return Text("\n").join(map(_lines, found))


def _lines(receipt: Receipt) -> Text:
    before = receipt.searchable_before
    found = f"searchable before {_time(before)}" if before else "never found by a search"
    asked = f"{'lost, missed since' if receipt.lost else 'asked'} {_time(receipt.asked_at)}"
    return Text.assemble(
        f"{receipt.receipt_id}  ",
        (one_line(receipt.s3_key or receipt.filename), "bold"),
        f"\n    {found}  {asked}  ",
        _end(receipt),
    )


def _end(receipt: Receipt) -> Text:
    found = receipt.found_again_at
    again = f", after it was found again {_time(found)}" if found else ""
    if receipt.unsearchable_since is not None:
        waited = receipt.waited_until
        why = f", no search before {_time(waited)} counted" if waited else ""
        since = _time(receipt.unsearchable_since)
        return Text(f"unsearchable since {since}{why}{again}", style="green")
    if receipt.superseded_at is not None:
        return Text(f"dropped again {_time(receipt.superseded_at)}", style="yellow")
    return Text(f"being removed{again}", style="magenta")


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
