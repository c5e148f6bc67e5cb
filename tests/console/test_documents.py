"""One document's page: how far it is, what happened to it, and its passages as they were cut."""

import re
from dataclasses import replace
from html import unescape
from unittest.mock import Mock

import pytest

from stackroom.aws import session
from stackroom.catalogs.changes import change_of
from stackroom.model.records import DocumentStatus
from stackroom.search.document_passages import MOST
from stackroom_console.console import Console
from stackroom_console.pages import document_pages
from tests.aws.stores import BUCKET
from tests.console.browser import Browser
from tests.console.things import dropped, indexed, ingested, new_catalog
from tests.functions.pipeline import Pipeline

HOSTILE = "<script>alert(1)</script> thirty days"


def read(text: str) -> str:
    """Return the text as a person reads it."""
    return unescape(" ".join(re.sub("<[^>]+>", " ", text).split()))


def passages(text: str) -> list[str]:
    return [read(each) for each in re.findall(r'<li id="passage-\d+">.*?</li>', text, re.S)]


def test_the_page_shows_state_facts_and_passages(alice: Browser, pipeline: Pipeline) -> None:
    catalog = new_catalog(alice)
    document = indexed(pipeline, "alice", catalog, "2026/leave.txt", HOSTILE)
    at = f"/catalogs/{catalog}/documents/{document}"

    text = alice.get(at).text

    assert "2026/leave.txt searchable Text Download" in read(text)
    assert "indexed" not in read(text).lower()
    assert f'href="/catalogs/{catalog}"' in text
    assert all(each in text for each in ("TXT, 37 B", document, f'href="{at}/file?save"'))
    [passage] = passages(text)
    assert passage == f"1 in the text about 10 tokens {HOSTILE}"
    assert "<script>alert" not in text
    assert "1 passage" in read(text)
    assert "<iframe" not in text  # only a PDF is shown in one
    assert re.search(f'id="read" [^>]*hx-get="{at}/text"', text)
    assert f'hx-get="{at}/text?from=' in text


def test_document_page_shows_its_gaps(alice: Browser, pipeline: Pipeline, console: Console) -> None:
    catalog = new_catalog(alice)
    document_id = indexed(pipeline, "alice", catalog, "lease.txt", "thirty days")
    documents = console.services.documents
    before = documents.get(catalog, document_id)
    assert before is not None
    after = documents.save(before.model_copy(update={"gaps": ("1 of 2 pages looks garbled: 2",)}))
    change = change_of(before, after, event_id="e1", at=after.updated_at)
    assert change is not None
    console.services.events.append("alice", [change])

    text = alice.get(f"/catalogs/{catalog}/documents/{document_id}").text

    standing = text.split('class="standing"')[1].partition("</p>")[0]
    assert read(standing).endswith("searchable 1 of 2 pages looks garbled: 2")
    assert '<span class="gap">1 of 2 pages looks garbled: 2</span>' in standing
    history = re.findall(r"</time> <bdi>(.*?)</bdi>", text)
    assert history == ["Searchable: with gaps: 1 of 2 pages looks garbled: 2"]


@pytest.mark.slow
def test_replaced_document_says_that_its_earlier_version_is_searchable(
    alice: Browser, pipeline: Pipeline
) -> None:
    catalog = new_catalog(alice)
    document = indexed(pipeline, "alice", catalog, "leave.txt", "Thirty days of leave.")
    at = f"/catalogs/{catalog}/documents/{document}"
    before = read(alice.get(at).text)

    dropped(pipeline, "alice", catalog, "leave.txt", "Forty days of leave.")

    after = read(alice.get(at).text)
    assert "Earlier version" not in before
    assert "Earlier version searchable since" in after
    assert "These passages are from the earlier version." in after
    assert "Thirty days" in after


def test_unindexed_document_shows_its_state_and_failed_one_the_reason(
    alice: Browser, pipeline: Pipeline
) -> None:
    catalog = new_catalog(alice)
    waits = dropped(pipeline, "alice", catalog, "waits.txt")
    failed = dropped(pipeline, "alice", catalog, "bad.exe")

    waiting, broken = (
        read(alice.get(f"/catalogs/{catalog}/documents/{each}").text) for each in (waits, failed)
    )

    assert "pending Starting, about" in waiting
    assert "Not indexed yet." in waiting
    assert "File type '.exe' not supported." in broken
    assert "Fix the file and upload it again." in broken
    assert "Retry" not in broken


