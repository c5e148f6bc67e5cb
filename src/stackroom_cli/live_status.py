"""Documents and their progress, live: a window that redraws on a terminal, lines in a pipe."""

import heapq
import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Protocol, Self

from rich.cells import cell_len, set_cell_size
from rich.console import Group
from rich.live import Live
from rich.text import Text

from stackroom.model.records import Document, DocumentStatus
from stackroom.runs.estimates import in_words
from stackroom.tools.texts import counted, size
from stackroom_cli.document_tables import STYLES, document_answer, path, stage
from stackroom_cli.json_output import Changed
from stackroom_cli.output import Output, TerminalConsole
from stackroom_cli.sites.site_records import CatalogListing
from stackroom_cli.untrusted_text import one_line

# A window shows documents in progress and failed ones before all others, and always the totals.
#
# `composed` makes its lines of records, width and height alone; nothing is read or drawn here.

_WAITING = (DocumentStatus.PENDING, DocumentStatus.UPLOADING)
_MOVING = (DocumentStatus.INDEXING, DocumentStatus.DELETING, *_WAITING)
_ORDER = (DocumentStatus.FAILED, *_MOVING, DocumentStatus.INDEXED)
_STATUS_WIDTH = 9
_AGE_WIDTH = 4
_SIZE_WIDTH = 8
_SIZE_FROM = 120  # columns that a window has before it spares some for sizes
_NAME_FROM = _STATUS_WIDTH + _AGE_WIDTH + 4  # the column in which documents' names begin
_REASON_LINES = 3
_WRAPS = TerminalConsole()  # rich wraps no text without one

_Row = tuple[CatalogListing, Document]
_Rows = dict[DocumentStatus, list[_Row]]


def composed(
    listings: Iterable[CatalogListing], *, width: int, height: int, speed: float, now: datetime
) -> list[Text]:
    """Return at most `height` lines of at most `width` cells; the last one has the totals."""
    rows = _by_status(listings)
    count = sum(map(len, rows.values()))
    if not count:
        return [Text("no documents yet")]
    counts = Counter({each: len(found) for each, found in rows.items()})
    room = max(0, height - 2)
    drawn = partial(_line, width=width, speed=speed, now=now)
    shown = _chosen(rows, room, width)
    if len(shown) < count:
        # Where not all find room, one line has to say so.
        shown = _chosen(rows, room - 1, width)
    lines = [_head(width)]
    for row, reason in shown:
        lines += [drawn(row, has_reason_below=bool(reason)), *reason]
    if len(shown) < count:
        hidden = counts - Counter(document.status for (_, document), _ in shown)
        lines.append(_cut(f"not shown: {describe_counts(hidden)}", width))
    total = f"{count} {'document' if count == 1 else 'documents'}"
    lines.append(_cut(f"{total}: {describe_counts(counts)}", width))
    return lines[-height:]


def describe_counts(counts: Mapping[DocumentStatus, int]) -> str:
    """Return how many documents are in each status, failed ones first."""
    return ", ".join(f"{counts[each]} {each}" for each in _ORDER if counts.get(each))


def _by_status(listings: Iterable[CatalogListing]) -> _Rows:
    rows: _Rows = {each: [] for each in DocumentStatus}
    for listing in listings:
        for document in listing.documents:
            rows[document.status].append((listing, document))
    return rows


