from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from stackroom.model.records import Document, DocumentStatus
from stackroom_cli.sites.file_drop import Dropped, find

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DROPPED = Dropped(key="ada/home/a.txt", etag="new", version_id="v2", at=NOON)


def a_document(**changes: Any) -> Document:
    return Document(
        **{
            "catalog_id": "cat-1",
            "document_id": "doc-1",
            "filename": "a.txt",
            "s3_key": "ada/home/a.txt",
            "etag": "new",
            "version_id": "v2",
            "status": DocumentStatus.INDEXED,
            "uploaded_at": NOON,
            "updated_at": NOON,
            **changes,
        }
    )


def test_a_folder_keeps_its_structure_and_a_file_its_name(tmp_path: Path) -> None:
    (tmp_path / "docs" / "2026").mkdir(parents=True)
    for name in ("docs/a.txt", "docs/2026/b (1).md", "single.csv"):
        (tmp_path / name).write_text("x")

    found = find([tmp_path / "docs", tmp_path / "single.csv"])

    assert {file.name for file in found.files} == {"2026/b (1).md", "a.txt", "single.csv"}


def test_hidden_files_junk_and_sidecars_are_left_out(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name in (".DS_Store", ".git/config", "a.txt", "a.txt.metadata.json", "~$plan.docx"):
        (tmp_path / name).write_text("x")

    found = find([tmp_path])

    assert [file.name for file in found.files] == ["a.txt"]
    assert {path.name for path in found.left_out} == {
        ".DS_Store",
        "config",
        "a.txt.metadata.json",
        "~$plan.docx",
    }


EARLIER = {"version_id": "v1"}
FAILED_EARLIER = {
    **EARLIER,
    "status": DocumentStatus.FAILED,
    "updated_at": NOON - timedelta(minutes=1),
}


@pytest.mark.parametrize(
    ("record", "covers"),
    [
        ({"status": DocumentStatus.INDEXED}, True),
        ({"status": DocumentStatus.PENDING}, False),
        ({"status": DocumentStatus.DELETING}, False),
        ({**EARLIER, "etag": "old"}, False),  # of the file that it replaces
        (EARLIER, True),  # identical, and indexed
        (FAILED_EARLIER, False),
    ],
)
def test_record_covers_a_drop_once_its_processing_has_ended(
    record: dict[str, Any], covers: bool
) -> None:
    assert DROPPED.covers(a_document(**record)) is covers
