"""
The costs of each call of the product's ports on AWS, in time and in money.

Times are assumed: those that a 512 MB function sees, mostly from its own share of a processor.
Units of DynamoDB are counted as AWS counts them: a write per KB, a consistent read per 4 KB, two
for each member of a transaction, and one more for each index that holds the item (two if its key
there changes). https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from simulated_time.bill import LOG_LINE, Bill
from simulated_time.functions import Pace
from stackroom.aws.dynamodb.document_items import MOST_DOCUMENTS
from stackroom.model.catalog_counts import Counts, booked, counts_of, uncounted
from stackroom.model.records import Document, DocumentStatus

_PLAIN = 0.012  # seconds
_OF_TRANSACTION, _EACH_ITEM = 0.022, 0.001  # seconds
_ENDS = (DocumentStatus.INDEXED, DocumentStatus.FAILED)
_WRITERS = 10  # plain writes of DynamoDocuments.save_all in parallel
DOCUMENT_BYTES = 900  # a document's item, names and values
# In a local index: its keys, and 100 bytes [DynamoDB developer guide: Local secondary indexes].
LISTED_BYTES = 250
_TAKING_MANY = ("results_for", "sidecars_of")  # these cost by their arguments


@dataclass(frozen=True, kw_only=True)
class Cost:
    """A call's cost; `each` is added for every member of its input or answer."""

    seconds: float
    reads: float = 0
    writes: float = 0
    puts: int = 0
    gets: int = 0
    deletes: int = 0
    each: "Cost | None" = None

    @property
    def only_reads(self) -> bool:
        return bool(self.reads or self.gets) and not self.writes and not self.puts


_GET = Cost(seconds=0.012, reads=1)
_PUT = Cost(seconds=0.012, writes=1)
_UPDATE_INDEXED = Cost(seconds=0.012, writes=2)
_TRANSACTION = Cost(seconds=0.025, writes=5)
# A Query of small items, then a BatchGetItem of documents, which are billed one by one.
_LISTED = Cost(seconds=0.02, reads=1, each=Cost(seconds=0.0005, reads=1 + LISTED_BYTES / 4096))
_HEAD = Cost(seconds=0.025, gets=1)
_LIST = Cost(seconds=0.03, puts=1)  # S3 bills a listing like a PUT

# Their index has only keys, which never change.
CATALOGS = {
    "get": _GET,
    "of_user": Cost(seconds=0.02, reads=1),
    "open": _TRANSACTION,
    "close": _TRANSACTION,
    "place": _PUT,
    "record_attributes": _PUT,
    "clear_data_source": _PUT,
    "mark_deleting": _PUT,
    "unmark_deleting": _PUT,
}
DOCUMENTS = {
    "get": _GET,
    # MeteredDocuments has the methods that write.
    "open_in": _LISTED,
    "failed_in": _LISTED,
    "page": Cost(seconds=0.015, reads=1),  # of one document, to see if there is any
    "of_catalog": Cost(
        seconds=0.015, reads=1, each=Cost(seconds=0.0004, reads=DOCUMENT_BYTES / 4096)
    ),
}
BUCKET = {
    "head": _HEAD,
    "version_of": _LIST,
    "sidecar_of": Cost(seconds=0.03, gets=1),
    "sidecars_of": Cost(seconds=0.03, each=Cost(seconds=0.004, gets=1)),
    "write_sidecar": Cost(seconds=0.04, puts=1),
    "remove_sidecar": Cost(seconds=0.03, deletes=1),
    "remove": Cost(seconds=0.03, deletes=1),
    "purge": Cost(seconds=0.1, puts=1),
}
LEASES = {
    "get": _GET,
    "ask": _UPDATE_INDEXED,
    "claim": _UPDATE_INDEXED,  # one less if the lease is held
    "take": _UPDATE_INDEXED,
    "mark_started": _UPDATE_INDEXED,
    "renew": Cost(seconds=0.012, writes=3),  # `until` is the index's sort key
    "release": _UPDATE_INDEXED,
    "held": Cost(seconds=0.05, reads=1, each=Cost(seconds=0.0002, reads=0.1)),
    "expired": Cost(seconds=0.015, reads=0.5, each=Cost(seconds=0.0002, reads=0.05)),
}
SLOTS = {
    "take": _PUT,
    "holder_of": _GET,
    "holders": _GET,
    "sharing": _GET,
    "count_sharing": _PUT,
    "free": _PUT,
}
WORKLISTS = {
    "add": _PUT,
    "entries": Cost(seconds=0.015, reads=0.5, each=Cost(seconds=0.0001, reads=0.025)),
    "drop": _PUT,
}
BOOK = {
    "read": _GET,
    "write": Cost(seconds=0.012, writes=3),
    "enqueue": _PUT,
    "dequeue": _PUT,
    "waiting": Cost(seconds=0.015, reads=1),
}
RECEIPTS = {"get": _GET, "keep": _PUT, "of_user": Cost(seconds=0.02, reads=1)}
CAPS = {"all": _GET}
USAGE = {"add": _PUT}
INSPECTION_RESULTS = {"results_for": Cost(seconds=0.012, each=Cost(seconds=0.0005, reads=1))}
EXECUTIONS = {"start": Cost(seconds=0.04), "is_running": Cost(seconds=0.03)}
TASK_TOKENS = {"wake": Cost(seconds=0.03)}
FILES = {"read": Cost(seconds=0.06, gets=1), "version_of": _HEAD}
TEXTS = {
    "put": Cost(seconds=0.08, puts=2),  # with its places
    "names": _LIST,
    "remove": Cost(seconds=0.03, deletes=1),
}
INSPECTIONS = {"record": _PUT, "forget": _PUT}


