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
from tests.e2e.zoo import BAD, GOOD
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
        ({"domain": ["birds", "reptiles"], "taxonomy": "old"}, True),
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
