"""Documents that are watched: line by line in a pipe."""

from io import StringIO

from stackroom.model.records import Document, DocumentStatus
from stackroom_cli.live_status import StatusWatch
from stackroom_cli.output import TerminalConsole
from stackroom_cli.sites.site_records import CatalogListing
from tests.local.watched_documents import a_document, some

INDEXED, FAILED, PENDING = DocumentStatus.INDEXED, DocumentStatus.FAILED, DocumentStatus.PENDING


def printed(out: TerminalConsole) -> str:
    assert isinstance(out.file, StringIO), "the tests give one"
    return out.file.getvalue()


def listing(*documents: Document) -> list[CatalogListing]:
    return [CatalogListing("ada", "home", documents)]


def printed_lines(*looks: list[CatalogListing], every_document: bool) -> list[str]:
    """Return the lines in a pipe, without the seconds before each."""
    out = TerminalConsole(file=StringIO(), width=200)
    with StatusWatch.of(out, speed=1, every_document=every_document) as watch:
        for each in looks:
            watch.show(each)
    assert "\x1b" not in printed(out)
    return [line.partition(" s  ")[2] or line for line in printed(out).splitlines()]


def test_pipe_gets_moving_and_failed_documents_first_and_then_each_change() -> None:
    waiting, failed = a_document("a.txt", PENDING), a_document("b.txt", FAILED, reason="empty")
    settled = some(INDEXED, 3)

    lines = printed_lines(
        listing(waiting, failed, *settled),
        listing(waiting, failed, *settled),
        listing(a_document("a.txt", INDEXED), failed, *settled),
        listing(a_document("a.txt", INDEXED), *settled),
        every_document=True,
    )

    assert lines == [
        "pending   ada/home/a.txt",
        "failed    ada/home/b.txt  empty",
        "5 documents: 1 failed, 1 pending, 3 indexed",
        "indexed   ada/home/a.txt",
        "gone      ada/home/b.txt",
    ]
