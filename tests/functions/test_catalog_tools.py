"""The catalog tools as the gateway calls them: every row of the contract, word for word."""

import re
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

import functions.catalog_tools.handler as function
from stackroom.aws import session
from stackroom.retrieval.pacing import TurnTaking
from stackroom_local.simulator.assumptions import Assumptions
from stackroom_local.simulator.disturbances import Kind
from tests.aws.stores import BUCKET
from tests.functions.pipeline import Pipeline
from tests.functions.printed import Printed
from tests.functions.tools import GatewayContext, Tools, encoded, text_of, told_of

MODEL = "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0"
ABSENT = "cat-000000000000000000000000"
NOBODYS = "doc-000000000000000000000000"


@pytest.fixture
def tools(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tools]:
    monkeypatch.setenv("ANSWER_MODEL_ARN", MODEL)
    function.use_cases.cache_clear()
    with pipeline.bedrock.answering(session.client("writing")):
        yield Tools(pipeline=pipeline)
    function.use_cases.cache_clear()


def test_creating_a_catalog(tools: Tools) -> None:
    answer = tools.call("create_catalog", catalog_name="Research", description="papers")

    catalog_id = answer["metadata"]["catalog_id"]
    assert re.fullmatch(r"cat-[0-9a-f]{24}", catalog_id)
    assert text_of(answer) == (
        f"Created catalog 'Research' (ID: {catalog_id}). Ready for document uploads."
    )
    assert answer["status"] == "success"
    assert answer["metadata"] == {
        "tool_type": "knowledge_base",
        "catalog_id": catalog_id,
        "catalog_name": "Research",
        "data_source_id": None,
        "s3_prefix": f"alice/{catalog_id}/",
    }


def test_listing_catalogs_right_after_they_were_made(tools: Tools) -> None:
    second, first = tools.create("Zoo"), tools.create("Ants")
    tools.of("bob").create("Foreign")

    answer = tools.call("list_catalogs")

    lines = text_of(answer).splitlines()
    assert lines[0] == "Found 2 catalogs:"
    assert lines[1] == f"1. **Ants** ({first})"
    assert [line.strip() for line in lines[2:4]] == ["- 0 documents, 0 B", "- Status: ready"]
    assert re.fullmatch(r" +- Last updated: \d{4}-\d\d-\d\d", lines[4])
    assert lines[5] == f"2. **Zoo** ({second})"
    metadata = answer["metadata"]
    assert (metadata["catalog_count"], metadata["next_token"]) == (2, None)
    assert [each["catalog_id"] for each in metadata["catalogs"]] == [first, second]
    assert metadata["catalogs"][0].keys() == {
        "catalog_id",
        "catalog_name",
        "document_count",
        "total_size_mb",
        "indexing_status",
        "last_updated",
    }


