from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from simulator.tests import files
from stackroom.errors import RecordChanged
from stackroom.model.bucket import FileVersion
from stackroom.model.keys import TextName
from stackroom.model.records import DocumentStatus
from stackroom.model.repositories import Inspected
from stackroom.text import inspection
from stackroom.text.document_text import DocumentText
from stackroom.text.extraction import Page, PageGap, read_pages
from stackroom.text.gaps import UNREAD
from stackroom.text.inspection import (
    Inspection,
    InspectionOutcome,
    InspectionResult,
)
from stackroom.text.kept_texts import TextKeeping
from stackroom.text.text_ids import text_id_of
from tests.fakes.inspection import (
    FakeFiles,
    FakeInspectionRequests,
    FakeInspections,
    FakeTexts,
)
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
        self.bucket, self.texts, self.inspections = FakeFiles(), FakeTexts(), FakeInspections()
        self.catalogs, self.documents = FakeCatalogs(), FakeDocuments()
        self.requests = FakeInspectionRequests()
        # Of a bucket it looks at nothing but which version lies there.
        bucket = cast("Any", SimpleNamespace(version_of=self.bucket.version_of))
        self.inspecting = Inspection(
            files=self.bucket,
            texts=self.texts,
            keeping=TextKeeping(texts=self.texts, documents=self.documents, bucket=bucket),
            inspections=self.inspections,
            catalogs=self.catalogs,
            documents=self.documents,
            requests=self.requests,
            extract=read_pages,
            pause=lambda _: None,
        )

    @property
    def text(self) -> DocumentText:
        """The only one that is kept."""
        [text] = self.texts.kept.values()
        return text

    @property
    def text_ids(self) -> set[str]:
        return {name.text_id for name in self.texts.kept}

    @property
    def found(self) -> Inspected:
        """Return the result of the only inspected file."""
        [(_, found)] = self.inspections.found.values()
        return found


def text_id(etag: str = "e1", key: str = KEY) -> str:
    return text_id_of(FileVersion(etag, None), place_of(key).filename)


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
    assert house.text_ids == {text_id()}


def test_a_sound_pdf_gets_a_text_with_its_places_and_no_reason(house: House) -> None:
    house.bucket.put(KEY, "e1", files.pdf("Meals are 48 euros", "Trains go first class"), "v1")

    inspected = house.inspecting.inspect(KEY)

    name = TextName("alice", place_of(KEY).catalog_id, document_id(), house.found.text_id or "")
    assert inspected == InspectionResult(
        outcome=InspectionOutcome.SOUND, document_id=document_id(), pages=2
    )
    assert list(house.texts.kept) == [name]
    assert house.text.places.place_of("Trains go first class").page == 2
    assert house.inspections.found[document_id()] == (
        "e1",
        Inspected(
            version_id="v1",
            text_id=name.text_id,
            text_tokens=house.text.tokens,
            title_words="meals are 48 euros",
        ),
    )


def test_defective_file_gets_its_reason_and_no_text(house: House) -> None:
    house.bucket.put(KEY, "e2", files.encrypted_pdf(), "v2")

    inspected = house.inspecting.inspect(KEY)

    defect = Inspected(version_id="v2", reason=ENCRYPTED, gaps=(ENCRYPTED, UNREAD))
    assert (inspected.outcome, inspected.reason) == (InspectionOutcome.DEFECTIVE, ENCRYPTED)
    assert house.inspections.found == {document_id(): ("e2", defect)}
    assert house.texts.kept == {}


