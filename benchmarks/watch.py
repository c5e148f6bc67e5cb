"""
What `stackroom status --watch` takes of a core, and what the server takes to answer it.

    make bench-watch

It watches in a terminal of 80 x 24 while nothing moves, and while records change that it shows;
the server's part is what it takes beyond what it takes of the same with nobody watching. Records
are written into the table as the functions write them, since embedding thousands of files would
take an hour and tell the same.
"""

import os
import pty
import struct
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fcntl import ioctl
from pathlib import Path
from threading import Thread

import psutil

from benchmarks.serving import measure, print_machine, serving, verdict
from stackroom.aws.dynamodb.items import to_item
from stackroom.documents.keys import catalog_id_of, document_id_of
from stackroom.documents.model import Catalog, Document, DocumentStatus
from stackroom_local.sites.site_services import SiteServices
from stackroom_local.state import Instance

SIZES = (170, 3850)
AIM = 3.0  # % of a core, watcher and server together
SECONDS = 40.0
WARM_SECONDS = 15.0  # imports, and the one look at everything
CHANGES_A_SECOND = 2.0
USER, CATALOG = "walt", "archive"
WINDOW = (24, 80)
STACKROOM = Path(sys.executable).with_name("stackroom")


@dataclass(frozen=True)
class Shares:
    """Of one core, in %."""

    watcher: float
    server: float


def main() -> None:
    print_machine()
    worst = 0.0
    for count in SIZES:
        with serving(speed=20) as instance:
            archive = Archive(instance)
            archive.fill(count)
            for what, changes in (("nothing moves", False), ("two change a second", True)):
                alone = measured(instance, archive, changes=changes, watched=False).server
                shares = measured(instance, archive, changes=changes, watched=True)
                server = max(0.0, shares.server - alone)
                together = shares.watcher + server
                worst = max(worst, together)
                print(
                    f"{count:5} documents, {what:20} watcher {shares.watcher:5.2f} %   "
                    f"server {server:5.2f} %   together {together:5.2f} %"
                )
    print(f"aim: at most {AIM:g} % of a core: {verdict(worst <= AIM)}")


def measured(instance: Instance, archive: "Archive", *, changes: bool, watched: bool) -> Shares:
    server = psutil.Process(instance.children["ministack"])
    with watching(instance) if watched else nobody() as watcher, archive.changing(changes):
        time.sleep(WARM_SECONDS)
        processes = [server, *([watcher] if watcher else [])]
        before = [_cpu(each) for each in processes]
        began = time.monotonic()
        time.sleep(SECONDS)
        took = time.monotonic() - began
        used = [100 * (_cpu(each) - at) / took for each, at in zip(processes, before, strict=True)]
    return Shares(server=used[0], watcher=sum(used[1:]))


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@contextmanager
def nobody() -> Iterator[None]:
    yield None


@contextmanager
def watching(instance: Instance) -> Iterator[psutil.Process]:
    """`stackroom status --watch` in a terminal of its own, whose output goes nowhere."""
    pid, terminal = pty.fork()
    if pid == 0:
        command = ("status", "--watch", "--state-dir", str(instance.state_dir))
        os.execv(STACKROOM, [str(STACKROOM), *command])
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *WINDOW, 0, 0))
    Thread(target=_drained, args=(terminal,), daemon=True).start()
    process = psutil.Process(pid)
    try:
        yield process
    finally:
        process.terminate()
        os.waitpid(pid, 0)


def _drained(terminal: int) -> None:
    try:
        while os.read(terminal, 65_536):
            pass
    except OSError:  # the other end was closed
        os.close(terminal)


class Archive:
    """A catalog whose records nobody but us changes."""

    def __init__(self, instance: Instance) -> None:
        self._stores = SiteServices(instance).stores
        self._id = catalog_id_of(USER, CATALOG)
        self._documents: list[Document] = []

    def fill(self, count: int) -> None:
        now = datetime.now(UTC)
        catalog = Catalog(
            catalog_id=self._id,
            user_id=USER,
            name=CATALOG,
            s3_prefix=f"{USER}/{CATALOG}/",
            created_at=now,
            updated_at=now,
        )
        catalogs = self._stores.catalogs
        item = to_item({**catalog.model_dump(mode="json"), "sk": "METADATA"})
        catalogs.client.put_item(TableName=catalogs.table, Item=item)
        made = (self._document(f"{number:05}.txt", now) for number in range(count))
        self._documents = self._stores.documents.save_all(made)

    @contextmanager
    def changing(self, really: bool) -> Iterator[None]:
        """Meanwhile one document after the other is indexed anew, as after a re-drop."""
        over = False

        def change() -> None:
            position = 0
            while not over:
                document = self._documents[position % len(self._documents)]
                for status in (DocumentStatus.INDEXING, DocumentStatus.INDEXED):
                    document = self._stores.documents.save(
                        document.moved(status, at=datetime.now(UTC))
                    )
                    time.sleep(1 / CHANGES_A_SECOND)
                self._documents[position % len(self._documents)] = document
                position += 1

        thread = Thread(target=change if really else _nothing)
        thread.start()
        try:
            yield
        finally:
            over = True
            thread.join()

    def _document(self, name: str, now: datetime) -> Document:
        return Document(
            catalog_id=self._id,
            document_id=document_id_of(self._id, name),
            filename=name,
            s3_key=f"{USER}/{CATALOG}/{name}",
            size=1234,
            etag=name,
            content_type="text/plain",
            status=DocumentStatus.INDEXED,
            uploaded_at=now,
            updated_at=now,
            indexed_at=now,
        )


def _nothing() -> None:
    pass


if __name__ == "__main__":
    measure(main)
