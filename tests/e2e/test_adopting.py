"""Files that somebody prepared for a knowledge base, with AWS's sidecars, adopted and filtered."""

from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path

import pytest

from simulator.tests import files
from stackroom.model.records import DocumentStatus
from stackroom_local.state import Instance
from tests.e2e.people import Person, eventually
from tests.local.running import within

FILES: dict[str, bytes] = {
    "handbook.pdf": files.pdf("The handbook file: 30 days of leave a year."),
    "handbook.pdf.metadata.json": b'{"metadataAttributes": {"dept": "hr", "year": 2026,'
    b' "public": true, "tags": ["a", "b"], "user_id": "mallory"}}',
    "typed.pdf": files.pdf("The typed file: 30 days of leave a year."),
    "typed.pdf.metadata.json": b'{"metadataAttributes": {"dept": {"value": {"type": "STRING",'
    b' "stringValue": "hr"}, "includeForEmbedding": true}}}',
    "foreign.pdf": files.pdf("The foreign file: 30 days of leave a year."),
}
QUESTION = "How many days of leave?"


def from_folder(_: Instance, folder: Path) -> str:
    for name, body in FILES.items():
        (folder / name).write_bytes(body)
    return str(folder)


def from_bucket(instance: Instance, _: Path) -> str:
    s3 = instance.client("s3")
    s3.create_bucket(Bucket="their-documents")
    for name, body in FILES.items():
        s3.put_object(Bucket="their-documents", Key=f"kb/{name}", Body=body)
    return "s3://their-documents/kb"


@pytest.mark.parametrize("source", [from_folder, from_bucket])
def test_adopted_files_are_found_by_the_attributes_of_their_sidecars(
    instance: Instance,
    source: Callable[[Instance, Path], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    person = Person(instance, source.__name__.replace("_", "-"))
    monkeypatch.setenv("STACKROOM_STATE_DIR", str(instance.state_dir))
    told = ["adopt", source(instance, tmp_path), "-u", person.name, "-c", "leave", "--apply"]

    first = astuple(within(monkeypatch, capsys, *told))
    for name in ("handbook.pdf", "typed.pdf", "foreign.pdf"):
        person.await_status(f"leave/{name}", DocumentStatus.INDEXED)
    again = astuple(within(monkeypatch, capsys, *told))

    assert first[0] == 0, first
    assert "adopted 3 of 3 files" in first[1]
    assert "attribute 'user_id' is left out" in first[1]
    assert "adopted 0 of 3 files" in again[1]
    for asked, found in (
        ({}, {"handbook.pdf", "typed.pdf", "foreign.pdf"}),
        ({"dept": "hr"}, {"handbook.pdf", "typed.pdf"}),
        ({"year": {"gte": 2026}}, {"handbook.pdf"}),
        ({"public": True}, {"handbook.pdf"}),
        ({"tags": "b"}, {"handbook.pdf"}),
    ):
        narrowed = {"filter": asked} if asked else {}
        assert set(person.files_found(QUESTION, **narrowed)) == found, asked
    assert Person(instance, "mallory").files_found(QUESTION) == []


def test_record_says_that_an_operators_synced_sidecar_was_not_taken(
    instance: Instance,
) -> None:
    person = Person(instance, "syncer")
    person.put("leave/handbook.pdf.metadata.json", FILES["handbook.pdf.metadata.json"])
    person.settle([person.put("leave/handbook.pdf", FILES["handbook.pdf"])])

    def gaps() -> str:
        record = person.record("leave/handbook.pdf")
        return "; ".join(record.shown_gaps) if record else ""

    assert "`stackroom adopt`" in eventually(gaps, "the record has a gap")
    assert Person(instance, "mallory").files_found(QUESTION) == []
