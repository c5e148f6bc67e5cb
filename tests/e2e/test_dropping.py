"""
Files as people really drop them, all at once: what is taken is found, what is not says why.

Every file that is taken tells of its own animal, so that a question about it has one best answer.
"""

import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from simulator.tests import files
from stackroom.model.records import Document, DocumentStatus
from stackroom_local.state import Instance
from tests.e2e.people import Agent, Person, eventually

CATALOG = "research"
RESUME = "2026/Q1 résumé (final)+v2.pdf"
# Longer than a passage each, so that a passage about the end of a page begins on that page.
CASH_DESK = "\n".join(f"Cash desk {each} sold tickets and postcards all day." for each in range(50))
VISITORS = "\n".join(f"In week {each} school classes came to see the seals." for each in range(50))


@dataclass(frozen=True)
class Good:
    name: str
    body: bytes
    question: str
    phrase: str
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Bad:
    name: str
    reason: str  # a pattern
    body: Callable[[], bytes]
    attributes: Mapping[str, str] = field(default_factory=dict)


def _told(name: str, animal: str, meal: str, **attributes: str) -> Good:
    sentence = f"The {animal} is fed {meal}."
    return Good(
        name,
        sentence.encode(),
        question=f"What is the {animal} fed?",
        phrase=sentence,
        attributes={name.replace("_", "-"): value for name, value in attributes.items()},
    )


GOOD = (
    _told("a+b.txt", "pelican", "herring from a bucket"),
    _told("50%25 off+more.txt", "flamingo", "shrimp in the evening"),
    _told("🦊 and friends.txt", "fox", "quail eggs at midnight"),
    _told("Cafe\u0301 des e\u0301le\u0301phants.txt", "elephant", "hay and pumpkins"),
    _told("n" * 396 + ".txt", "walrus", "clams from a shovel"),
    _told("quotes 'single' \"double\" & <angle>.txt", "lynx", "rabbit on Fridays"),
    _told("folder.txt/inside.txt", "meerkat", "scorpions without stings"),
    _told("folder.txt", "iguana", "hibiscus flowers"),
    _told("on two\nlines.txt", "sturgeon", "snails from the bottom"),
    _told(
        "with attributes.txt",
        "tortoise",
        "dandelions and figs",
        kb_domain="reptiles",
        kb_list_taxonomy="slow, old,  armoured ",
        unrelated="is nobody's business",
    ),
    Good(
        "latin-1.csv",
        files.latin1_csv(),
        question="Welche Gebühr zahlt Jürgen Größl in Köln?",
        phrase="Jürgen Größl",
    ),
    Good(
        "contract.docx",
        files.word("The veterinarian is paid 900 crowns for each visit to the rhinoceros."),
        question="How much is the veterinarian paid for the rhinoceros?",
        phrase="900 crowns",
    ),
)


def _text(text: str = "The unicorn is fed moonlight.") -> Callable[[], bytes]:
    return text.encode


BAD = (
    Bad("empty.txt", "the file is empty", lambda: b""),
    Bad("setup.exe", r"File type '\.exe' not supported\. Allowed: pdf, docx, txt", _text()),
    Bad("ends with a line.txt\n", r"File type '\.txt\n' not supported", _text()),
    Bad("truncated.pdf", "cut off", files.truncated_pdf),
    Bad("scanned.pdf", "no text was found in the PDF; it may be a scan", files.pdf_without_text),
    Bad("bomb.docx", "unpacks to more than 200 MB", files.word_bomb),
    Bad("n" * 397 + ".txt", "the file name has 401 bytes; at most 400 are allowed", _text()),
    Bad(
        "reserved attribute.txt",
        "attribute 'user_id' is reserved; choose another name",
        _text(),
        {"kb-user_id": "bob"},
    ),
)