def _chosen(rows: _Rows, room: int, width: int) -> list[tuple[_Row, list[Text]]]:
    """
    Choose the rows to show: documents in progress, failed ones, and those indexed last.

    Each row comes with lines for a reason that doesn't fit its column. Documents in progress and
    failed ones each leave a third of the room to the other.
    """
    moving = [row for status in _MOVING for row in rows[status]]
    failed = rows[DocumentStatus.FAILED]
    for_failed = min(len(failed), max(-(-room // 3), room - len(moving)))
    for_moving = min(len(moving), room - for_failed)
    chosen = [(row, list[Text]()) for row in heapq.nsmallest(for_moving, moving, key=_soonest)]
    left = room - for_failed - for_moving
    for row in heapq.nlargest(for_failed, failed, key=_changed_at):
        below = _reason_below(row, width)
        reason = below if len(below) <= left else []
        left -= len(reason)
        chosen.append((row, reason))
    last = heapq.nlargest(left, rows[DocumentStatus.INDEXED], key=_changed_at)
    return [*chosen, *((row, []) for row in last)]


def _reason_below(row: _Row, width: int) -> list[Text]:
    """
    Return the lines below a document's name with its reason; none if the reason fits its column.
    """
    _, document = row
    reason = one_line(document.remark or "")
    room = width - _NAME_FROM
    if cell_len(reason) <= _Widths.of(width).reason or room <= 0:
        return []
    lines = [line.plain.rstrip() for line in Text(reason).wrap(_WRAPS, room)]
    if len(lines) > _REASON_LINES:
        rest = " ".join(lines[_REASON_LINES - 1 :])
        lines = [*lines[: _REASON_LINES - 1], fitted(rest, room)]
    return [Text(" " * _NAME_FROM + line) for line in lines]


def _soonest(row: _Row) -> tuple[bool, float, str]:
    """Return a sort key: documents at work before waiting ones, then by remaining time."""
    listing, document = row
    estimate = listing.estimates.get(document.document_id)
    seconds = estimate.eta_seconds if estimate and estimate.eta_seconds is not None else math.inf
    return document.status in _WAITING, seconds, document.s3_key


def _changed_at(row: _Row) -> datetime:
    return row[1].updated_at


@dataclass(frozen=True)
class _Widths:
    path: int
    size: int
    reason: int

    @classmethod
    def of(cls, width: int) -> "_Widths":
        sized = _SIZE_WIDTH + 2 if width >= _SIZE_FROM else 0
        rest = max(0, width - _STATUS_WIDTH - _AGE_WIDTH - sized - 6)
        return cls(path=rest * 45 // 100, size=sized, reason=rest - rest * 45 // 100)


def _head(width: int) -> Text:
    return Text(
        _columns(width, "Status", "Age", "Document", "Size", "Stage or reason"), style="bold"
    )


def _line(
    row: _Row, *, width: int, speed: float, now: datetime, has_reason_below: bool = False
) -> Text:
    listing, document = row
    remark = document.remark or stage(listing, document, speed)
    line = Text(
        _columns(
            width,
            str(document.status),
            in_words((now - document.updated_at).total_seconds()),
            path(listing, document),
            size(document.size),
            "" if has_reason_below else one_line(remark),
        )
    )
    line.stylize(STYLES[document.status], 0, _STATUS_WIDTH)
    return line


def _columns(width: int, *cells: str) -> str:
    status, age, path, bytes_, stage_or_reason = cells
    widths = _Widths.of(width)
    columns = [
        fitted(status, _STATUS_WIDTH),
        age.rjust(_AGE_WIDTH),
        fitted(path, widths.path, keep_end=True),
        *([bytes_.rjust(_SIZE_WIDTH)] if widths.size else []),
        fitted(stage_or_reason, widths.reason),
    ]
    return set_cell_size("  ".join(columns), width).rstrip()


def fitted(text: str, width: int, *, keep_end: bool = False) -> str:
    """Return the text in exactly `width` cells; a longer one loses its end, or its middle."""
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    end = _ending(text, width // 2) if keep_end else ""
    return set_cell_size(set_cell_size(text, width - 1 - cell_len(end)) + "…" + end, width)


def _ending(text: str, width: int) -> str:
    """Return the last characters that fit into `width` cells."""
    ending = text[-width:] if width else ""
    while cell_len(ending) > width:
        ending = ending[1:]
    return ending


def _cut(text: str, width: int) -> Text:
    return Text(text if cell_len(text) <= width else fitted(text, width).rstrip(), style="dim")


# Of one core, what looking and drawing may take: embedding wants the rest. Each look reads all
# records.
_SHARE = 0.1
_LEAST_SECONDS = 0.5
_MOST_SECONDS = 10.0
_TICK_SECONDS = 0.25  # within which a window that was resized is drawn anew


class StatusView(Protocol):
    def show(self, listings: Sequence[CatalogListing]) -> None: ...

    def close(self) -> None: ...


@dataclass
class StatusWatch:
    """A context manager that shows documents with `show` and pauses with `rest`."""

    out: TerminalConsole
    view: StatusView
    _rested_at: float = field(default_factory=time.process_time, init=False)
    _listings: Sequence[CatalogListing] = field(default=(), init=False)

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
            return cls(out, EachAsJson(lines))
        if out.is_terminal:
            return cls(out, StatusWindow(out, speed))
        return cls(out, EachChange(out) if every_document else EachTotal(out))

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
        self._listings = listings
        self.view.show(listings)

    def rest(self) -> None:
        """Pause long enough that reading and drawing take no more than their share of a core."""
        spent = time.process_time() - self._rested_at
        until = time.monotonic() + min(max(_LEAST_SECONDS, spent / _SHARE), _MOST_SECONDS)
        size = self.out.size
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _TICK_SECONDS))
            if self.out.size != size:
                size = self.out.size
                self.view.show(self._listings)
        self._rested_at = time.process_time()


class StatusWindow:
    """A view that fills the terminal, and redraws when the lines or the terminal's size change."""

    def __init__(self, out: TerminalConsole, speed: float) -> None:
        self._out, self._speed = out, speed
        self._drawn: list[Text] = []
        self._size = out.size
        self._live = Live(console=out, auto_refresh=False, vertical_overflow="crop")
        self._live.start()

    def show(self, listings: Sequence[CatalogListing]) -> None:
        size = self._out.size
        # One line is left for the cursor, so that the window never scrolls.
        lines = composed(
            listings,
            width=size.width,
            height=size.height - 1,
            speed=self._speed,
            now=datetime.now(UTC),
        )
        if size != self._size:
            self._out.clear()  # the terminal has broken the lines elsewhere
        if size != self._size or lines != self._drawn:
            self._size, self._drawn = size, lines
            self._live.update(Group(*lines), refresh=True)

    def close(self) -> None:
        self._live.stop()


class EachChange:
    """A view that prints unfinished and failed documents first, then a line for each change."""

    def __init__(self, out: TerminalConsole) -> None:
        self._out = out
        self._shown: dict[str, Document] | None = None
        self._started = time.monotonic()

    def show(self, listings: Sequence[CatalogListing]) -> None:
        now = {each.s3_key: each for listing in listings for each in listing.documents}
        before = self._shown
        for key, document in now.items():
            if before is None:
                is_new = document.status is not DocumentStatus.INDEXED or bool(document.remark)
            else:
                is_new = key not in before or _state(document) != _state(before[key])
            if is_new:
                self._say(document.status, document, document.remark)
        for key in (before or {}).keys() - now.keys():
            assert before is not None, "it has this key"
            self._say("gone", before[key])
        if before is None:
            of_each = describe_counts(Counter(each.status for each in now.values()))
            self._out.print(Text(f"{counted(len(now), 'document')}: {of_each}"))
        self._shown = now

    def close(self) -> None:
        pass

    def _say(self, what: str, document: Document, reason: str | None = None) -> None:
        seconds = time.monotonic() - self._started
        suffix = f"  {one_line(reason)}" if reason else ""
        self._out.print(Text(f"{seconds:6.1f} s  {what:<9} {one_line(document.s3_key)}{suffix}"))


class EachTotal:
    """
    A view that prints the number in each status when it changes, and each failure with its reason.
    """

    def __init__(self, out: TerminalConsole) -> None:
        self._out = out
        self._counts: str | None = None
        self._failed: set[str] = set()
        self._started = time.monotonic()

    def show(self, listings: Sequence[CatalogListing]) -> None:
        documents = [each for listing in listings for each in listing.documents]
        for each in documents:
            if each.status is DocumentStatus.FAILED and each.s3_key not in self._failed:
                self._failed.add(each.s3_key)
                self._say(f"failed    {one_line(f'{each.s3_key}  {each.status_reason}')}")
        if (counts := describe_counts(Counter(each.status for each in documents))) != self._counts:
            self._counts = counts
            self._say(counts or "waiting for the first record")

    def close(self) -> None:
        pass

    def _say(self, what: str) -> None:
        self._out.print(Text(f"{time.monotonic() - self._started:6.1f} s  {what}"))


def _state(document: Document) -> tuple[DocumentStatus, str | None]:
    return document.status, document.remark


# Documents as they move, for programs: a line of JSON for each change.


class EachAsJson:
    """A view that prints a line of JSON for each document, and again for each of its changes."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._shown: dict[str, tuple[CatalogListing, Document]] = {}

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


def _is_another(document: Document, before: Document) -> bool:
    return _state(document) != _state(before)