@pytest.mark.parametrize(
    ("how", "outcome"),
    [
        ("is removed", InspectionOutcome.GONE),
        ("is kept from us", InspectionOutcome.REFUSED),
        ("is too large", InspectionOutcome.IGNORED),
    ],
)
def test_text_is_deleted_once_its_file_is(
    house: House, how: str, outcome: InspectionOutcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.bucket.put(KEY, "e1", files.pdf("Meals are 48 euros"))
    house.inspecting.inspect(KEY)
    house.bucket.put(KEY, "e2", files.pdf("Meals are 49 euros"))
    rejected = document_at(KEY, etag="e2", status=DocumentStatus.FAILED, status_reason="so large")
    house.documents.save(rejected)
    match how:
        case "is removed":
            house.bucket.objects.clear()
            house.documents.lose()
        case "is kept from us":
            house.bucket.keep_from_us(KEY, "it is archived")
        case _:
            monkeypatch.setattr(inspection, "MAX_FILE_BYTES", 100)

    inspected = house.inspecting.inspect(KEY)

    assert inspected.outcome is outcome
    assert house.texts.kept == {}


def test_a_file_that_changes_meanwhile_is_inspected_again(house: House) -> None:
    house.bucket.put(KEY, "e1", files.pdf("Meals are 48 euros"))
    house.bucket.on_read = lambda: house.bucket.put(KEY, "e2", files.encrypted_pdf())
    house.documents.save(document_at(KEY, etag="e2", unread=True))

    house.inspecting.inspect(KEY)

    defect = Inspected(reason=ENCRYPTED, gaps=(ENCRYPTED, UNREAD))
    assert house.inspections.found == {document_id(): ("e2", defect)}
    assert house.texts.kept == {}


def test_a_file_that_keeps_changing_is_delivered_again(house: House) -> None:
    versions = iter(range(100))
    house.bucket.put(KEY, "first", b"%PDF-")
    house.bucket.on_read = lambda: house.bucket.put(KEY, f"e{next(versions)}", b"%PDF-")

    with pytest.raises(RecordChanged):
        house.inspecting.inspect(KEY)


class Reader:
    """Gives up as often as it is told to, and reads well after that."""

    def __init__(self, gives_up: int) -> None:
        self.left = gives_up
        self.calls = 0

    def __call__(self, body: bytes, filename: str) -> tuple[Page, ...] | None:
        self.calls += 1
        self.left -= 1
        return None if self.left >= 0 else tuple(read_pages(body, filename))


@pytest.mark.parametrize(
    ("gives_up", "outcome", "calls"),
    [
        (1, InspectionOutcome.SOUND, 2),
        (2, InspectionOutcome.SOUND, 3),
        (3, InspectionOutcome.UNDECIDED, 3),
        (9, InspectionOutcome.UNDECIDED, 3),
    ],
)
def test_file_is_left_to_bedrock_after_three_readers_gave_up(
    house: House, gives_up: int, outcome: InspectionOutcome, calls: int
) -> None:
    house.bucket.put(KEY, "e1", files.pdf("Meals are 48 euros"))
    house.documents.save(document_at(KEY, etag="e1", unread=True))
    reader = Reader(gives_up)

    inspected = replace(house.inspecting, extract=reader).inspect(KEY)

    [document] = house.documents.kept.values()
    is_read = outcome is InspectionOutcome.SOUND
    assert (inspected.outcome, reader.calls) == (outcome, calls)
    assert house.found.gaps == (() if is_read else ("read by Bedrock's parser; pages unknown",))
    assert (document.unread, document.text_id) == (False, text_id() if is_read else None)
    assert house.requests.asked == [document.catalog_id]


def test_late_inspection_adds_the_gaps_of_an_indexed_document(house: House) -> None:
    house.bucket.put(KEY, "e1", files.scanned_pdf("nine weeks", read=["Lease Agreement"]))
    indexed = document_at(KEY, etag="e1", status=DocumentStatus.INDEXED)
    house.documents.save(indexed)

    house.inspecting.inspect(KEY)

    [after] = house.documents.kept.values()
    gap = "1 of 2 pages has no text, or hardly any, beside an image: 1"
    assert (after.shown_gaps, after.remark) == ((gap,), f"with gaps: {gap}")


@pytest.mark.parametrize(
    "key",
    [
        "alice/handbook/setup.exe",
        "alice/handbook/._travel.pdf",
        "alice/handbook/travel.pdf.metadata.json",
        "alice/../travel.pdf",
    ],
)
def test_object_that_is_no_document_is_not_inspected(house: House, key: str) -> None:
    house.bucket.put(key, "e1", files.encrypted_pdf())

    inspected = house.inspecting.inspect(key)

    assert inspected.outcome is InspectionOutcome.IGNORED
    assert house.bucket.reads == []


def test_scan_whose_ocr_failed_shows_no_text_until_it_is_dropped_again(house: House) -> None:
    failed = (Page(1, "", gap=PageGap.OCR_FAILED),)
    open_catalog(house.catalogs, KEY)
    house.bucket.put(KEY, "e1", files.scanned_pdf("Meals are 48 euros"))
    inspecting = replace(house.inspecting, ocr="textract", extract=lambda _body, _filename: failed)

    inspected = inspecting.inspect(KEY)

    assert inspected.outcome is InspectionOutcome.UNDECIDED
    assert house.found.text_id is None
    gap = "the page has no readable text, since OCR failed"
    assert house.found.gaps == (gap,)
    assert house.found.illegible == f"{gap}; drop the file again later to have OCR read it"
