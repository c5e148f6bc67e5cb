"""Documents as they move: a table that redraws on a terminal, a line per change in a pipe."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from stackroom.ingestion.estimates import DocumentStage, QueuePosition
from stackroom.model import Document, DocumentStatus
from stackroom_local.cli.console import size
from stackroom_local.records import CatalogListing

REFRESH_SECONDS = 0.2
_STYLES = {
    DocumentStatus.UPLOADING: "dim",
    DocumentStatus.PENDING: "yellow",
    DocumentStatus.INDEXING: "cyan",
    DocumentStatus.INDEXED: "green",
    DocumentStatus.FAILED: "red",
    DocumentStatus.DELETING: "magenta",
}


def overview(listings: Iterable[CatalogListing], *, speed: float) -> RenderableType:
    """One row per document, and how many are in which status; AWS's time passes at `speed`."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Catalog", no_wrap=True)
    table.add_column("Document", overflow="fold")
    table.add_column("Size", justify="right", no_wrap=True)
    table.add_column("Status", no_wrap=True)
    table.add_column("Age", justify="right", no_wrap=True)
    table.add_column("Stage, or reason", overflow="fold")
    counts: Counter[DocumentStatus] = Counter()
    for listing in listings:
        for document in listing.documents:
            counts[document.status] += 1
            table.add_row(
                Text(f"{listing.user_id}/{listing.name}"), *_cells(listing, document, speed)
            )
    if not counts:
        return Text("no documents yet")
    total = ", ".join(f"{counts[each]} {each}" for each in DocumentStatus if counts[each])
    return Group(table, Text(total, style="dim"))


def _cells(listing: CatalogListing, document: Document, speed: float) -> list[RenderableType]:
    return [
        Text(document.filename),
        size(document.size),
        Text(str(document.status), style=_STYLES[document.status]),
        _age(document.updated_at),
        Text(document.status_reason or stage(listing, document, speed)),
    ]


def stage(listing: CatalogListing, document: Document, speed: float) -> str:
    """How far a document is that has yet to settle; empty for all others."""
    estimate = listing.estimates.get(document.document_id)
    if estimate is None or estimate.eta_seconds is None:
        return ""
    told = [str(estimate.stage)]
    if estimate.stage is DocumentStage.WAITING and listing.queue_position is not None:
        told.append(_position(listing.queue_position))
    if estimate.attempt is not None and estimate.attempt > 1:
        told.append(f"attempt {estimate.attempt}")
    told.append(f"about {_duration(max(1, estimate.eta_seconds / speed))} to go")
    return ", ".join(told)


def _position(queue: QueuePosition) -> str:
    if queue.position is None:
        return f"behind the first {queue.length} in the queue"
    return f"number {queue.position} of {queue.length} in the queue"


def _age(since: datetime) -> str:
    return _duration((datetime.now(UTC) - since).total_seconds())


def _duration(exact: float) -> str:
    seconds = max(0, int(exact))
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


@dataclass
class Watch:
    """`show` whatever is the case now, as often as you like; a context manager."""

    out: Console
    speed: float
    _live: Live | None = None
    _shown: dict[str, DocumentStatus] = field(default_factory=dict)
    _started: float = field(default_factory=time.monotonic)

    def __enter__(self) -> Self:
        if self.out.is_terminal:
            self._live = Live(console=self.out, auto_refresh=False)
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.stop()

    def show(self, listings: list[CatalogListing]) -> None:
        if self._live:
            self._live.update(overview(listings, speed=self.speed), refresh=True)
            return
        for listing in listings:
            for document in listing.documents:
                if self._shown.get(document.s3_key) is not document.status:
                    self._shown[document.s3_key] = document.status
                    self.out.print(self._line(listing, document))

    def _line(self, listing: CatalogListing, document: Document) -> Text:
        seconds = time.monotonic() - self._started
        reason = f"  {document.status_reason}" if document.status_reason else ""
        return Text(
            f"{seconds:6.1f} s  {document.status:<9} "
            f"{listing.user_id}/{listing.name}  {document.filename}{reason}"
        )
