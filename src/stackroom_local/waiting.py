"""
Uploads that wait to be taken up: objects in the bucket that no record tells of with this content.

Their events are on the way, in the queue, or with a worker that died: then they come again once the
queue's visibility timeout has passed, as on AWS. The same file put again changes no record.
"""

from collections.abc import Iterable, Iterator
from textwrap import indent

from stackroom.audits.comparison import has_the_same_content
from stackroom.keys import is_document
from stackroom.ports.inventory import Inventory, ListedObject
from stackroom_local.records import CatalogListing

_SHOWN = 20


def objects(inventory: Inventory, user_id: str | None) -> Iterator[ListedObject]:
    """The documents of everybody, or of one user, as they lie in the bucket."""
    prefix = f"{user_id}/" if user_id else ""
    after: str | None = ""
    while after is not None:
        page = inventory.objects(after=after, prefix=prefix)
        yield from (each for each in page.items if is_document(each.key))
        after = page.next


def waiting(lying: Iterable[ListedObject], listings: Iterable[CatalogListing]) -> list[str]:
    """Keys. `lying` must have been read before `listings`: records are written after objects."""
    records = {each.s3_key: each for listing in listings for each in listing.documents}
    return [
        each.key
        for each in lying
        if (record := records.get(each.key)) is None or not has_the_same_content(record, each)
    ]


def told(keys: list[str]) -> str:
    """For people; empty where nothing waits."""
    if not keys:
        return ""
    count = f"{len(keys)} {'upload waits' if len(keys) == 1 else 'uploads wait'} to be taken up"
    more = [f"and {len(keys) - _SHOWN} more"] if len(keys) > _SHOWN else []
    return f"{count}:\n" + indent("\n".join([*keys[:_SHOWN], *more]), "  ")