def test_a_list_of_many_catalogs_goes_on_where_the_page_before_ended(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stackroom.catalogs.listing.CATALOGS", 2)
    made = [tools.create(f"Catalog {number}") for number in range(3)]

    first = tools.call("list_catalogs")["metadata"]
    second = tools.call("list_catalogs", next_token=first["next_token"])["metadata"]

    listed = [each["catalog_id"] for page in (first, second) for each in page["catalogs"]]
    assert listed == made
    assert (first["catalog_count"], second["catalog_count"]) == (3, 3)
    assert second["next_token"] is None


def test_uploading_a_file_in_the_call(tools: Tools) -> None:
    catalog_id = tools.create()

    answer = tools.call(
        "upload_to_catalog",
        catalog_id=catalog_id,
        filename="Größe.txt",
        file_content=encoded("thirty days"),
        metadata={"domain": "Größe", "tags": ["a", "ö"]},
    )
    listed = tools.call("list_catalog_documents", catalog_id=catalog_id)

    document_id = answer["metadata"]["document_id"]
    assert text_of(answer) == (
        f"Uploaded 'Größe.txt' to catalog 'Research' (ID: {document_id}). Indexing started."
    )
    assert answer["metadata"] == {
        "tool_type": "knowledge_base",
        "document_id": document_id,
        "catalog_id": catalog_id,
        "filename": "Größe.txt",
        "file_size_kb": 0.0,
        "indexing_status": "pending",
    }
    [document] = listed["metadata"]["documents"]
    assert (document["document_id"], document["indexing_status"]) == (document_id, "pending")
    sidecar = sidecar_after_its_event(tools, catalog_id, "Größe.txt")
    assert '"domain":"Größe"' in sidecar
    assert '"tags":["a","ö"]' in sidecar


def sidecar_after_its_event(tools: Tools, catalog_id: str, filename: str) -> str:
    tools.arrive(catalog_id, filename)
    key = f"{tools.user}/{catalog_id}/{filename}.metadata.json"
    body = session.client("s3").get_object(Bucket=BUCKET, Key=key)["Body"].read()
    return str(body.decode())


def test_a_link_for_a_file_names_all_that_the_upload_may_be(tools: Tools) -> None:
    catalog_id = tools.create()

    answer = tools.call(
        "upload_to_catalog", catalog_id=catalog_id, filename="a.pdf", metadata={"domain": "hr"}
    )

    metadata, text = answer["metadata"], text_of(answer)
    fields = metadata["upload_fields"]
    assert (metadata["indexing_status"], metadata["expires_in_seconds"]) == ("uploading", 900)
    assert fields["key"] == f"alice/{catalog_id}/a.pdf"
    assert fields["Content-Type"] == "application/pdf"
    assert fields["x-amz-meta-kb-domain"] == "hr"
    assert metadata["document_id"] in text
    assert metadata["upload_url"] in text
    assert all(value in text for value in fields.values())
    [listed] = tools.call("list_catalog_documents", catalog_id=catalog_id)["metadata"]["documents"]
    assert listed["indexing_status"] == "uploading"


def test_listing_documents_shows_the_reason_of_a_failure(tools: Tools) -> None:
    catalog_id = tools.create()
    document_id = tools.upload(catalog_id, "a.txt")
    session.client("s3").put_object(
        Bucket=BUCKET, Key=f"alice/{catalog_id}/b|c.exe", Body=b"x", ContentType="text/plain"
    )
    tools.arrive(catalog_id, "b|c.exe")

    answer = tools.call("list_catalog_documents", catalog_id=catalog_id)

    lines = text_of(answer).splitlines()
    assert lines[0] == "Catalog 'Research' contains 2 documents:"
    assert lines[2] == "| Filename | ID | Size | Status | Uploaded |"
    assert lines[4].startswith(f"| a.txt | {document_id} | 11 B | pending | 20")
    assert lines[5].startswith("| b\\|c.exe | doc-")
    assert "| failed: File type '.exe' not supported." in lines[5].replace("’", "'")
    failed = answer["metadata"]["documents"][1]
    assert failed["status_reason"].startswith("File type '.exe' not supported.")
    assert failed.keys() == {
        "document_id",
        "filename",
        "file_size_kb",
        "indexing_status",
        "status_reason",
        "uploaded_at",
    }


@pytest.mark.parametrize(
    "assumptions",
    [Assumptions(), Assumptions(custom_documents_tell_source=False)],
    ids=["with source keys", "without"],
)
def test_asking_and_all_that_follows_from_an_indexed_document(
    assumptions: Assumptions,  # the pipeline's
    tools: Tools,
) -> None:
    catalog_id = tools.create()
    document_id = tools.index(catalog_id, "leave.txt", "Annual leave is thirty days for everyone.")

    selected = tools.call("select_catalog", catalog_id=catalog_id)
    answer = tools.call("query_catalog", query="How long is annual leave?")
    status = tools.call("get_indexing_status", catalog_id=catalog_id)

    assert text_of(selected) == (
        "Selected catalog 'Research' for queries. Ask me anything about your documents!"
    )
    assert selected["metadata"] == {
        "tool_type": "knowledge_base",
        "catalog_id": catalog_id,
        "catalog_name": "Research",
        "document_count": 1,
        "active": True,
    }
    lines = text_of(answer).splitlines()
    assert lines[0].startswith("Based on your documents: ")
    assert "thirty days" in lines[0]
    assert lines[-2:] == ["**Sources:**", "1. leave.txt"]
    [source] = answer["metadata"]["sources"]
    assert source["document_id"] == document_id
    assert source["chunk_text"] == "Annual leave is thirty days for everyone."
    assert 0 < source["relevance_score"] <= 1
    assert source.keys() == {
        "filename",
        "document_id",
        "chunk_text",
        "relevance_score",
        "page",
        "page_first",
        "page_last",
        "section",
    }
    assert (answer["metadata"]["catalog_id"], answer["metadata"]["guardrail_action"]) == (
        catalog_id,
        "NONE",
    )
    assert "**Overall**: ready (1 of 1 document ready)" in text_of(status).splitlines()
    assert status["metadata"] == {
        "tool_type": "knowledge_base",
        "catalog_id": catalog_id,
        "overall_status": "ready",
        "documents": {"indexed": 1, "indexing": 0, "pending": 0, "failed": 0},
        "eta_seconds": 0,
        "failures": [],
    }


def test_the_status_has_a_line_for_each_file_that_is_not_ready(tools: Tools) -> None:
    catalog_id = tools.create()
    tools.index(catalog_id, "a.txt")
    pending = tools.upload(catalog_id, "b.txt")
    session.client("s3").put_object(Bucket=BUCKET, Key=f"alice/{catalog_id}/c.exe", Body=b"x")
    tools.arrive(catalog_id, "c.exe")

    answer = tools.call("get_indexing_status", catalog_id=catalog_id)

    lines = text_of(answer).splitlines()
    assert lines[1] == "**Overall**: indexing (1 of 3 documents ready)"
    assert lines[2].startswith(f"- b.txt ({pending}): pending, ")
    assert lines[3].startswith("- c.exe (doc-")
    assert "failed: File type" in lines[3]
    metadata = answer["metadata"]
    assert metadata["documents"] == {"indexed": 1, "indexing": 0, "pending": 1, "failed": 1}
    assert metadata["eta_seconds"] > 0
    [failure] = metadata["failures"]
    assert failure["filename"] == "c.exe"
    assert failure["reason"].startswith("File type '.exe'")


def test_deselecting(tools: Tools) -> None:
    tools.call("select_catalog", catalog_id=tools.create())

    answer = tools.call("select_catalog", catalog_id="none")
    asked = tools.call("query_catalog", query="anything?")

    assert text_of(answer) == "Catalog deselected. Specify catalog_id when querying."
    assert answer["metadata"]["active"] is False
    assert told_of(asked)[0] == "NO_CATALOG_SELECTED"


def test_a_selection_is_of_one_user_in_one_session_for_twelve_hours(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog_id = tools.create()
    tools.call("select_catalog", catalog_id=catalog_id)

    here = tools.call("query_catalog", query="anything?")
    elsewhere = tools.of("alice", "session-2").call("query_catalog", query="anything?")
    others = tools.of("bob").call("query_catalog", query="anything?")
    monkeypatch.setattr("stackroom.catalogs.selection._LASTS", timedelta(seconds=-1))
    tools.call("select_catalog", catalog_id=catalog_id)
    later = tools.call("query_catalog", query="anything?")

    assert told_of(here)[0] == "CATALOG_EMPTY"
    assert [told_of(each)[0] for each in (elsewhere, others, later)] == ["NO_CATALOG_SELECTED"] * 3


def test_deleting_a_document(tools: Tools) -> None:
    catalog_id = tools.create()
    document_id = tools.index(catalog_id, "a.txt")

    answer = tools.call("delete_catalog_document", catalog_id=catalog_id, document_id=document_id)
    again = tools.call("download_from_catalog", catalog_id=catalog_id, document_id=document_id)

    assert text_of(answer) == "Deleted 'a.txt' from catalog. Vector cleanup initiated."
    assert re.fullmatch(r"rcpt-\w+-\w+", answer["metadata"].pop("receipt_id"))
    assert answer["metadata"] == {
        "tool_type": "knowledge_base",
        "document_id": document_id,
        "filename": "a.txt",
        "vectors_removed": False,
    }
    assert told_of(again)[0] == "DOCUMENT_NOT_FOUND"


def test_deleting_a_catalog_takes_two_calls(tools: Tools) -> None:
    catalog_id = tools.create()
    tools.index(catalog_id, "a.txt")
    tools.index(catalog_id, "b.txt")

    first = tools.call("delete_catalog", catalog_id=catalog_id)
    documents = tools.call("list_catalog_documents", catalog_id=catalog_id)
    second = tools.call("delete_catalog", catalog_id=catalog_id, confirm=True)

    assert told_of(first) == (
        "CONFIRMATION_REQUIRED",
        f"Error: Catalog 'Research' ({catalog_id}) and its 2 documents (22 B) would be deleted. "
        "Call again with confirm=true to delete",
    )
    assert documents["metadata"]["document_count"] == 2
    assert text_of(second).startswith("Deleted catalog 'Research' and all 2 documents. ")
    assert "still being removed" in text_of(second)
    assert second["metadata"] == {
        "tool_type": "knowledge_base",
        "catalog_id": catalog_id,
        "documents_deleted": 2,
        "storage_freed_mb": 0.0,
        "data_source_deleted": False,
        "vectors_cleanup_initiated": True,
        "receipt_ids_count": 2,
    }


def test_a_catalog_that_is_being_deleted_takes_nothing_and_says_since_when(tools: Tools) -> None:
    catalog_id = tools.create()
    document_id = tools.index(catalog_id, "a.txt")
    tools.call("select_catalog", catalog_id=catalog_id)
    tools.call("delete_catalog", catalog_id=catalog_id, confirm=True)
    named: dict[str, dict[str, Any]] = {
        "create_catalog": {"catalog_name": "Research"},
        "upload_to_catalog": {"catalog_id": catalog_id, "filename": "b.txt"},
        "select_catalog": {"catalog_id": catalog_id},
        "query_catalog": {"catalog_id": catalog_id, "query": "anything?"},
        "delete_catalog": {"catalog_id": catalog_id},
        "delete_catalog_document": {"catalog_id": catalog_id, "document_id": document_id},
        "download_from_catalog": {"catalog_id": catalog_id, "document_id": document_id},
    }

    refused = {tool: told_of(tools.call(tool, **given)) for tool, given in named.items()}
    listed = tools.call("list_catalogs")
    selected = tools.call("query_catalog", query="anything?")

    assert {code for code, _ in refused.values()} == {"CATALOG_DELETING"}
    for _, text in refused.values():
        assert re.fullmatch(
            r"Error: Catalog 'Research' is being deleted since \d{4}-\d\d-\d\d \d\d:\d\d UTC", text
        )
    assert "- Status: deleting" in text_of(listed)
    assert told_of(selected)[0] == "NO_CATALOG_SELECTED"


def test_a_download_link_is_for_a_quarter_of_an_hour(tools: Tools) -> None:
    catalog_id = tools.create()
    document_id = tools.upload(catalog_id, "2026/Größe.txt")

    answer = tools.call("download_from_catalog", catalog_id=catalog_id, document_id=document_id)

    url = answer["metadata"]["download_url"]
    asked = urllib.parse.parse_qs(urllib.parse.urlparse(url).query)
    assert text_of(answer) == (f"Download link for '2026/Größe.txt' (expires in 15 minutes): {url}")
    assert (asked["X-Amz-Expires"], answer["metadata"]["expires_in_seconds"]) == (["900"], 900)
    assert asked["response-content-disposition"] == [
        "attachment; filename=\"Gr__e.txt\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.txt"
    ]


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "text"),
    [
        (
            "get_indexing_status",
            {"catalog_id": ABSENT},
            "CATALOG_NOT_FOUND",
            f"Catalog '{ABSENT}' not found",
        ),
        (
            "download_from_catalog",
            {"catalog_id": "CAT", "document_id": NOBODYS},
            "DOCUMENT_NOT_FOUND",
            f"Document '{NOBODYS}' not found in catalog",
        ),
        (
            "delete_catalog_document",
            {"catalog_id": "CAT", "document_id": NOBODYS},
            "DOCUMENT_NOT_FOUND",
            f"Document '{NOBODYS}' not found in catalog",
        ),
        (
            "create_catalog",
            {"catalog_name": "RESEARCH"},
            "DUPLICATE_NAME",
            "A catalog named 'Research' already exists",
        ),
        (
            "create_catalog",
            {"catalog_name": "a/b"},
            "INVALID_NAME",
            "Catalog name contains invalid characters",
        ),
        (
            "upload_to_catalog",
            {"catalog_id": "CAT", "filename": "a.exe", "file_content": encoded("x")},
            "INVALID_FILE_TYPE",
            "File type '.exe' not supported. Allowed: pdf, docx, txt, md, csv, html, xlsx",
        ),
        (
            "upload_to_catalog",
            {"catalog_id": "CAT", "filename": "a.exe"},
            "INVALID_FILE_TYPE",
            "File type '.exe' not supported. Allowed: pdf, docx, txt, md, csv, html, xlsx",
        ),
        (
            "upload_to_catalog",
            {"catalog_id": "CAT", "filename": "b.txt", "file_content": encoded(b"x" * 4_700_000)},
            "CONTENT_TOO_LARGE",
            "A call carries at most 4.4 MB of file. Call again without file_content for a link to "
            "upload it",
        ),
        (
            "upload_to_catalog",
            {"catalog_id": "CAT", "filename": "b.txt", "file_content": "eHh4" * 17_500_000},
            "FILE_TOO_LARGE",
            "File exceeds 50MB limit",
        ),
        (
            "upload_to_catalog",
            {"catalog_id": "CAT", "filename": "a.txt", "file_content": encoded("x")},
            "DUPLICATE_FILE",
            "File 'a.txt' already exists. Use replace=true to overwrite",
        ),
        (
            "upload_to_catalog",
            {"catalog_id": "CAT", "filename": "a.txt"},
            "DUPLICATE_FILE",
            "File 'a.txt' already exists. Use replace=true to overwrite",
        ),
        (
            "query_catalog",
            {"query": "anything?"},
            "NO_CATALOG_SELECTED",
            "No catalog selected. Use select_catalog first or specify catalog_id",
        ),
        (
            "query_catalog",
            {"query": "anything?", "catalog_id": "CAT"},
            "CATALOG_EMPTY",
            "Catalog has no indexed documents",
        ),
        (
            "query_catalog",
            {"query": "anything?", "catalog_id": "CAT", "num_results": 21},
            "VALIDATION_ERROR",
            "num_results: Input should be less than or equal to 20. Allowed: How many passages to "
            "answer from at most: an integer from 1 to 20, by default 5.",
        ),
        (
            "list_catalogs",
            {"user_id": "bob"},
            "VALIDATION_ERROR",
            "user_id: no such argument. Allowed: next_token",
        ),
    ],
)
def test_errors_word_for_word(
    tools: Tools, tool: str, arguments: dict[str, Any], code: str, text: str
) -> None:
    catalog_id = tools.create()
    tools.upload(catalog_id, "a.txt")
    given = {name: catalog_id if each == "CAT" else each for name, each in arguments.items()}

    answer = tools.call(tool, **given)

    assert told_of(answer) == (code, f"Error: {text}")
    assert answer["metadata"].keys() == {"tool_type", "error_code", "error_details"}


