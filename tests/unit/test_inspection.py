from dataclasses import replace
from functools import partial

import pytest

from simulator.tests import files
from stackroom.documents.keys import catalog_id_of
from stackroom.documents.model import (
    NOT_READ_YET,
    SERVICE_FAILURE,
    UNEXPLAINED_FAILURE,
    DocumentStatus,
)
from stackroom.documents.repositories import Inspected
from stackroom.errors import RecordChanged
from stackroom.inspection import inspection
from stackroom.inspection.extraction import Page, read_pages
from stackroom.inspection.extraction.apart import read_pages_apart
from stackroom.inspection.inspection import Inspection, InspectionOutcome, InspectionResult
from tests.fakes.inspection import FakeFiles, FakeInspections, FakeMapShelf
from tests.fakes.pipeline import FakeCatalogs, FakeDocuments
from tests.support.records import a_catalog
from tests.unit.pipeline import document_at, place_of

KEY = "alice/handbook/travel.pdf"
ENCRYPTED = "the PDF is encrypted; remove its password and upload it again"


def document_id(key: str = KEY) -> str:
    return place_of(key).document_id


class House:
    """The bucket, and what is kept of its files."""

    def __init__(self) -> None:
        self.bucket, self.place_maps, self.inspections = (
            FakeFiles(),
            FakeMapShelf(),
            FakeInspections(),
        )
        self.catalogs, self.documents = FakeCatalogs(), FakeDocuments()
        self.inspecting = Inspection(
            files=self.bucket,
            place_maps=self.place_maps,
            inspections=self.inspections,
            catalogs=self.catalogs,
            documents=self.documents,
            extract=read_pages,
        )


@pytest.fixture
def house() -> House:
    return House()


def open_catalog(catalogs: FakeCatalogs, key: str) -> str:
    """Opens the catalog of the key; answers its id."""
    place = place_of(key)
    opened = a_catalog(1, place.user_id, catalog_id=place.catalog_id, s3_prefix=place.prefix)
    catalogs.open(opened)
    return place.catalog_id


@pytest.mark.parametrize(
    "stranger", ["mallory/{catalog_id}/travel.pdf", "alice/HANDBOOK/travel.pdf"]
)
def test_a_file_elsewhere_does_not_speak_for_a_document_of_the_same_name(
    house: House, stranger: str
) -> None:
    key = stranger.format(catalog_id=open_catalog(house.catalogs, KEY))
    house.bucket.put(KEY, "e1", files.pdf("Meals are 48 euros"))
    house.inspecting.inspect(KEY)
    house.bucket.put(key, "e2", files.pdf("Something else altogether"))

    inspected = house.inspecting.inspect(key)

    assert inspected.outcome is InspectionOutcome.IGNORED
    assert house.place_maps.maps[document_id()].text_id == "e1"


def test_junk_is_not_inspected(house: House) -> None:
    junk = KEY.replace("travel", "._travel")
    open_catalog(house.catalogs, KEY)
    house.bucket.put(junk, "e1", b"no document at all")

    assert house.inspecting.inspect(junk).outcome is InspectionOutcome.IGNORED


def test_a_file_under_a_catalog_id_that_nobody_has_is_left_alone(house: House) -> None:
    key = f"alice/{catalog_id_of('alice', 'never made')}/travel.pdf"
    house.bucket.put(key, "e1", files.pdf("Meals are 48 euros"))

    inspected = house.inspecting.inspect(key)

    assert inspected.outcome is InspectionOutcome.IGNORED
    assert house.place_maps.maps == {}


def failed_document(documents: FakeDocuments, *, etag: str, reason: str) -> None:
    failed = document_at(KEY, etag=etag, status=DocumentStatus.FAILED, status_reason=reason)
    documents.save(failed)


@pytest.mark.parametrize(
    ("etag", "reason", "told"),
    [
        ("e1", UNEXPLAINED_FAILURE, ENCRYPTED),
        ("e0", UNEXPLAINED_FAILURE, UNEXPLAINED_FAILURE),
        ("e1", "another reason", "another reason"),
    ],
)
def test_unexplained_failure_gets_reason_from_inspection_of_same_version(
    house: House, *, etag: str, reason: str, told: str
) -> None:
    failed_document(house.documents, etag=etag, reason=reason)
    house.bucket.put(KEY, "e1", files.encrypted_pdf())

    house.inspecting.inspect(KEY)

    (document,) = house.documents.kept.values()
    assert document.status_reason == told


