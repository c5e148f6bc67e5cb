from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from stackroom.model import Document, DocumentStatus
from stackroom_local.dropping import Dropped, find

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


def test_hidden_files_and_sidecars_are_left_out_and_told(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for name in (".DS_Store", ".git/config", "a.txt", "a.txt.metadata.json"):
        (tmp_path / name).write_text("x")

    found = find([tmp_path])

    assert [file.name for file in found.files] == ["a.txt"]
    assert {path.name for path in found.left_out} == {
        ".DS_Store",
        "config",
        "a.txt.metadata.json",
    }


def test_a_path_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        find([tmp_path / "nowhere"])


@pytest.mark.parametrize("status", [DocumentStatus.INDEXED, DocumentStatus.FAILED])
def test_a_record_of_this_version_covers_it_once_it_is_over(status: DocumentStatus) -> None:
    assert DROPPED.covers(a_document(status=status))


@pytest.mark.parametrize(
    "status", [DocumentStatus.PENDING, DocumentStatus.INDEXING, DocumentStatus.DELETING]
)
def test_a_record_that_is_under_way_does_not(status: DocumentStatus) -> None:
    assert not DROPPED.covers(a_document(status=status))


def test_the_record_of_the_file_it_replaces_does_not() -> None:
    assert not DROPPED.covers(a_document(etag="old", version_id="v1"))


def test_an_identical_document_that_is_indexed_covers_a_redrop() -> None:
    assert DROPPED.covers(a_document(version_id="v1"))


def test_an_identical_document_that_had_failed_before_does_not() -> None:
    earlier = NOON - timedelta(minutes=1)

    failed = a_document(version_id="v1", status=DocumentStatus.FAILED, updated_at=earlier)

    assert not DROPPED.covers(failed)
