"""Documents as they move: a window that redraws on a terminal, lines in a pipe."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Protocol, Self

from rich.console import Group
from rich.live import Live
from rich.text import Text

from stackroom.catalog_tools.texts import counted
from stackroom.model import Document, DocumentStatus
from stackroom_local.cli.console import Console, Output
from stackroom_local.cli.foreign import one_line
from stackroom_local.cli.json_lines import EachAsJson
from stackroom_local.cli.window import composed, told
from stackroom_local.records import CatalogListing

# Of one core, what looking and drawing may take: embedding wants the rest. What the server does
# for a look is a fraction of that (`make bench-watch`).
_SHARE = 0.02
_LEAST_SECONDS = 0.5
_MOST_SECONDS = 10.0
_TICK_SECONDS = 0.25  # within which a window that was resized is drawn anew


class View(Protocol):
    def show(self, listings: Sequence[CatalogListing]) -> None: ...

    def close(self) -> None: ...


@dataclass
class Watch:
    """`show` whatever is the case now, then `rest`; a context manager."""

    out: Console
    view: View
    _looked: float = field(default_factory=time.process_time, init=False)
    _listings: Sequence[CatalogListing] = field(default=(), init=False)

    @classmethod
    def of(
        cls,
        out: Console,
        *,
        speed: float,
        every_document: bool = True,
        lines: Output | None = None,
    ) -> Self:
        """In a pipe a line for every document's change, or for every change of the totals."""
        if lines is not None:
            return cls(out, EachAsJson(lines))
        if out.is_terminal:
            return cls(out, Window(out, speed))
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
        """So long that looking takes no more than its share, however much there is to look at."""
        spent = time.process_time() - self._looked
        until = time.monotonic() + min(max(_LEAST_SECONDS, spent / _SHARE), _MOST_SECONDS)
        size = self.out.size
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _TICK_SECONDS))
            if self.out.size != size:
                size = self.out.size
                self.view.show(self._listings)
        self._looked = time.process_time()


class Window:
    """As many lines as the terminal has, drawn anew when they or its size are others."""

    def __init__(self, out: Console, speed: float) -> None:
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
    """What moves and what failed as it is at first; then a line for every document's change."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._shown: dict[str, Document] | None = None
        self._started = time.monotonic()

    def show(self, listings: Sequence[CatalogListing]) -> None:
        now = {each.s3_key: each for listing in listings for each in listing.documents}
        before = self._shown
        for key, document in now.items():
            if before is None:
                is_new = document.status is not DocumentStatus.INDEXED
            else:
                is_new = key not in before or _state(document) != _state(before[key])
            if is_new:
                self._say(document.status, document, document.status_reason)
        for key in (before or {}).keys() - now.keys():
            assert before is not None, "it has this key"
            self._say("gone", before[key])
        if before is None:
            of_each = told(Counter(each.status for each in now.values()))
            self._out.print(Text(f"{counted(len(now), 'document')}: {of_each}"))
        self._shown = now

    def close(self) -> None:
        pass

    def _say(self, what: str, document: Document, reason: str | None = None) -> None:
        seconds = time.monotonic() - self._started
        told = f"  {one_line(reason)}" if reason else ""
        self._out.print(Text(f"{seconds:6.1f} s  {what:<9} {one_line(document.s3_key)}{told}"))


class EachTotal:
    """How many are in which status, whenever that is another; and each that failed, with why."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._told: str | None = None
        self._failed: set[str] = set()
        self._started = time.monotonic()

    def show(self, listings: Sequence[CatalogListing]) -> None:
        documents = [each for listing in listings for each in listing.documents]
        for each in documents:
            if each.status is DocumentStatus.FAILED and each.s3_key not in self._failed:
                self._failed.add(each.s3_key)
                self._say(f"failed    {one_line(f'{each.s3_key}  {each.status_reason}')}")
        if (counts := told(Counter(each.status for each in documents))) != self._told:
            self._told = counts
            self._say(counts or "none is recorded yet")

    def close(self) -> None:
        pass

    def _say(self, what: str) -> None:
        self._out.print(Text(f"{time.monotonic() - self._started:6.1f} s  {what}"))


def _state(document: Document) -> tuple[DocumentStatus, str | None]:
    return document.status, document.status_reason