def test_a_sound_pdf_gets_a_place_map_and_no_reason(house: House) -> None:
    house.bucket.put(KEY, "e1", files.pdf("Meals are 48 euros", "Trains go first class"))

    inspected = house.inspecting.inspect(KEY)

    assert inspected == InspectionResult(
        outcome=InspectionOutcome.SOUND, document_id=document_id(), pages=2
    )
    assert house.place_maps.maps[document_id()].text_id == "e1"
    assert house.place_maps.maps[document_id()].place_of("Trains go first class").page == 2
    words = "meals are 48 euros"
    assert house.inspections.found == {document_id(): ("e1", Inspected(title_words=words))}


def test_defective_file_gets_its_reason_and_loses_its_old_place_map(
    house: House,
) -> None:
    house.bucket.put(KEY, "e1", files.pdf("Meals are 48 euros"))
    house.inspecting.inspect(KEY)
    house.bucket.put(KEY, "e2", files.encrypted_pdf())

    inspected = house.inspecting.inspect(KEY)

    assert inspected.outcome is InspectionOutcome.DEFECTIVE
    assert inspected.reason == ENCRYPTED
    assert house.inspections.found == {document_id(): ("e2", Inspected(reason=ENCRYPTED))}
    assert house.place_maps.maps == {}


def test_file_with_headings_gets_a_section_map_and_one_without_none(house: House) -> None:
    house.bucket.put("alice/handbook/notes.txt", "e1", b"Meals are 48 euros")
    key = "alice/handbook/travel.md"
    house.bucket.put(key, "e1", b"above\n# Meals\nMeals are 48 euros\n# Trains\nTrains are fast")

    without = house.inspecting.inspect("alice/handbook/notes.txt")
    inspected = house.inspecting.inspect(key)

    assert without.outcome is InspectionOutcome.SOUND
    assert list(house.place_maps.maps) == [document_id(key)]
    words = "above meals are 48 euros trains fast"
    assert house.inspections.found[document_id(key)] == ("e1", Inspected(title_words=words))
    assert inspected == InspectionResult(
        outcome=InspectionOutcome.SOUND, document_id=document_id(key), sections=2
    )
    assert house.place_maps.maps[document_id(key)].place_of("48 euros").section == "Meals"


def test_removed_or_unreadable_file_loses_its_place_map(house: House) -> None:
    for goes, outcome in (
        (house.bucket.objects.clear, InspectionOutcome.GONE),
        (lambda: house.bucket.keep_from_us(KEY, "it is archived"), InspectionOutcome.REFUSED),
    ):
        house.bucket.put(KEY, "e1", files.pdf("Meals are 48 euros"))
        house.inspecting.inspect(KEY)
        goes()

        inspected = house.inspecting.inspect(KEY)

        assert inspected.outcome is outcome
        assert house.place_maps.maps == {}
    assert inspected.reason == "it is archived"


def test_a_file_that_changes_meanwhile_is_inspected_again(house: House) -> None:
    house.bucket.put(KEY, "e1", files.pdf("Meals are 48 euros"))
    house.bucket.on_read = lambda: house.bucket.put(KEY, "e2", files.encrypted_pdf())

    house.inspecting.inspect(KEY)

    assert house.inspections.found == {document_id(): ("e2", Inspected(reason=ENCRYPTED))}
    assert house.place_maps.maps == {}


def test_a_file_that_keeps_changing_is_delivered_again(house: House) -> None:
    versions = iter(range(100))
    house.bucket.put(KEY, "first", b"%PDF-")
    house.bucket.on_read = lambda: house.bucket.put(KEY, f"e{next(versions)}", b"%PDF-")

    with pytest.raises(RecordChanged):
        house.inspecting.inspect(KEY)


def test_a_reader_that_gives_up_leaves_the_document_undecided(house: House) -> None:
    house.bucket.put(KEY, "e1", files.pdf("Meals are 48 euros"))
    giving_up = replace(house.inspecting, extract=lambda *_: None)

    inspected = giving_up.inspect(KEY)

    assert inspected.outcome is InspectionOutcome.UNDECIDED
    assert house.place_maps.maps == {}
    unread = Inspected(gaps=("read by Bedrock's parser; pages unknown",))
    assert house.inspections.found == {document_id(): ("e1", unread)}