def test_nothing_relevant_is_no_answer(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog_id = tools.create()
    tools.index(catalog_id, "a.txt", "Annual leave is thirty days.")
    monkeypatch.setenv("RETRIEVE_MIN_SCORE", "1.5")
    function.use_cases.cache_clear()

    answer = tools.call("query_catalog", query="what is the melting point?", catalog_id=catalog_id)

    assert told_of(answer) == ("NO_RESULTS", "Error: No relevant information found for your query")


def test_the_hundred_and_first_catalog(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stackroom.aws.catalog_register.MAX_CATALOGS", 1)
    tools.create("one")

    code, text = told_of(tools.call("create_catalog", catalog_name="two"))

    assert (code, text) == ("LIMIT_EXCEEDED", "Error: Maximum catalog limit (1) reached")


@pytest.mark.parametrize("headers", [None, {"x-user-sub": ""}, {"x-session-id": "s"}])
def test_a_call_without_a_verified_user_is_refused(
    tools: Tools, headers: dict[str, str] | None
) -> None:
    context = GatewayContext(headers=headers, tool="catalogs___list_catalogs")

    code, text = told_of(tools.raw({}, context))

    assert code == "MISSING_IDENTITY"
    assert "sign in" in text


def test_without_a_session_nothing_can_be_selected(tools: Tools) -> None:
    catalog_id = tools.create()
    without = tools.of("alice", session=None)

    selecting = told_of(without.call("select_catalog", catalog_id=catalog_id))
    asking = told_of(without.call("query_catalog", query="anything?"))

    assert selecting[0] == "MISSING_IDENTITY"
    assert "Specify catalog_id" in selecting[1]
    assert asking[0] == "NO_CATALOG_SELECTED"


def test_a_list_counts_what_was_done_a_moment_ago(tools: Tools) -> None:
    catalog_id = tools.create()

    def listed() -> tuple[int, str]:
        [catalog] = tools.call("list_catalogs")["metadata"]["catalogs"]
        return catalog["document_count"], catalog["indexing_status"]

    given = {"catalog_id": catalog_id, "filename": "a.txt"}
    sent = tools.call("upload_to_catalog", **given, file_content=encoded("x"))
    after_upload = listed()
    tools.call("upload_to_catalog", **given, file_content=encoded("y"), replace=True)
    after_replacing = listed()
    tools.arrive(catalog_id, "a.txt")
    document_id = sent["metadata"]["document_id"]
    tools.call("delete_catalog_document", catalog_id=catalog_id, document_id=document_id)

    assert (after_upload, after_replacing) == ((1, "indexing"), (1, "indexing"))
    assert listed()[0] == 0


def test_a_replaced_document_is_ready_no_more(tools: Tools) -> None:
    catalog_id = tools.create()
    document_id = tools.index(catalog_id, "a.txt", "Leave is thirty days.")
    given = {"catalog_id": catalog_id, "filename": "a.txt"}

    tools.call(
        "upload_to_catalog", **given, file_content=encoded("Leave is forty days."), replace=True
    )
    status = tools.call("get_indexing_status", catalog_id=catalog_id)
    tools.arrive(catalog_id, "a.txt")
    tools.run(catalog_id, "a.txt")
    answer = tools.call("query_catalog", query="how long is leave?", catalog_id=catalog_id)

    assert status["metadata"]["overall_status"] == "indexing"
    assert status["metadata"]["documents"]["pending"] == 1
    [source] = answer["metadata"]["sources"]
    assert (source["document_id"], source["chunk_text"]) == (document_id, "Leave is forty days.")


def test_what_is_to_come_by_a_link_holds_nobody_up(tools: Tools) -> None:
    catalog_id = tools.create()
    tools.index(catalog_id, "a.txt")
    tools.call("upload_to_catalog", catalog_id=catalog_id, filename="b.txt")

    status = tools.call("get_indexing_status", catalog_id=catalog_id)

    lines = text_of(status).splitlines()
    assert lines[1] == "**Overall**: ready (1 of 1 document ready)"
    assert re.fullmatch(
        r"- b\.txt \(doc-\w+\): waits for its upload until [\d-]{10} \d\d:\d\d UTC", lines[2]
    )
    assert status["metadata"]["eta_seconds"] == 0


def test_an_empty_catalog_says_what_to_do_next(tools: Tools) -> None:
    catalog_id = tools.create()

    status = text_of(tools.call("get_indexing_status", catalog_id=catalog_id))

    assert status.endswith("(0 of 0 documents ready)\nUse upload_to_catalog to add documents.")


def test_names_that_look_the_same_are_the_same(tools: Tools) -> None:
    tools.create("Travel notes")

    again = tools.call("create_catalog", catalog_name="Travel   notes")

    assert told_of(again)[0] == "DUPLICATE_NAME"


def test_a_list_and_a_status_agree_on_a_catalog_of_failures(tools: Tools) -> None:
    catalog_id = tools.create()
    document_id = tools.index(catalog_id, "a.txt")
    session.client("s3").put_object(Bucket=BUCKET, Key=f"alice/{catalog_id}/b.exe", Body=b"x")
    tools.arrive(catalog_id, "b.exe")
    tools.call("delete_catalog_document", catalog_id=catalog_id, document_id=document_id)
    tools.run(catalog_id, "a.txt")

    [listed] = tools.call("list_catalogs")["metadata"]["catalogs"]
    status = tools.call("get_indexing_status", catalog_id=catalog_id)

    assert (listed["document_count"], listed["indexing_status"]) == (1, "failed")
    assert status["metadata"]["overall_status"] == "failed"


@pytest.mark.parametrize(
    ("metadata", "named"),
    [
        ({"Domain": "hr"}, "'Domain'"),
        ({"user_id": "bob"}, "'user_id'"),
        ({"domain": 5}, "'domain'"),
        ({"tags": ["a", 5]}, "'tags'"),
        ({"tags": []}, "'tags'"),
    ],
)
def test_wrong_metadata_is_named_once_and_nothing_is_stored(
    tools: Tools, metadata: dict[str, object], named: str
) -> None:
    catalog_id = tools.create()
    given = {"catalog_id": catalog_id, "filename": "a.txt", "metadata": metadata}

    code, text = told_of(tools.call("upload_to_catalog", **given, file_content=encoded("x")))

    assert code == "VALIDATION_ERROR"
    assert text.count(named) == 1
    assert "Contents" not in session.client("s3").list_objects_v2(Bucket=BUCKET)


def test_two_files_that_say_the_same_are_one_source_and_both_were_read(
    tools: Tools, printed: Printed
) -> None:
    catalog_id = tools.create()
    text = "Annual leave is thirty days for everyone."
    ids = {name: tools.index(catalog_id, name, text) for name in ("a.txt", "b.txt")}

    answer = tools.call("query_catalog", query="How long is annual leave?", catalog_id=catalog_id)

    [source] = answer["metadata"]["sources"]
    [other] = source["other_sources"]
    names = (source["filename"], other["filename"])
    assert {each["filename"]: each["document_id"] for each in (source, other)} == ids
    assert text_of(answer).splitlines()[-1] == f"1. {names[0]}, the same in {names[1]}"
    read = printed.lines("catalog accessed")[-1]["document_ids"]
    assert set(read.split()) == set(ids.values())


def test_bedrock_retrieves_and_generates_by_itself_where_the_setting_says_so(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog_id = tools.create()
    tools.index(catalog_id, "leave.txt", "Annual leave is thirty days for everyone.")
    asked = {"query": "How long is annual leave?", "catalog_id": catalog_id}
    by_converse = tools.call("query_catalog", **asked)
    monkeypatch.setenv("ANSWER_VIA", "retrieve_and_generate")
    function.use_cases.cache_clear()

    with tools.pipeline.bedrock.answering(session.client("answers")):
        by_bedrock = tools.call("query_catalog", **asked)

    assert text_of(by_bedrock) == text_of(by_converse)
    [source], [other] = (each["metadata"]["sources"] for each in (by_bedrock, by_converse))
    assert source | {"relevance_score": 0} == other | {"relevance_score": 0}
    generated = [
        each.operation
        for each in tools.pipeline.bedrock.calls
        if each.operation in ("Converse", "RetrieveAndGenerate")
    ]
    assert generated == ["Converse", "RetrieveAndGenerate"]


def test_a_busy_service_is_told_as_such(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nobody waits for a turn: how many would fit into that time, the machine decides.
    monkeypatch.setattr(TurnTaking, "until", lambda self, _deadline: self.clocks.elapsed())
    catalog_id = tools.create()
    tools.index(catalog_id, "a.txt")

    told = []
    for operation in ("Converse", "Retrieve"):
        tools.pipeline.bedrock.fail(operation, Kind.THROTTLE)
        told.append(told_of(tools.call("query_catalog", query="anything?", catalog_id=catalog_id)))

    too_much = "Error: Too much is being asked of the service at the moment. Try again in"
    (of_model, model), (of_search, search) = told
    assert (of_model, of_search) == ("THROTTLED", "THROTTLED")
    assert model == f"{too_much} a few seconds."
    assert re.fullmatch(rf"{too_much} \d+ seconds?\.", search)  # as its ledger of turns knows


@contextmanager
def asked_of_dynamodb() -> Iterator[list[str]]:
    """The operations that are asked of DynamoDB meanwhile."""
    operations: list[str] = []
    events = session.client("dynamodb").meta.events

    def note(model: Any, **_: Any) -> None:
        operations.append(model.name)

    events.register("before-call.dynamodb", note)
    try:
        yield operations
    finally:
        events.unregister("before-call.dynamodb", note)


def test_a_list_takes_two_round_trips_whatever_the_number_of_catalogs(tools: Tools) -> None:
    for number in range(4):
        tools.create(f"Catalog {number}")

    with asked_of_dynamodb() as operations:
        tools.call("list_catalogs")

    # Query and GetItem at once, and then the catalogs.
    assert sorted(operations[:2]) == ["GetItem", "Query"]
    assert operations[2:] == ["BatchGetItem"]


def test_a_status_takes_two_round_trips_whatever_the_number_of_documents(tools: Tools) -> None:
    catalog_id = tools.create()
    tools.index(catalog_id, "a.txt")
    for number in range(4):
        tools.upload(catalog_id, f"{number}.txt")

    with asked_of_dynamodb() as operations:
        tools.call("get_indexing_status", catalog_id=catalog_id)

    # The catalog, and then at once: documents, both queues, ledger, lease.
    assert operations[0] == "GetItem"
    assert sorted(operations[1:]) == ["GetItem", "GetItem", *["Query"] * 3]


def test_a_list_of_documents_goes_on_where_the_page_before_ended(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stackroom.catalogs.listing.DOCUMENTS", 2)
    catalog_id = tools.create()
    uploaded = {tools.upload(catalog_id, f"{number}.txt") for number in range(5)}

    found: list[str] = []
    token = ""
    while True:
        page = tools.call("list_catalog_documents", catalog_id=catalog_id, next_token=token)
        found += [each["document_id"] for each in page["metadata"]["documents"]]
        token = page["metadata"]["next_token"]
        if not token:
            break
        assert f"call list_catalog_documents with next_token {token}" in text_of(page)

    assert len(found) == 5
    assert set(found) == uploaded


def test_a_fault_of_ours_is_counted_and_told_without_its_words(
    tools: Tools, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("arn:aws:secret")

    monkeypatch.setattr("stackroom.catalogs.listing.Listing.catalogs_of", broken)

    code, text = told_of(tools.call("list_catalogs"))

    assert (code, text) == (
        "UNAVAILABLE",
        "Error: The service can't answer at the moment. Try again in a few seconds.",
    )
    [fault] = printed.figures("ToolFaults")
    assert fault.dimensions == {"service": "catalog_tools"}


def test_each_call_leaves_one_line_that_tells_no_text(tools: Tools, printed: Printed) -> None:
    catalog_id = tools.create("Secret name")
    tools.call("query_catalog", query="secret question", catalog_id=catalog_id)

    made, asked = printed.lines("catalog accessed")
    told = ("tool", "outcome", "user_id", "session_id", "catalog_id")
    assert [made[each] for each in told] == [
        "create_catalog",
        "success",
        "alice",
        "session-1",
        catalog_id,
    ]
    assert [asked[each] for each in told] == [
        "query_catalog",
        "CATALOG_EMPTY",
        "alice",
        "session-1",
        catalog_id,
    ]
    assert asked["latency_ms"] >= 0
    assert not any("ecret" in str(line) for line in printed.lines())


def test_another_target_s_tool_is_refused(tools: Tools) -> None:
    code, _ = told_of(tools.call("knowledge_base_retrieve", query="x"))

    assert code == "VALIDATION_ERROR"


def test_what_a_question_s_vector_cost_is_counted(tools: Tools, printed: Printed) -> None:
    function.embedded.count(hit=True)
    function.embedded.count(hit=False)
    tools.call("list_catalogs")
    tools.call("list_catalogs")

    found = printed.figures("EmbeddingCacheHits", "EmbeddingCacheMisses")
    assert [(each.name, each.values) for each in found] == [
        ("EmbeddingCacheHits", (1.0,)),
        ("EmbeddingCacheMisses", (1.0,)),
    ]
    assert all(each.dimensions == {"service": "catalog_tools"} for each in found)
