from datetime import UTC, datetime, timedelta

from stackroom.model.records import Document
from stackroom.runs.inventory import ListedObject
from stackroom_cli.operator_documents import left_out_text, waiting
from tests.support.records import a_document

AT = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)


def lying(key: str, *, etag: str = "e1", at: datetime = AT) -> ListedObject:
    return ListedObject(key=key, size=10, etag=etag, last_modified=at)


def known(key: str) -> Document:
    return a_document(s3_key=key, etag="e1", size=10, uploaded_at=AT)


def test_object_waits_until_its_record_has_the_current_version() -> None:
    objects = [
        lying("ada/home/known.txt"),
        lying("ada/home/new.txt"),
    ]
    replaced = [lying("ada/home/known.txt", etag="e2", at=AT + timedelta(minutes=1))]

    assert waiting(objects, [known("ada/home/known.txt")]) == ["ada/home/new.txt"]
    again = [lying("ada/home/known.txt", at=AT + timedelta(minutes=1))]

    assert waiting(again, [known("ada/home/known.txt")]) == []
    assert waiting(replaced, [known("ada/home/known.txt")]) == ["ada/home/known.txt"]


def test_junk_is_not_waited_for_and_is_reported_once() -> None:
    junk = [f"ada/home/{each}" for each in (".DS_Store", "._a.txt", "~$b.docx", "Thumbs.db")]

    assert waiting(map(lying, junk), []) == []
    assert left_out_text(junk, "system files") == (
        "left out 4 system files: ada/home/.DS_Store, ada/home/._a.txt, ada/home/~$b.docx, "
        "and 1 more"
    )
    assert left_out_text([], "system files") == ""
