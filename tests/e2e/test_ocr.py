"""A scan behind a cover, dropped where OCR is off; then the same documents where it is on."""

from pathlib import Path

import pytest

from simulator.tests import files
from stackroom.model.records import DocumentStatus
from tests.e2e.people import Person, eventually
from tests.local.running import ANY_SCORE, local_mode, stackroom

pytestmark = pytest.mark.processes

OF_ANN = ("--catalog", "leases", "--user", "ann")
LEASE, NOTES = "leases/lease.pdf", "leases/notes.txt"
SCAN = files.scanned_pdf(
    "Annex A\nThe rent is 812 euros.",
    "Annex B\nThe notice period is nine weeks.\nIt begins on the first day of a month.",
    read=["Lease Agreement"],
)
QUESTION = "What is the notice period of the lease?"
GAP = "2 of 3 pages have no text, or hardly any, beside an image: 1-2"


def test_pages_without_text_are_found_and_cited_once_ocr_is_on(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with local_mode(state, *ANY_SCORE) as instance:
        ann = Person(instance, "ann")
        ann.settle([ann.put(LEASE, SCAN), ann.put(NOTES, "The caretaker is Ottokar.")])
        before, notes = ann.record(LEASE), ann.record(NOTES)
        assert not any("nine weeks" in each["content"] for each in ann.find(QUESTION))
    assert before is not None
    assert notes is not None
    assert (before.status, before.gaps) == (DocumentStatus.INDEXED, (GAP,))

    with local_mode(state, "--ocr", *ANY_SCORE) as instance:
        ann = Person(instance, "ann")

        def cited() -> list[int]:
            found = ann.find(QUESTION)
            return [each["source"]["page"] for each in found if "nine weeks" in each["content"]]

        assert eventually(cited, "the scan is read anew, and found") == [2]
        ann.await_status(LEASE, DocumentStatus.INDEXED)
        after = ann.record(LEASE)
        assert after is not None
        assert after.gaps == ()
        assert after.text_id != before.text_id
        assert ann.record(NOTES) == notes, "what has no pages is left alone"
        kept = stackroom("passages", "lease.pdf", *OF_ANN, "--text", state_dir=state)
        assert "nine weeks" in kept.stdout, "what was indexed, which no reader finds in the file"
        again = stackroom("reread", "--user", "ann", state_dir=state)
        assert "every text is up to date" in again.stderr
        assert "Textract" in stackroom("doctor", state_dir=state).stdout
