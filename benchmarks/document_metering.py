"""
What writing documents costs, which depends on what it changes.

A transaction where that is open or counted, two units for each of its items; else a plain write.
And one where the index of names has to change (stackroom/aws/dynamodb/document_names.py).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import ceil

from benchmarks.metering import Metered
from benchmarks.simulated_time.bill import LOG_LINE
from stackroom.aws.dynamodb.document_items import MOST_DOCUMENTS
from stackroom.documents.catalog_counts import Counts, booked, counts_of, uncounted
from stackroom.documents.model import Document, DocumentStatus

_PLAIN = 0.012  # seconds
_TRANSACTION, _EACH_ITEM = 0.022, 0.001
_ENDS = (DocumentStatus.INDEXED, DocumentStatus.FAILED)
_WRITERS = 10  # plain ones that DynamoDocuments.save_all writes at a time


class MeteredDocuments(Metered):
    """The ports of documents, those that write by what they change."""

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
        # Each is told of when it comes to its end, by a line and by a metric of its own.
        settled = sum(each.status in _ENDS for each in documents)
        self._bill.add("log bytes", 2 * LOG_LINE * settled)
        plain, seconds, units = 0, 0.0, 0
        items: Counter[str] = Counter()
        counted: Counter[str] = Counter()
        for document in documents:
            if listed := _changed(document, removes=removes):
                counted[document.catalog_id] += 1
                items[document.catalog_id] += listed
            else:
                plain += 1
        for catalog_id, members in counted.items():
            transactions = ceil(members / MOST_DOCUMENTS)
            written = items[catalog_id] + transactions  # with the counters
            units += 2 * written
            seconds += transactions * _TRANSACTION + written * _EACH_ITEM
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


def _changed(document: Document, *, removes: bool) -> int:
    """Items that the write of it changes in a transaction; 0 if there is none."""
    before = document if document.version else uncounted(document)
    after = uncounted(document) if removes else booked(document, document.opened_at)
    change = counts_of(after) - counts_of(before)
    if change == Counts():
        return 0
    return 1 + abs(change.open) + abs(change.failed)
