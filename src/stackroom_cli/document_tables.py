"""The table of documents, and each document's progress in words."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from stackroom.model.keys import NO_USER
from stackroom.model.records import Document, DocumentStatus
from stackroom.runs.estimates import DocumentStage, QueuePosition, in_words
from stackroom.tools.texts import size
from stackroom_cli.json_output import (
    DocumentTold,
    DropAnswer,
    FileTold,
    StatusAnswer,
    Trouble,
)
from stackroom_cli.sites.file_drop import Dropped, FoundFiles, NotDropped
from stackroom_cli.sites.site_records import NO_CATALOG, CatalogListing
from stackroom_cli.untrusted_text import one_line

STYLES = {
    DocumentStatus.UPLOADING: "dim",
    DocumentStatus.PENDING: "yellow",
    DocumentStatus.INDEXING: "cyan",
    DocumentStatus.INDEXED: "green",
    DocumentStatus.FAILED: "red",
    DocumentStatus.DELETING: "magenta",
}

_OF_NOBODY = (
    f"{NO_USER}: keys without a user's folder, which no search finds; list only these with: "
    f"stackroom status -u '{NO_USER}'"
)


HEADS = ("Status", "Age", "Document", "Size", "Stage or reason")


@dataclass(frozen=True)
class Rows:
    """A table on a terminal; tab-separated cells, without padding, in a pipe."""

    heads: Sequence[str]
    cells: Sequence[Sequence[Text | str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not console.is_terminal:
            for row in (self.heads, *self.cells):
                yield Segment("\t".join(map(str, row)) + "\n")
            return
        table = Table(box=None, pad_edge=False, header_style="bold")
        for head in self.heads:
            is_short = head in ("Status", "Age", "Size")
            is_number = head in ("Age", "Size")
            table.add_column(
                head,
                overflow="fold",
                no_wrap=is_short,
                justify="right" if is_number else "left",
            )
        for row in self.cells:
            table.add_row(*row)
        yield table


def overview(listings: Iterable[CatalogListing], *, speed: float) -> RenderableType:
    """
    Return a table with a row for each document, and the number of documents in each status.

    `speed` is how many times faster than on AWS delays pass.
    """
    rows: list[Sequence[Text | str]] = []
    counts: Counter[DocumentStatus] = Counter()
    notes: list[RenderableType] = []
    for listing in listings:
        catalog = f"{listing.user_id}/{listing.name}/"
        if listing.user_id == NO_USER and not notes:
            notes.append(Text(_OF_NOBODY, style="dim"))
        if listing.trouble is not None:
            rows.append(("", "", catalog, "", Text(listing.trouble, style="red")))
        for document in listing.documents:
            counts[document.status] += 1
            rows.append(cells(listing, document, speed))
        if listing.unlisted:
            counts += listing.unlisted
            more = f"… and {listing.unlisted.total():,} more: {_by_status(listing.unlisted)}"
            rows.append(("", "", catalog, "", Text(more, style="dim")))
    if not rows:
        return Text("no documents yet")
    total = [Text(_by_status(counts), style="dim")] if counts else []
    return Group(Rows(HEADS, rows), *notes, *total)


def _by_status(counts: Counter[DocumentStatus]) -> str:
    return ", ".join(f"{counts[each]:,} {each}" for each in DocumentStatus if counts[each])


def status_answer(
    listings: Iterable[CatalogListing], waiting: list[str], left_out: list[str]
) -> StatusAnswer:
    """Return the overview for programs. `waiting` has keys of uploads that have no record yet."""
    found = list(listings)
    return StatusAnswer(
        documents=[document_answer(each, one) for each in found for one in each.documents],
        unlisted=sum(each.unlisted.total() for each in found),
        waiting=waiting,
        left_out=left_out,
        troubles=[
            Trouble(user_id=each.user_id, catalog=each.name, reason=each.trouble)
            for each in found
            if each.trouble is not None
        ],
    )


def document_answer(listing: CatalogListing, document: Document) -> DocumentTold:
    estimate = listing.estimates.get(document.document_id)
    is_open = estimate is not None and estimate.so_far_seconds is not None
    return DocumentTold.of(
        document,
        None if listing.name == NO_CATALOG else listing.name,
        stage=str(estimate.stage) if estimate is not None and is_open else None,
        eta_seconds=estimate.eta_seconds if estimate is not None and is_open else None,
    )


def drop_answer(
    prefix: str, found: FoundFiles, outcomes: list[Dropped | NotDropped], settled: list[Document]
) -> DropAnswer:
    records = {each.s3_key: each for each in settled}
    files = []
    for each in outcomes:
        now = records.get(each.key)
        reason = None if now is None else now.status_reason
        files.append(
            FileTold(
                filename=each.key.removeprefix(prefix),
                key=each.key,
                dropped=isinstance(each, Dropped),
                version_id=each.version_id if isinstance(each, Dropped) else None,
                reason=each.reason if isinstance(each, NotDropped) else reason,
                status=None if now is None else now.status,
            )
        )
    left_out = [str(path) for path in found.left_out]
    return DropAnswer(prefix=prefix, files=files, left_out=left_out)


def cells(listing: CatalogListing, document: Document, speed: float) -> Sequence[Text | str]:
    return (
        Text(str(document.status), style=STYLES[document.status]),
        _age(document.updated_at),
        Text(path(listing, document)),
        size(document.size),
        Text(one_line(document.remark or stage(listing, document, speed))),
    )


def path(listing: CatalogListing, document: Document) -> str:
    """Return a document's path as users know it, with the catalog's name."""
    if listing.name == NO_CATALOG:
        return one_line(document.s3_key)
    return one_line(f"{listing.user_id}/{listing.name}/{document.filename}")


def stage(listing: CatalogListing, document: Document, speed: float) -> str:
    """Describe a document's stage and remaining time; empty once it has settled."""
    estimate = listing.estimates.get(document.document_id)
    if estimate is None or estimate.so_far_seconds is None:
        return ""
    parts = [str(estimate.stage)]
    if estimate.stage is DocumentStage.WAITING and listing.queue_position is not None:
        parts.append(_position(listing.queue_position))
    if estimate.attempt is not None and estimate.attempt > 1:
        parts.append(f"attempt {estimate.attempt}")
    parts.append(estimate.remaining(speed))
    return ", ".join(parts)


def _position(queue: QueuePosition) -> str:
    if queue.position is None:
        return f"behind the first {queue.length} in the queue"
    return f"number {queue.position} of {queue.length} in the queue"


def _age(since: datetime) -> str:
    return in_words((datetime.now(UTC) - since).total_seconds())
