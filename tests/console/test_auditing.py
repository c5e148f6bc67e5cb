"""The audit of the console: a line for each look at a file or a text."""

from stackroom.gateway.access import Access
from stackroom_console.routes import ROUTES
from tests.console.browser import Browser
from tests.console.test_access import NOBODYS, call, told
from tests.console.things import dropped, indexed, new_catalog
from tests.functions.pipeline import Pipeline

TEXT = "Annual leave is thirty days for everyone."
READING = [each for each in ROUTES if each.reads]


def test_what_is_audited_is_what_hands_out_texts_and_files_and_an_operators_look() -> None:
    assert {told(each): each.reads for each in READING} == {
        "GET /catalogs/{catalog_id}/documents/{document_id}/file": "open_file",
        "POST /ask": "ask",
        "GET /operations": "operations",
        "GET /operations/part": "operations",
    }


def test_opening_a_file_is_told_with_who_and_what_and_no_other_page_is(
    alice: Browser, pipeline: Pipeline, accesses: list[Access]
) -> None:
    catalog = new_catalog(alice)
    document = dropped(pipeline, "alice", catalog, "secret plans.txt", TEXT)

    alice.get(f"/catalogs/{catalog}")
    alice.get("/ask")
    alice.get(f"/catalogs/{catalog}/documents/{document}/file?save")

    [line] = accesses
    assert line.latency_ms >= 0
    assert (line.tool, line.outcome, line.user_id) == ("open_file", "success", "alice")
    assert (line.catalog_id, line.document_id) == (catalog, document)
    assert line.document_ids == (document,)
    assert "plans" not in repr(line)


def test_a_question_is_told_by_the_documents_that_it_showed_and_never_by_its_words(
    alice: Browser, pipeline: Pipeline, accesses: list[Access]
) -> None:
    catalog = new_catalog(alice)
    document = indexed(pipeline, "alice", catalog, "leave.txt", TEXT)

    alice.post("/ask", query="How long is annual leave?", catalog=catalog)

    [line] = accesses
    assert (line.tool, line.outcome, line.user_id) == ("ask", "success", "alice")
    assert (line.catalog_id, line.document_ids) == (catalog, (document,))
    assert "leave" not in repr(line)


def test_what_is_refused_is_told_with_who_tried(
    alice: Browser, bob: Browser, pipeline: Pipeline, accesses: list[Access]
) -> None:
    catalog = new_catalog(alice)
    document = dropped(pipeline, "alice", catalog, "a.txt")

    bob.get(f"/catalogs/{catalog}/documents/{document}/file")
    bob.post("/ask", query="", catalog=catalog)

    opened, asked = accesses
    assert (opened.user_id, opened.outcome) == ("bob", "CATALOG_NOT_FOUND")
    assert (opened.document_id, opened.document_ids) == (document, ())
    assert (asked.user_id, asked.outcome, asked.document_ids) == ("bob", "VALIDATION_ERROR", ())


def test_somebody_who_has_not_signed_in_is_told_as_nobody(
    browser: Browser, accesses: list[Access]
) -> None:
    for endpoint in READING:
        call(browser, endpoint, NOBODYS, None)

    lines = [(each.tool, each.outcome, each.user_id) for each in accesses]
    assert lines == [(each.reads, "NOT_SIGNED_IN", None) for each in READING]
