"""drop and status: documents on their way into the bucket, and through their statuses."""

import sys
import time
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from stackroom.errors import ValidationError
from stackroom.model import Document, DocumentStatus
from stackroom_local.cli.console import console, size
from stackroom_local.dropping import Dropped, File, NotDropped, find
from stackroom_local.dropping import drop as drop_files
from stackroom_local.problems import LocalModeError
from stackroom_local.records import Records, Shelf
from stackroom_local.state import Instance, StateDirectory

_REFRESH_SECONDS = 0.25
_STYLES = {
    DocumentStatus.UPLOADING: "dim",
    DocumentStatus.PENDING: "yellow",
    DocumentStatus.INDEXING: "cyan",
    DocumentStatus.INDEXED: "green",
    DocumentStatus.FAILED: "red",
    DocumentStatus.DELETING: "magenta",
}


class SomeFailed(LocalModeError):
    def __init__(self, count: int, of: int) -> None:
        super().__init__(f"{count} of {of} files did not become searchable; see above")


def drop(state_dir: Path, paths: list[Path], *, user: str, catalog: str, wait: bool) -> None:
    instance = StateDirectory(state_dir).instance()
    try:
        found = find(paths)
    except FileNotFoundError as error:
        raise ValidationError(f"no such file or folder: {error}") from error
    out = console()
    started = time.monotonic()
    outcomes = _put(instance, found.files, prefix=f"{user}/{catalog}/")
    dropped = [each for each in outcomes if isinstance(each, Dropped)]
    refused = [each for each in outcomes if isinstance(each, NotDropped)]
    for path in found.left_out:
        out.print(f"left out {path}: hidden, or a sidecar, which only Stackroom writes")
    for each in refused:
        out.print(f"[red]not dropped[/red] {each.key}: {each.reason}")
    out.print(
        f"dropped {len(dropped)} of {len(outcomes)} files into {user}/{catalog}/ "
        f"in {time.monotonic() - started:.1f} s"
    )
    failed = _settle(Records(instance), user, dropped) if wait else []
    if refused or failed:
        raise SomeFailed(len(refused) + len(failed), len(outcomes))


def status(state_dir: Path, *, user: str | None, watch: bool) -> None:
    records = Records(StateDirectory(state_dir).instance())
    out = console()
    if not watch:
        out.print(overview(records.shelves(user)))
        return
    with Live(console=out, auto_refresh=False) as live:
        while True:
            live.update(overview(records.shelves(user)), refresh=True)
            time.sleep(_REFRESH_SECONDS)


def overview(shelves: Iterable[Shelf]) -> RenderableType:
    """One row per document, and how many are in which status."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, options in _COLUMNS.items():
        table.add_column(heading, **options)  # type: ignore[arg-type]
    counts: Counter[DocumentStatus] = Counter()
    for shelf in shelves:
        for document in shelf.documents:
            counts[document.status] += 1
            table.add_row(f"{shelf.user_id}/{shelf.name}", *_cells(document))
    if not counts:
        return Text("no documents yet")
    total = ", ".join(f"{counts[each]} {each}" for each in DocumentStatus if counts[each])
    return Group(table, Text(total, style="dim"))


_COLUMNS: dict[str, dict[str, object]] = {
    "Catalog": {"no_wrap": True},
    "Document": {"overflow": "fold"},
    "Size": {"justify": "right", "no_wrap": True},
    "Status": {"no_wrap": True},
    "Age": {"justify": "right", "no_wrap": True},
    "Reason": {"overflow": "fold"},
}


def _cells(document: Document) -> list[RenderableType]:
    return [
        Text(document.filename),
        size(document.size),
        Text(str(document.status), style=_STYLES[document.status]),
        _age(document.updated_at),
        Text(document.status_reason or ""),
    ]


def _age(since: datetime) -> str:
    seconds = max(0, int((datetime.now(UTC) - since).total_seconds()))
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def _put(instance: Instance, files: tuple[File, ...], *, prefix: str) -> list[Dropped | NotDropped]:
    columns = (TextColumn("uploading"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=console(), disable=not sys.stdout.isatty()) as progress:
        total = sum(file.path.stat().st_size for file in files)
        bar = progress.add_task("uploading", total=total)

        def advance(file: File) -> None:
            progress.advance(bar, file.path.stat().st_size)

        return list(drop_files(instance, files, prefix=prefix, on_put=advance))


def _settle(records: Records, user: str, dropped: list[Dropped]) -> list[Document]:
    """Shows each of them until it is indexed or failed; those that failed."""
    out = console()
    started = time.monotonic()
    settled: dict[str, Document] = {}
    with Live(console=out, auto_refresh=False) as live:
        while len(settled) < len(dropped):
            shelves = records.shelves(user)
            settled = _settled(shelves, dropped)
            live.update(overview(_only(shelves, dropped)), refresh=True)
            time.sleep(_REFRESH_SECONDS)
    out.print(f"settled in {time.monotonic() - started:.1f} s")
    return [each for each in settled.values() if each.status is DocumentStatus.FAILED]


def _settled(shelves: list[Shelf], dropped: list[Dropped]) -> dict[str, Document]:
    documents = {each.s3_key: each for shelf in shelves for each in shelf.documents}
    return {
        each.key: documents[each.key]
        for each in dropped
        if each.key in documents and each.covers(documents[each.key])
    }


def _only(shelves: list[Shelf], dropped: list[Dropped]) -> list[Shelf]:
    keys = {each.key for each in dropped}
    return [
        Shelf(
            shelf.user_id,
            shelf.name,
            tuple(each for each in shelf.documents if each.s3_key in keys),
        )
        for shelf in shelves
    ]
