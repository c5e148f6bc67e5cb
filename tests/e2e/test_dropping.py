"""Everything of the zoo, dropped at once: what is taken is found, what is not says why."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stackroom.model import Document, DocumentStatus
from stackroom_local.state import Instance
from tests.e2e.people import Person
from tests.e2e.zoo import BAD, GOOD, Bad, Good
from tests.files import pdf
from tests.local.running import stackroom

CATALOG = "research"
RESUME = "2026/Q1 résumé (final)+v2.pdf"
# Longer than a passage each, so that a passage about the end of a page begins on that page.
CASH_DESK = "\n".join(f"Cash desk {each} sold tickets and postcards all day." for each in range(50))
VISITORS = "\n".join(f"In week {each} school classes came to see the seals." for each in range(50))


@pytest.fixture(scope="module")
def zoo(
    alice: Person, shell: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Document]:
    """Records by file name, once everything is settled."""
    resume = tmp_path_factory.mktemp("zoo") / "resume.pdf"
    resume.write_bytes(pdf(CASH_DESK, f"{VISITORS}\nThe aquarium leaked twice in February."))
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
    return {
        key.removeprefix(prefix): record
        for key, record in alice.records().items()
        if key.startswith(prefix)
    }


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name[:40])
def test_a_good_file_is_indexed_and_found(
    alice: Person, zoo: dict[str, Document], case: Good
) -> None:
    best = alice.find(case.question)[0]

    assert (zoo[case.name].status, zoo[case.name].status_reason) == (DocumentStatus.INDEXED, None)
    assert best["source"]["filename"] == case.name
    assert case.phrase in best["content"]
    assert best["source"]["document_id"] == zoo[case.name].document_id


def test_a_name_with_folders_accents_and_brackets_is_found_with_its_page(
    alice: Person, zoo: dict[str, Document]
) -> None:
    best = alice.find("When did the aquarium leak?")[0]

    assert best["source"]["filename"] == RESUME
    assert best["source"]["page"] == 2
    assert best["source"]["uri"] == f"s3://{alice.instance.bucket}/alice/{CATALOG}/{RESUME}"


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name[:40])
def test_a_bad_file_fails_with_a_reason_and_is_not_found(
    alice: Person, zoo: dict[str, Document], case: Bad
) -> None:
    of_it = {"filename": case.name}
    found = alice.files_found("What is the unicorn fed?", filter=of_it)
    found += alice.files_found("What is the launch code?", filter=of_it)

    assert zoo[case.name].status is DocumentStatus.FAILED
    assert re.search(case.reason, zoo[case.name].status_reason or ""), zoo[case.name].status_reason
    assert found == []


def test_every_object_has_one_record_and_one_sidecar(
    alice: Person, zoo: dict[str, Document], aws: Callable[[str], Any]
) -> None:
    pages = (
        aws("s3")
        .get_paginator("list_objects_v2")
        .paginate(Bucket=alice.instance.bucket, Prefix=f"alice/{CATALOG}/")
    )
    keys = {found["Key"] for page in pages for found in page["Contents"]}
    documents = {key for key in keys if not key.endswith(".metadata.json")}

    assert {f"alice/{CATALOG}/{each.name}" for each in (*GOOD, *BAD)} <= documents
    assert documents <= alice.records().keys()
    assert keys - documents == {f"{key}.metadata.json" for key in documents}


@pytest.mark.parametrize(
    ("filter_", "is_found"),
    [
        ({"domain": "reptiles"}, True),
        ({"domain": ["birds", "reptiles"]}, True),
        ({"taxonomy": "armoured"}, True),
        ({"domain": "reptiles", "taxonomy": "old"}, True),
        ({"domain": "birds"}, False),
        ({"domain": "reptiles", "taxonomy": "furry"}, False),
        ({"unrelated": "is nobody's business"}, False),
    ],
    ids=str,
)
def test_attributes_narrow_a_search_to_the_files_that_carry_them(
    alice: Person, zoo: dict[str, Document], filter_: dict[str, object], is_found: bool
) -> None:
    found = alice.files_found("What is the tortoise fed?", filter=filter_)

    assert found == (["with attributes.txt"] if is_found else [])


def test_a_search_says_what_its_files_carry(alice: Person, zoo: dict[str, Document]) -> None:
    best = alice.find("What is the tortoise fed?")[0]

    assert best["metadata"]["domain"] == "reptiles"
    assert best["metadata"]["taxonomy"] == ["slow", "old", "armoured"]


def test_another_spelling_of_a_catalog_is_refused_naming_its_prefix(
    alice: Person, zoo: dict[str, Document]
) -> None:
    alice.settle([alice.put("Research/spelling.txt", "The unicorn is fed moonlight.")])

    record = alice.record("Research/spelling.txt")
    assert record is not None
    assert record.status is DocumentStatus.FAILED
    assert record.status_reason == (
        "catalog 'research' has the prefix 'alice/research/'; drop the file there"
    )
    of_it = {"filename": "spelling.txt"}
    assert alice.files_found("What is the unicorn fed?", filter=of_it) == []


def test_the_command_line_shows_every_file_with_its_reason(
    instance: Instance, zoo: dict[str, Document]
) -> None:
    shown = stackroom("status", "--user", "alice", state_dir=instance.state_dir).stdout

    assert "🦊 and friends.txt" in shown
    assert re.search(r"alice/research +empty\.txt +0 B +failed .*the file is empty", shown)
    assert re.search(r"alice/research +a\+b\.txt .* indexed", shown)


def test_dropping_again_what_failed_and_what_was_indexed_is_told_apart(
    alice: Person, instance: Instance, zoo: dict[str, Document], tmp_path: Path
) -> None:
    """An indexed file dropped again is still indexed; a failed one has another try, and fails."""
    (tmp_path / "a+b.txt").write_bytes(next(each.body for each in GOOD if each.name == "a+b.txt"))
    (tmp_path / "empty.txt").write_bytes(b"")

    dropped = stackroom(
        *("drop", str(tmp_path), "--user", "alice", "--catalog", CATALOG, "--wait"),
        state_dir=instance.state_dir,
    )

    assert dropped.returncode == 1
    assert re.search(r"failed +alice/research/empty\.txt +the file is empty", dropped.stdout)
    assert re.search(r"1 failed, 1 indexed\nall settled", dropped.stdout)
    of_it = {"filename": "a+b.txt"}
    assert alice.files_found("What is the pelican fed?", filter=of_it) == ["a+b.txt"]
