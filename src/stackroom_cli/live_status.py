"""Documents and their progress, live: a window that redraws on a terminal, lines in a pipe."""

import heapq
import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from stackroom.model.records import Document, DocumentStatus
from stackroom.tools.texts import counted
from stackroom_cli.document_tables import HEADS, cells, document_answer
from stackroom_cli.json_output import Changed
from stackroom_cli.output import Output, TerminalConsole
from stackroom_cli.sites.site_records import CatalogListing
from stackroom_cli.untrusted_text import one_line

_WAITING = (DocumentStatus.PENDING, DocumentStatus.UPLOADING)
_MOVING = (DocumentStatus.INDEXING, DocumentStatus.DELETING, *_WAITING)
_ORDER = (DocumentStatus.FAILED, *_MOVING, DocumentStatus.INDEXED)

_Row = tuple[CatalogListing, Document]


def window(
    listings: Iterable[CatalogListing], *, width: int, height: int, speed: float
) -> RenderableType:
    """
    Return a table of documents in at most `height` lines: failed ones, those in progress, and those
    indexed last. The last line has the totals.
    """
    rows = [(listing, document) for listing in listings for document in listing.documents]
    if not rows:
        return Text("no documents yet")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in HEADS:
        is_last = head == HEADS[-1]
        most = width // 2 if head == "Document" else None
        table.add_column(head, no_wrap=not is_last, overflow="ellipsis", max_width=most)
    for listing, document in _chosen(rows, max(0, height - 2)):
        *others, reason = cells(listing, document, speed)
        table.add_row(*others, Text(str(reason), no_wrap=True, overflow="ellipsis"))
    counts = describe_counts(Counter(document.status for _, document in rows))
    total = Text(f"{counted(len(rows), 'document')}: {counts}", style="dim", no_wrap=True)
    return Group(table, total) if height > 2 else total


def describe_counts(counts: Mapping[DocumentStatus, int]) -> str:
    """Return how many documents are in each status, failed ones first."""
    return ", ".join(f"{counts[each]} {each}" for each in _ORDER if counts.get(each))


def _chosen(rows: Sequence[_Row], room: int) -> list[_Row]:
    """Choose the rows to show. Failed documents leave two thirds of the room to others."""
    failed = heapq.nlargest(room, (r for r in rows if r[1].status is _ORDER[0]), key=_changed_at)
    moving = heapq.nsmallest(room, (r for r in rows if r[1].status in _MOVING), key=_soonest)
    indexed = heapq.nlargest(room, (r for r in rows if r[1].status is _ORDER[-1]), key=_changed_at)
    third = max(1, room // 3)
    return [*failed[:third], *moving, *failed[third:], *indexed][:room]


def _soonest(row: _Row) -> tuple[bool, float, str]:
    """Return a sort key: documents at work before waiting ones, then by remaining time."""
    listing, document = row
    estimate = listing.estimates.get(document.document_id)
    seconds = estimate.eta_seconds if estimate and estimate.eta_seconds is not None else math.inf
    return document.status in _WAITING, seconds, document.s3_key


def _changed_at(row: _Row) -> datetime:
    return row[1].updated_at


# Of one core, what looking and drawing may take: embedding wants the rest. Each look reads all
# records.
_SHARE = 0.1
_LEAST_SECONDS = 0.5
_MOST_SECONDS = 10.0


@dataclass
class StatusWatch:
    """A context manager that shows documents with `show` and pauses with `rest`."""

    view: "StatusWindow | EachChange | EachAsJson"
    _rested_at: float = field(default_factory=time.process_time, init=False)

    @classmethod
    def of(
        cls,
        out: TerminalConsole,
        *,
        speed: float,
        every_document: bool = True,
        lines: Output | None = None,
    ) -> Self:
        """Choose the view. A pipe gets a line for each change of a document, or of the totals."""
        if lines is not None:
            return cls(EachAsJson(lines))
        if out.is_terminal:
            return cls(StatusWindow(out, speed))
        return cls(EachChange(out, every_document=every_document))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.view.close()

    def show(self, listings: Sequence[CatalogListing]) -> None:
        self.view.show(listings)

    def rest(self) -> None:
        """Pause long enough that reading and drawing take no more than their share of a core."""
        spent = time.process_time() - self._rested_at
        time.sleep(min(max(_LEAST_SECONDS, spent / _SHARE), _MOST_SECONDS))
        self._rested_at = time.process_time()


class StatusWindow:
    """A view that fills the terminal."""

    def __init__(self, out: TerminalConsole, speed: float) -> None:
        self._out, self._speed = out, speed
        self._size = out.size
        self._live = Live(console=out, auto_refresh=False, vertical_overflow="crop")
        self._live.start()

    def show(self, listings: Sequence[CatalogListing]) -> None:
        size = self._out.size
        if size != self._size:
            self._size = size
            self._out.clear()  # the terminal has broken the lines elsewhere
        # One line is left for the cursor, so that the window never scrolls.
        drawn = window(listings, width=size.width, height=size.height - 1, speed=self._speed)
        self._live.update(drawn, refresh=True)

    def close(self) -> None:
        self._live.stop()


class EachChange:
    """
    A view that prints a line for each change of a document or, unless `every_document`, for each
    change of the totals. At first it leaves out indexed documents.
    """

    def __init__(self, out: TerminalConsole, *, every_document: bool) -> None:
        self._out = out
        self._every_document = every_document
        self._shown: dict[str, Document] = {}
        self._counts: str | None = None
        self._started = time.monotonic()

    def show(self, listings: Sequence[CatalogListing]) -> None:
        now = {each.s3_key: each for listing in listings for each in listing.documents}
        is_first = self._counts is None
        for key, document in now.items():
            is_quiet = is_first and document.status is DocumentStatus.INDEXED
            is_printed = self._every_document and (document.remark or not is_quiet)
            if is_printed and _is_another(document, self._shown.get(key)):
                self._print_document(document.status, document, document.remark)
        for key in self._shown.keys() - now.keys() if self._every_document else ():
            self._print_document("gone", self._shown[key])
        counts = describe_counts(Counter(each.status for each in now.values()))
        if is_first or (counts != self._counts and not self._every_document):
            self._print(f"{counted(len(now), 'document')}: {counts or 'no records yet'}")
        self._shown, self._counts = now, counts

    def close(self) -> None:
        pass

    def _print_document(self, what: str, document: Document, reason: str | None = None) -> None:
        suffix = f"  {one_line(reason)}" if reason else ""
        self._print(f"{what:<9} {one_line(document.s3_key)}{suffix}")

    def _print(self, text: str) -> None:
        self._out.print(Text(f"{time.monotonic() - self._started:6.1f} s  {text}"))


class EachAsJson:
    """A view that prints a line of JSON for each document, and again for each of its changes."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._shown: dict[str, _Row] = {}

    def show(self, listings: Sequence[CatalogListing]) -> None:
        now = {one.s3_key: (each, one) for each in listings for one in each.documents}
        for key, (listing, document) in now.items():
            if key not in self._shown or _is_another(document, self._shown[key][1]):
                self._out.line(Changed(document=document_answer(listing, document)))
        for key in self._shown.keys() - now.keys():
            self._out.line(Changed(document=document_answer(*self._shown[key]), gone=True))
        self._shown = now

    def close(self) -> None:
        pass


def _is_another(document: Document, before: Document | None) -> bool:
    return before is None or (document.status, document.remark) != (before.status, before.remark)