def test_late_inspection_tells_the_gaps_of_an_indexed_document(house: House) -> None:
    house.bucket.put(KEY, "e1", files.scanned_pdf("nine weeks", read=["Lease Agreement"]))
    indexed = document_at(KEY, etag="e1", status=DocumentStatus.INDEXED, uninspected=True)
    before = house.documents.save(indexed)

    house.inspecting.inspect(KEY)

    [after] = house.documents.kept.values()
    assert before.shown_gaps == (NOT_READ_YET,)
    gap = "1 of 2 pages has no text, or hardly any, beside an image: 1"
    assert (after.shown_gaps, after.remark) == ((gap,), f"with gaps: {gap}")


def test_an_inspection_that_was_missing_completes_the_record(house: House) -> None:
    house.bucket.put(KEY, "e1", files.pdf("Meals are 48 euros"))
    indexed = document_at(KEY, etag="e1", status=DocumentStatus.INDEXED, uninspected=True)
    settled = house.documents.save(indexed)
    house.inspecting.inspect(KEY)
    sound = house.documents.get(settled.catalog_id, settled.document_id)
    assert sound is not None

    house.bucket.put(KEY, "e2", files.encrypted_pdf())
    failed = sound.moved(DocumentStatus.FAILED, at=sound.updated_at, reason=UNEXPLAINED_FAILURE)
    house.documents.save(failed.model_copy(update={"etag": "e2", "uninspected": True}))
    house.inspecting.inspect(KEY)
    defective = house.documents.get(settled.catalog_id, settled.document_id)

    assert (sound.status, sound.uninspected) == (DocumentStatus.INDEXED, False)
    assert defective is not None
    assert (defective.status_reason, defective.uninspected) == (ENCRYPTED, False)


@pytest.mark.parametrize("filename", ["a.txt", "a.csv", "a.pdf"])
def test_sound_file_of_any_format_is_known_to_read_well(house: House, filename: str) -> None:
    key = f"alice/handbook/{filename}"
    body = files.pdf("Meals") if filename.endswith("pdf") else b"meals, 48\n"
    house.bucket.put(key, "e1", body)

    house.inspecting.inspect(key)

    [(etag, found)] = house.inspections.found.values()
    assert (etag, found.reason, found.gaps) == ("e1", None, ())


def test_unexplained_failure_of_a_sound_file_is_bedrocks(house: House) -> None:
    failed_document(house.documents, etag="e1", reason=UNEXPLAINED_FAILURE)
    house.bucket.put(KEY, "e1", files.pdf("Meals are 48 euros"))

    house.inspecting.inspect(KEY)

    [document] = house.documents.kept.values()
    assert (document.status, document.status_reason) == (DocumentStatus.FAILED, SERVICE_FAILURE)


def test_a_file_that_is_too_large_is_left_to_the_upload_handler(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "MAX_FILE_BYTES", 100)
    house.bucket.put(KEY, "e1", b"x" * 101)

    inspected = house.inspecting.inspect(KEY)

    assert inspected.outcome is InspectionOutcome.IGNORED
    assert house.inspections.found == {}


@pytest.mark.parametrize(
    "key",
    [
        "alice/handbook/setup.exe",
        "alice/handbook/travel.pdf.metadata.json",
        "_pagemaps/doc-1.json.gz",
        "alice/../travel.pdf",
    ],
)
def test_what_is_no_document_is_left_alone(house: House, key: str) -> None:
    house.bucket.put(key, "e1", files.encrypted_pdf())

    inspected = house.inspecting.inspect(key)

    assert inspected.outcome is InspectionOutcome.IGNORED
    assert house.bucket.reads == []


@pytest.mark.processes
def test_title_words_of_a_pdf_begin_with_its_metadata_title(house: House) -> None:
    house.documents.save(document_at(KEY, etag="e1", status=DocumentStatus.INDEXED))
    house.bucket.put(KEY, "e1", files.pdf("Meals are 48 euros", title="Travel Policy 2026-11"))
    extract = partial(read_pages_apart, seconds=60)

    replace(house.inspecting, extract=extract).inspect(KEY)

    (document,) = house.documents.kept.values()
    assert document.title_words == "travel policy meals are 48 euros"


def test_indexed_document_gets_the_words_of_its_title_and_no_more_than_fit(house: House) -> None:
    house.documents.save(document_at(KEY, etag="e1", status=DocumentStatus.INDEXED))
    opening = " ".join(f"Wörter{number}" for number in range(200))
    house.bucket.put(KEY, "e1", b"%PDF")
    titled = replace(house.inspecting, extract=lambda *_: (Page(number=1, text=opening),))

    titled.inspect(KEY)

    (document,) = house.documents.kept.values()
    assert document.title_words.startswith("wörter0 wörter1 wörter2 ")
    assert 600 < len(document.title_words.encode()) <= 700