@pytest.fixture(scope="module")
def zoo(
    alice: Person, shell: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Document]:
    """Records by file name, once everything is settled, and what our inspection found is told."""
    resume = tmp_path_factory.mktemp("zoo") / "resume.pdf"
    resume.write_bytes(files.pdf(CASH_DESK, f"{VISITORS}\nThe aquarium leaked twice in February."))
    key = f"alice/{CATALOG}/{RESUME}"
    subprocess.run(
        ["aws", "s3", "cp", str(resume), f"s3://{alice.instance.bucket}/{key}"],
        env=shell,
        check=True,
        capture_output=True,
    )
    dropped = [alice.put(f"{CATALOG}/{each.name}", each.body, each.attributes) for each in GOOD]
    dropped += [alice.put(f"{CATALOG}/{each.name}", each.body(), each.attributes) for each in BAD]
    alice.settle(dropped)
    alice.await_status(f"{CATALOG}/{RESUME}", DocumentStatus.INDEXED)
    prefix = f"alice/{CATALOG}/"

    def explained() -> dict[str, Document] | None:
        records = alice.records().items()
        found = {key.removeprefix(prefix): each for key, each in records if key.startswith(prefix)}
        told = [(found[each.name].status_reason or "", each.reason) for each in BAD]
        return found if all(re.search(reason, text) for text, reason in told) else None

    records = eventually(explained, "each bad file has its reason")
    assert records is not None, "eventually() returns what is truthy"
    return records


def test_each_good_file_is_indexed_and_found(alice: Person, zoo: dict[str, Document]) -> None:
    for case in GOOD:
        best, record = alice.find(case.question)[0], zoo[case.name]

        assert (record.status, record.status_reason) == (DocumentStatus.INDEXED, None), case.name
        assert best["source"]["filename"] == case.name
        assert case.phrase in best["content"]
        assert best["source"]["document_id"] == record.document_id


def test_a_name_with_folders_accents_and_brackets_is_found_with_its_page(
    alice: Person, zoo: dict[str, Document]
) -> None:
    best = alice.find("When did the aquarium leak?")[0]

    assert best["source"]["filename"] == RESUME
    assert best["source"]["page"] == 2
    assert best["source"]["uri"] == f"s3://{alice.instance.bucket}/alice/{CATALOG}/{RESUME}"


def test_each_bad_file_fails_with_a_reason_and_is_not_found(
    alice: Person, zoo: dict[str, Document]
) -> None:
    for case in BAD:
        found = alice.files_found("What is the unicorn fed?", filter={"filename": case.name})

        assert zoo[case.name].status is DocumentStatus.FAILED, case.name
        assert re.search(case.reason, zoo[case.name].status_reason or ""), zoo[case.name]
        assert found == []


def test_gaps_of_a_scan_are_in_the_list_and_beside_its_other_passages(
    alice: Person, instance: Instance
) -> None:
    name, gap = "okapi.pdf", "2 of 3 pages have no text, or hardly any, beside an image: 1-2"
    scan = files.scanned_pdf(CASH_DESK, VISITORS, read=["The okapi is fed acacia leaves."])
    alice.settle([alice.put(f"scans/{name}", scan), alice.put("scans/whole.txt", CASH_DESK)])
    catalog_id = alice.catalog("scans").catalog_id

    def listed() -> dict[str, Any]:
        answer = Agent(instance, "alice")("list_catalog_documents", catalog_id=catalog_id)
        return {each["filename"]: each["gaps"] for each in answer["metadata"]["documents"]}

    # A slow inspection tells it a moment after the document is indexed.
    assert eventually(lambda: listed() == {name: [gap], "whole.txt": []}, "the gap is listed")
    best = alice.find("What is the okapi fed?", catalog_id=catalog_id)[0]
    assert (best["source"]["filename"], best["source"]["page"]) == (name, 3)
    assert best["metadata"]["gaps"] == [gap]
    [other] = alice.find("What does cash desk 7 sell?", filter={"filename": "whole.txt"})[:1]
    assert "gaps" not in other["metadata"]


def test_broken_new_version_says_that_the_version_before_is_gone(alice: Person) -> None:
    path, question = "timetable/times.pdf", "When does the night train leave?"
    alice.settle([alice.put(path, files.pdf("The night train leaves at eleven."))])
    before = alice.find(question)

    alice.settle([alice.put(path, files.truncated_pdf())])

    record = alice.record(path)
    assert before
    assert record is not None
    assert (record.status, record.indexed_at) == (DocumentStatus.FAILED, None)
    assert "cut off" in str(record.status_reason)
    assert "the version before it is not found any more" in str(record.status_reason)
    assert path.rpartition("/")[2] not in alice.files_found(question)
