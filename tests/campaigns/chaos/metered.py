"""Users' counted usage beside the account's bill, and how far apart they are."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from stackroom.aws.dynamodb.usage_records import DynamoUsage
from stackroom.model.usage import month_of
from tests.aws.stores import CONTROL_TABLE
from tests.campaigns.chaos.world import World

MOST_OFF = 0.02
# Where a job leaves out what it has crawled before, and takes rejected files as nobody's, what it
# is billed for shows nowhere: these are told, and held to nothing.
DIRECT, BY_JOBS = "by direct calls", "by jobs"
Metered = Counter[tuple[str, str, str]]


def metered(made: World) -> Metered:
    """Documents and bytes, which dollars are made of: as counted, and as Bedrock embedded them."""
    book = DynamoUsage(client=made.wire.client("dynamodb"), table=CONTROL_TABLE)
    found = [each.used for each in book.of_month(month_of(made.hub.now()))]
    sizes = made.account.embedded
    way = BY_JOBS if made.terms.by_jobs else DIRECT
    return Counter(
        {
            (way, "documents", "counted"): sum(each.documents for each in found),
            (way, "documents", "embedded"): len(sizes),
            (way, "bytes", "counted"): sum(each.bytes for each in found),
            (way, "bytes", "embedded"): sum(sizes),
        }
    )


class Misjudged(NamedTuple):
    way: str
    what: str
    counted: int
    embedded: int

    @property
    def is_bad(self) -> bool:
        return self.way == DIRECT and abs(self.off) > MOST_OFF

    @property
    def off(self) -> float:
        return self.counted / max(1, self.embedded) - 1

    def __str__(self) -> str:
        told = f"{self.counted} counted, {self.embedded} embedded, {self.off:+.2%}"
        return f"{self.way}, {self.what}: {told}"


def misjudged(found: Metered) -> Iterator[Misjudged]:
    for way in (DIRECT, BY_JOBS):
        for what in ("documents", "bytes"):
            yield Misjudged(way, what, found[way, what, "counted"], found[way, what, "embedded"])
