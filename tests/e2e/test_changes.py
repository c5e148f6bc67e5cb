"""Files that are dropped again, changed, broken, mended, removed and brought back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import ClientError

from stackroom.model import DocumentStatus
from tests.e2e.people import Person
from tests.e2e.traffic import await_rest
from tests.files import encrypted_pdf, pdf, truncated_pdf

CATALOG = "household"


@dataclass(frozen=True)
class Before:
    """What was so before anything was changed."""

    ids: dict[str, str]  # documents by path
    found: list[str]


@pytest.fixture(scope="module")
def before(bob: Person) -> Before:
    dropped = bob.put_all(
        {
            f"{CATALOG}/changed.txt": "The key to the cellar lies under the blue flowerpot.",
            f"{CATALOG}/removed.txt": "The piano tuner comes on the ninth of May.",
            f"{CATALOG}/brought back.txt": "The lawn mower is lent to the vicar.",
            f"{CATALOG}/mended.pdf": truncated_pdf(),
            f"{CATALOG}/spoilt.pdf": pdf("The chimney sweep charges forty crowns."),
        }
    )
    bob.settle(dropped)
    # so that what is missing later was there
    assert {"spoilt.pdf", "removed.txt"} <= set(files_found(bob, "who comes when?"))
    ids = {key.removeprefix("bob/"): record.document_id for key, record in bob.records().items()}
    return Before(ids, files_found(bob, "where is what, and who comes when?"))


@pytest.fixture(scope="module")
def after(bob: Person, before: Before, aws: Callable[[str], Any]) -> Before:
    """The same once everything was changed at once."""
    marker = bob.remove(f"{CATALOG}/brought back.txt")
    bob.remove(f"{CATALOG}/removed.txt")
    bob.await_absence(f"{CATALOG}/brought back.txt")
    changed = [
        bob.put(f"{CATALOG}/changed.txt", "The key to the cellar lies in the mailbox."),
        bob.put(f"{CATALOG}/mended.pdf", pdf("The plumber was paid ninety crowns.")),
        bob.put(f"{CATALOG}/spoilt.pdf", encrypted_pdf()),
    ]
    aws("s3").delete_object(
        Bucket=bob.instance.bucket, Key=f"bob/{CATALOG}/brought back.txt", VersionId=marker
    )
    bob.settle(changed)
    bob.await_status(f"{CATALOG}/brought back.txt", DocumentStatus.INDEXED)
    bob.await_absence(f"{CATALOG}/removed.txt")
    await_rest(aws)
    ids = {key.removeprefix("bob/"): record.document_id for key, record in bob.records().items()}
    return Before(ids, files_found(bob, "where is what, and who comes when?"))


def files_found(bob: Person, question: str) -> list[str]:
    """In this catalog alone: the best of all that he has could leave one of these no place."""
    return bob.files_found(question, catalog_id=bob.catalog(CATALOG).catalog_id)


def test_a_changed_file_is_one_document_with_its_new_passages_only(
    bob: Person, before: Before, after: Before
) -> None:
    contents = [each["content"] for each in bob.find("Where is the key to the cellar?")]

    assert after.ids[f"{CATALOG}/changed.txt"] == before.ids[f"{CATALOG}/changed.txt"]
    assert "mailbox" in contents[0]
    assert not any("flowerpot" in each for each in contents)
    assert after.found.count("changed.txt") == 1


def test_a_removed_file_is_gone_from_records_answers_bucket_and_knowledge_base(
    bob: Person, before: Before, after: Before, aws: Callable[[str], Any]
) -> None:
    answer = aws("bedrock-agent-runtime").retrieve(
        knowledgeBaseId=bob.catalog(CATALOG).knowledge_base_id,
        retrievalQuery={"text": "When does the piano tuner come?"},
        retrievalConfiguration={"vectorSearchConfiguration": {"numberOfResults": 100}},
    )

    with pytest.raises(ClientError, match="404"):
        aws("s3").head_object(
            Bucket=bob.instance.bucket, Key=f"bob/{CATALOG}/removed.txt.metadata.json"
        )

    assert "removed.txt" in before.found
    assert "removed.txt" not in after.found
    assert f"{CATALOG}/removed.txt" not in after.ids
    assert not any("piano" in each["content"]["text"] for each in answer["retrievalResults"])


def test_what_was_brought_back_or_mended_is_searchable(
    bob: Person, before: Before, after: Before
) -> None:
    record = bob.record(f"{CATALOG}/mended.pdf")
    mended = bob.find("How much was the plumber paid?")[0]
    brought_back = bob.find("Who has borrowed the lawn mower?")[0]

    assert "mended.pdf" not in before.found
    assert record is not None
    assert (record.status, record.status_reason) == (DocumentStatus.INDEXED, None)
    assert mended["source"]["filename"] == "mended.pdf"
    assert brought_back["source"]["filename"] == "brought back.txt"
    assert after.found.count("brought back.txt") == 1


def test_a_bad_version_over_an_indexed_one_takes_its_passages_away(
    bob: Person, after: Before
) -> None:
    record = bob.record(f"{CATALOG}/spoilt.pdf")

    assert record is not None
    assert record.status is DocumentStatus.FAILED
    assert "password" in (record.status_reason or "")
    assert "spoilt.pdf" not in after.found