class Metered:
    """A port whose calls take time and are billed; refuses calls without a cost."""

    def __init__(
        self,
        port: Any,
        costs: Mapping[str, Cost],
        *,
        bill: Bill,
        pace: Pace,
        free: tuple[str, ...] = (),
    ) -> None:
        self._port = port
        self._name = type(port).__name__
        self._costs = costs
        self._bill = bill
        self._pace = pace
        self._free = free

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._port, name)
        if name not in self._free:
            call = self._metered(name, call, self._costs[name])
        setattr(self, name, call)
        return call

    def _metered(self, name: str, call: Callable[..., Any], cost: Cost) -> Callable[..., Any]:
        """Call after the wait, because a request takes effect at its end."""
        label, bill = f"{self._name}.{name}", self._bill
        once = tuple(_billed(cost))
        spend = self._pace.owe if cost.only_reads else self._pace.spend

        def fixed(*arguments: Any, **named: Any) -> Any:
            bill.calls[label] += 1
            for what, amount in once:
                bill.add(what, amount)
            spend(cost.seconds)
            return call(*arguments, **named)

        def by_members(*arguments: Any, **named: Any) -> Any:
            takes = name in _TAKING_MANY
            listed = list(arguments[0] if takes else call(*arguments, **named))
            self._pay_members(label, cost, len(listed))
            return call(listed) if takes else iter(listed)

        return fixed if cost.each is None else by_members

    def _pay_members(self, label: str, cost: Cost, members: int) -> None:
        assert cost.each is not None, "asked of those alone that cost by member"
        self._bill.calls[label] += 1
        for part, times in ((cost, 1), (cost.each, members)):
            for what, amount in _billed(part):
                self._bill.add(what, amount * times)
        if seconds := cost.seconds + cost.each.seconds * members:
            (self._pace.owe if cost.each.only_reads else self._pace.spend)(seconds)


class MeteredDocuments(Metered):
    """
    Documents, whose writes cost by what they change.

    A write that changes counts is a transaction, with two units per item; others are plain. Each
    index that has to change costs one more (aws/dynamodb/document_items.py, document_names.py).
    """

    def save(self, document: Document) -> Document:
        self._pay("save", [document])
        saved: Document = self._port.save(document)
        return saved

    def save_all(self, documents: Iterable[Document]) -> list[Document]:
        given = list(documents)
        self._pay("save_all", given)
        saved: list[Document] = self._port.save_all(given)
        return saved

    def remove(self, document: Document) -> None:
        self._pay("remove", [document], removes=True)
        self._port.remove(document)

    def _pay(self, name: str, documents: Sequence[Document], *, removes: bool = False) -> None:
        # Each has a log line and a metric of its own when it settles.
        settled = sum(each.status in _ENDS for each in documents)
        self._bill.add("log bytes", 2 * LOG_LINE * settled)
        plain, seconds, units = 0, 0.0, 0
        counted: Counter[str] = Counter()
        for document in documents:
            change = _change(document, removes=removes)
            units += abs(change.open) + abs(change.failed)
            if change == Counts():
                plain += 1
            else:
                counted[document.catalog_id] += 1
        for members in counted.values():
            transactions = ceil(members / MOST_DOCUMENTS)
            written = members + transactions  # with the counters
            units += 2 * written
            seconds += transactions * _OF_TRANSACTION + written * _EACH_ITEM
        units += plain
        seconds += ceil(plain / _WRITERS) * _PLAIN
        self._bill.calls[f"{self._name}.{name}"] += 1
        if documents:
            named = sum(self._is_named_anew(each, removes=removes) for each in documents)
            self._bill.add("dynamodb writes", units + named)
            self._pace.spend(seconds)

    def _is_named_anew(self, document: Document, *, removes: bool) -> bool:
        there: Document | None = self._port.get(document.catalog_id, document.document_id)
        if there is None:
            return not removes
        return removes or (there.size, there.uploaded_at) != (document.size, document.uploaded_at)


def _change(document: Document, *, removes: bool) -> Counts:
    before = document if document.version else uncounted(document)
    after = uncounted(document) if removes else booked(document, document.opened_at)
    return counts_of(after) - counts_of(before)


def _billed(cost: Cost) -> Iterator[tuple[str, float]]:
    for what, amount in (
        ("dynamodb reads", cost.reads),
        ("dynamodb writes", cost.writes),
        ("s3 puts", cost.puts),
        ("s3 gets", cost.gets),
        ("s3 deletes", cost.deletes),
    ):
        if amount:
            yield what, amount
