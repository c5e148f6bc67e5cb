"""
Uploads that wait to be taken up: objects in the bucket that no record tells of with this content.

Their events are on the way, in the queue, or with a worker that died: then they come again once the
queue's visibility timeout has passed, as on AWS. The same file put again changes no record.
"""

from collections.abc import Iterable, Iterator
from textwrap import indent

from stackroom.keys import is_folder_marker, is_ours
from stackroom.model import Document
from stackroom.ports.inventory import Inventory, ListedObject
from stackroom.reconciler.bucket_audit import has_the_same_content

_SHOWN = 20


def objects(inventory: Inventory, user_id: str | None) -> Iterator[ListedObject]:
    """The documents of everybody, or of one user, as they lie in the bucket."""
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
    Keys. `records` are all that there are, also those of a large catalog that nobody is shown;
    `lying` must have been read before them: records are written after objects.
    """
    left = {each.key: each for each in lying}
    for record in records:
        there = left.get(record.s3_key)
        if there is not None and has_the_same_content(record, there):
            del left[record.s3_key]
    return list(left)


def told(keys: list[str]) -> str:
    """For people; empty where nothing waits."""
    if not keys:
        return ""
    count = f"{len(keys)} {'upload waits' if len(keys) == 1 else 'uploads wait'} to be taken up"
    more = [f"and {len(keys) - _SHOWN} more"] if len(keys) > _SHOWN else []
    return f"{count}:\n" + indent("\n".join([*keys[:_SHOWN], *more]), "  ")