@pytest.mark.slow
def test_passages_come_in_the_documents_order_a_page_at_a_time(
    alice: Browser, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_pages, "_PASSAGES", 2)
    catalog = new_catalog(alice)
    words = " ".join(f"word{number:04}" for number in range(700))
    document = indexed(pipeline, "alice", catalog, "long.txt", words)
    path, seen = f"/catalogs/{catalog}/documents/{document}", list[str]()

    while path:
        text = alice.get(unescape(path)).text
        seen += [re.findall(r"word\d+", each)[0] for each in passages(text)]
        more = re.findall(r'href="([^"]+)#passages">Next page', text)
        path = more[0] if more else ""

    assert len(seen) > 2
    assert seen == sorted(seen)
    found = passages(alice.get(f"/catalogs/{catalog}/documents/{document}?find=word0699").text)
    assert ["word0699" in each for each in found] == [True]
    assert alice.get(f"/catalogs/{catalog}/documents/{document}?from=x").status_code == 400


def test_indexed_document_can_be_ingested_again(alice: Browser, pipeline: Pipeline) -> None:
    catalog = new_catalog(alice)
    document = ingested(pipeline, "alice", catalog, "a.txt", "thirty days")
    at, key = f"/catalogs/{catalog}/documents/{document}", f"alice/{catalog}/a.txt"
    before = pipeline.document(key)
    assert before is not None

    answer = alice.post(f"{at}/ingest-again")
    again = alice.post(f"{at}/ingest-again")
    waiting = pipeline.document(key)
    pipeline.settle(key)
    after = pipeline.document(key)

    assert answer.headers["location"] == at
    assert again.status_code == 409
    assert waiting is not None
    assert waiting.status is DocumentStatus.PENDING
    assert after is not None
    assert after.status is DocumentStatus.INDEXED
    assert after.ingestion_job_id != before.ingestion_job_id
    assert passages(alice.get(at).text) != []


def test_passages_come_anew_once_it_is_settled_and_not_before(
    alice: Browser, pipeline: Pipeline
) -> None:
    """Each look at them asks the store."""
    catalog = new_catalog(alice)
    document = dropped(pipeline, "alice", catalog, "a.txt", "thirty days")
    at = f"/catalogs/{catalog}/documents/{document}"

    waiting = alice.part(f"{at}/part").text
    pipeline.settle(f"alice/{catalog}/a.txt")
    settled = alice.part(f"{at}/part").text

    assert 'id="document"' in waiting
    assert 'id="passages"' not in waiting
    [address] = re.findall(
        r'<section id="passages" [^>]*hx-get="([^"]+)" hx-trigger="load"', settled
    )
    assert passages(alice.part(address).text) != []


def test_the_page_stays_useful_when_the_store_does_not_answer(
    alice: Browser, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch, console: Console
) -> None:
    catalog = new_catalog(alice)
    document = indexed(pipeline, "alice", catalog, "a.txt", "thirty days")
    nobody = replace(console.services.document_passages, pool={})
    monkeypatch.setitem(vars(console.services), "document_passages", nobody)

    text = read(alice.get(f"/catalogs/{catalog}/documents/{document}").text)

    assert "searchable" in text
    assert "Passages can't be loaded right now." in text


def test_page_says_what_of_a_document_is_in_no_passage_it_shows(
    alice: Browser, pipeline: Pipeline, console: Console
) -> None:
    catalog = new_catalog(alice)
    document = indexed(pipeline, "alice", catalog, "a.txt", "thirty days")
    whole = console.services.document_passages.of("alice", catalog, document)
    contents = replace(whole.passages[0], is_navigation=True)
    part = replace(
        whole,
        passages=(contents,),
        is_whole=False,
        is_ordered=False,
        blank=(2, 4, 5, 6),
        without_passage=(7,),
    )
    console.services.document_passages = Mock(of=Mock(return_value=part))

    text = read(alice.get(f"/catalogs/{catalog}/documents/{document}").text)

    assert f"At most {MOST} passages are shown." in text
    assert "Passages are in no particular order" in text
    assert "Pages 2, 4 to 6 have no text." in text
    assert "Page 7 isn't in any passage, so searches can't find it." in text
    assert "1 passage is from a table of contents or an index" in text


def test_document_being_deleted_shows_its_receipt_and_no_text(
    alice: Browser, pipeline: Pipeline, console: Console
) -> None:
    catalog = new_catalog(alice)
    document = indexed(pipeline, "alice", catalog, "a.txt", "thirty days")
    at = f"/catalogs/{catalog}/documents/{document}"

    alice.post(f"{at}/delete")
    [receipt] = console.services.receipts.of_user("alice")
    asked = change_of(None, receipt, event_id="e1", at=receipt.asked_at)
    assert asked is not None
    console.services.events.append("alice", [asked])

    page = alice.get(at)
    unknown = alice.get(f"/catalogs/{catalog}/documents/doc-{'0' * 24}")
    assert unknown.status_code == 404
    history = re.findall(r"</time>(.*?)</li>", page.text, re.S)
    assert any(receipt.receipt_id in each for each in history), history
    assert page.status_code == 200
    assert re.search('id="receipt-link" [^>]*href="/receipts/rcpt-', page.text)
    assert "This document is being deleted" in page.text
    assert session.client("s3").list_objects_v2(Bucket=BUCKET, Prefix="alice/")["KeyCount"] == 0
