"""Output of a drop for a signed-in person."""

from collections.abc import Callable, Iterable, Sequence
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from stackroom_cli import own_documents
from stackroom_cli.output import Output, TerminalConsole
from stackroom_client.answers import Document, Upload
from tests.support.records import NOW

OVER_CAP = "Over the document cap (1 of 1). Delete some, or ask an operator to raise it."


class Room:
    """A client at a gateway that takes files in two pieces; only the first of them has a place."""

    def open_catalog(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(catalog_id=name)

    def upload(
        self, catalog: str, path: Path, *, name: str, replace: bool, progress: Callable[..., None]
    ) -> Upload:
        assert replace
        size = path.stat().st_size
        for done in (size // 2, size):
            progress(done, size)
        return Upload(
            catalog_id=catalog, document_id=name, filename=name, etag="e", at=NOW, ended_at=NOW
        )

    def wait(self, catalog: str, uploads: Iterable[Upload]) -> Sequence[Document]:
        return [
            Document(
                catalog_id=catalog,
                document_id=each.document_id,
                filename=each.filename,
                file_size_kb=1,
                indexing_status="pending" if number else "indexed",
                status_reason=OVER_CAP if number else None,
                uploaded_at=NOW,
            )
            for number, each in enumerate(uploads)
        ]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_bar_on_a_terminal_and_once_why_some_wait(tmp_path: Path, is_terminal: bool) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / name).write_text("x" * 1024)
    out = TerminalConsole(
        file=StringIO(), force_terminal=is_terminal, color_system=None, width=120, soft_wrap=True
    )
    person = SimpleNamespace(client=Room())

    own_documents.drop(
        cast(Any, person), [tmp_path], catalog="notes", wait=True, output=Output(out, is_json=False)
    )

    said = cast(StringIO, out.file).getvalue()
    assert ("3.0/3.0 KiB" in said) is is_terminal
    assert "dropped 3 of 3 files" in said
    assert said.count(f"pending: 2 files: {OVER_CAP}") == 1
    assert "  b.txt\n  c.txt" in said
