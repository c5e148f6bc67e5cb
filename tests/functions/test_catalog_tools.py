"""Tests of the catalog tools as the gateway calls them, including texts word for word."""

import hashlib
import re
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

import functions.catalog_tools.handler as function
import functions.retrieve.handler as retrieve
from bedrock_kb_simulator.assumptions import Assumptions, CustomTells
from stackroom.aws import session
from stackroom.aws.dynamodb.catalog_records import DynamoCatalogs
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.clock import utc_now
from stackroom.errors import StoreUnavailable
from tests.aws.stores import BUCKET, CATALOG_TABLE
from tests.functions.printed import Printed
from tests.functions.tools import Answer, GatewayContext, Tools, encoded, error_of, text_of

RETRIEVE = "knowledge___knowledge_base_retrieve"
# The forms in which Retrieve may name a document's source.
all_source_forms = pytest.mark.parametrize(
    "assumptions",
    [Assumptions(custom_documents_tell=each) for each in CustomTells],
    ids=list(CustomTells),
)


def test_new_catalog_is_empty_and_its_answer_names_the_next_step(tools: Tools) -> None:
    answer = tools.call("create_catalog", catalog_name="Research", description="papers")

    catalog_id = answer["metadata"]["catalog_id"]
    status = text_of(tools.call("get_indexing_status", catalog_id=catalog_id))
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
    assert status.endswith("(0 of 0 documents ready)\nUse upload_to_catalog to add documents.")


def test_renamed_catalog_keeps_its_id_its_documents_and_its_first_name(tools: Tools) -> None:
    catalog_id, other = tools.create("Travel"), tools.create("Ants")
    document_id = tools.upload(catalog_id, "a.txt")

    answer = tools.call("update_catalog", catalog_id=catalog_id, catalog_name="Trips")
    described = tools.call("update_catalog", catalog_id=catalog_id, description="Where we were")

    assert text_of(answer) == f"Updated catalog 'Trips' ({catalog_id})."
    told = described["metadata"]
    assert (told["catalog_name"], told["description"]) == ("Trips", "Where we were")
    listed = tools.call("list_catalog_documents", catalog_id=catalog_id)
    assert text_of(listed).startswith("Catalog 'Trips' contains 1 document:")
    assert listed["metadata"]["documents"][0]["document_id"] == document_id
    taken = "Error: A catalog named 'Trips' already exists"
    was = "Error: Catalog 'Trips' was first named 'travel' and keeps that name's folder"
    for name, error in {"TRIPS": taken, "travel": was}.items():
        made = tools.call("create_catalog", catalog_name=name)
        renamed = tools.call("update_catalog", catalog_id=other, catalog_name=name)
        assert error_of(made) == error_of(renamed) == ("DUPLICATE_NAME", error)
    back = tools.call("update_catalog", catalog_id=catalog_id, catalog_name="Travel")
    assert (back["status"], back["metadata"]["description"]) == ("success", "Where we were")


@contextmanager
def asked_of_dynamodb() -> Iterator[list[str]]:
    """Record the operations on DynamoDB during the block."""
    operations: list[str] = []
    events = session.client("dynamodb").meta.events

    def note(model: Any, **_: Any) -> None:
        operations.append(model.name)

    events.register("before-call.dynamodb", note)
    try:
        yield operations
    finally:
        events.unregister("before-call.dynamodb", note)


def test_new_catalogs_are_listed_at_once_in_two_round_trips(tools: Tools) -> None:
    second, first = tools.create("Zoo"), tools.create("Ants")
    tools.of("bob").create("Foreign")

    with asked_of_dynamodb() as operations:
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
    # Query and GetItem at once, and then the catalogs.
    assert sorted(operations[:2]) == ["GetItem", "Query"]
    assert operations[2:] == ["BatchGetItem"]


def test_lists_continue_where_the_previous_page_ended(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("CATALOGS", "DOCUMENTS"):
        monkeypatch.setattr(f"stackroom.catalogs.listing.{limit}", 2)
    made = [tools.create(f"Catalog {number}") for number in range(3)]
    uploaded = {tools.upload(made[0], f"{number}.txt") for number in range(3)}

    for tool, given, of, name, expected in (
        ("list_catalogs", {}, "catalogs", "catalog_id", set(made)),
        ("list_catalog_documents", {"catalog_id": made[0]}, "documents", "document_id", uploaded),
    ):
        first = tools.call(tool, **given)
        token = first["metadata"]["next_token"]
        second = tools.call(tool, **given, next_token=token)["metadata"]
        found = [each[name] for page in (first["metadata"], second) for each in page[of]]
        assert f"call {tool} with next_token {token}" in text_of(first)
        assert (len(found), set(found)) == (3, expected)
        assert second["next_token"] is None


def test_file_is_uploaded_in_the_call(tools: Tools) -> None:
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
    tools.arrive(catalog_id, "Größe.txt")
    key = f"alice/{catalog_id}/Größe.txt.metadata.json"
    sidecar = session.client("s3").get_object(Bucket=BUCKET, Key=key)["Body"].read().decode()
    assert '"domain":"Größe"' in sidecar
    assert '"tags":["a","ö"]' in sidecar


def test_upload_replaces_a_file_whose_name_is_encoded_differently(tools: Tools) -> None:
    decomposed, composed = "Ma\u0308rz\u00a01.txt", "M\u00e4rz 1.txt"
    catalog_id = tools.create()
    document_id = tools.upload(catalog_id, decomposed, "the first")
    given = {"catalog_id": catalog_id, "filename": composed}

    for content in ({}, {"file_content": encoded("the second")}):
        refused = tools.call("upload_to_catalog", **given, **content)
        replaced = tools.call("upload_to_catalog", **given, **content, replace=True)
        assert refused["metadata"]["error_code"] == "DUPLICATE_FILE"
        assert replaced["metadata"]["document_id"] == document_id

    tools.arrive(catalog_id, decomposed)
    [document] = tools.call("list_catalog_documents", catalog_id=catalog_id)["metadata"][
        "documents"
    ]
    etag = hashlib.md5(b"the second", usedforsecurity=False).hexdigest()
    assert (document["filename"], document["etag"]) == (decomposed, etag)


@all_source_forms
def test_question_is_answered_from_an_indexed_document(tools: Tools) -> None:
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
        "gaps": [],
    }


def test_answers_and_empty_results_count_documents_not_searched(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog_id, question = tools.create(), "How long is annual leave?"
    tools.index(catalog_id, "leave.txt", "Annual leave is thirty days for everyone.")
    for name in ("a.txt", "b.txt"):
        tools.upload(catalog_id, name)

    answer = tools.call("query_catalog", query=question, catalog_id=catalog_id)
    monkeypatch.setattr("bedrock_kb_simulator.stand_in._ENOUGH", 1.1)
    none = tools.call("query_catalog", query="What melts?", catalog_id=catalog_id)

    told = "2 of 3 documents are still being indexed; what is new in them was not searched"
    assert text_of(answer).splitlines()[1:3] == ["", f"{told}."]
    assert text_of(none) == f"Error: No relevant information found for your query. {told}"


def test_upload_link_names_all_fields_and_does_not_hold_up_the_catalog(
    tools: Tools,
) -> None:
    catalog_id = tools.create()
    tools.index(catalog_id, "a.txt")

    answer = tools.call(
        "upload_to_catalog", catalog_id=catalog_id, filename="b.pdf", metadata={"domain": "hr"}
    )
    status = tools.call("get_indexing_status", catalog_id=catalog_id)
    listed = tools.call("list_catalog_documents", catalog_id=catalog_id)

    metadata, text = answer["metadata"], text_of(answer)
    fields = metadata["upload_fields"]
    assert (metadata["indexing_status"], metadata["expires_in_seconds"]) == ("uploading", 900)
    assert fields["key"] == f"alice/{catalog_id}/b.pdf"
    assert fields["Content-Type"] == "application/pdf"
    assert fields["x-amz-meta-kb-domain"] == "hr"
    assert metadata["document_id"] in text
    assert metadata["upload_url"] in text
    assert all(value in text for value in fields.values())
    documents = listed["metadata"]["documents"]
    assert {each["indexing_status"] for each in documents} == {"indexed", "uploading"}
    lines = text_of(status).splitlines()
    assert lines[1] == "**Overall**: ready (1 of 1 document ready)"
    assert re.fullmatch(
        r"- b\.pdf \(doc-\w+\): waits for its upload until [\d-]{10} \d\d:\d\d UTC", lines[2]
    )
    assert status["metadata"]["eta_seconds"] == 0


def test_list_and_status_report_failed_and_waiting_in_few_round_trips(
    tools: Tools,
) -> None:
    catalog_id = tools.create()
    tools.index(catalog_id, "a.txt")
    pending = tools.upload(catalog_id, "b.txt", "sixty days!")
    session.client("s3").put_object(Bucket=BUCKET, Key=f"alice/{catalog_id}/c|d.exe", Body=b"x")
    tools.arrive(catalog_id, "c|d.exe")

    listed = tools.call("list_catalog_documents", catalog_id=catalog_id)
    with asked_of_dynamodb() as operations:
        status = tools.call("get_indexing_status", catalog_id=catalog_id)

    rows = text_of(listed).splitlines()
    assert rows[0] == "Catalog 'Research' contains 3 documents:"
    assert rows[2] == "| Filename | ID | Size | Status | Uploaded |"
    assert rows[5].startswith(f"| b.txt | {pending} | 11 B | pending | 20")
    assert rows[6].startswith("| c\\|d.exe | doc-")
    assert "| failed: File type '.exe' not supported." in rows[6].replace("’", "'")
    failed = listed["metadata"]["documents"][2]
    assert failed["status_reason"].startswith("File type '.exe' not supported.")
    assert failed.keys() == {
        "document_id",
        "filename",
        "file_size_kb",
        "etag",
        "indexing_status",
        "status_reason",
        "gaps",
        "same_content_as",
        "uploaded_at",
    }
    lines = text_of(status).splitlines()
    assert lines[1] == "**Overall**: indexing (1 of 3 documents ready)"
    assert lines[2].startswith(f"- b.txt ({pending}): pending, ")
    assert lines[3].startswith("- c|d.exe (doc-")
    assert "failed: File type" in lines[3]
    metadata = status["metadata"]
    assert metadata["documents"] == {"indexed": 1, "indexing": 0, "pending": 1, "failed": 1}
    assert metadata["eta_seconds"] > 0
    [failure] = metadata["failures"]
    assert (failure["filename"], failure["reason"]) == ("c|d.exe", failed["status_reason"])
    # The catalog, and then at once: documents, the queue, ledger, lease.
    assert operations[0] == "GetItem"
    assert sorted(operations[1:]) == ["GetItem", "GetItem", "Query", "Query"]


def test_list_names_the_first_document_with_the_same_content(tools: Tools) -> None:
    catalog_id = tools.create()
    for name in ("leave.txt", "copy | of leave.txt"):
        tools.index(catalog_id, name, "thirty days")
    tools.index(catalog_id, "pay.txt", "monthly")

    listed = tools.call("list_catalog_documents", catalog_id=catalog_id)

    documents = listed["metadata"]["documents"]
    twins = {each["filename"]: each["same_content_as"] for each in documents}
    later, first = ("copy | of leave.txt", "leave.txt")
    if twins[later] is None:  # dropped within the same moment, the first by name counts
        later, first = first, later
    assert twins == {later: first, first: None, "pay.txt": None}
    [row] = [each for each in text_of(listed).splitlines() if "same content as" in each]
    assert f"indexed; same content as '{first.replace('|', chr(92) + '|')}' |" in row


def test_list_and_status_report_the_gaps_of_indexed_documents(tools: Tools) -> None:
    catalog_id = tools.create()
    document_id = tools.index(catalog_id, "lease.txt")
    tools.index(catalog_id, "whole.txt")
    documents = DynamoDocuments(client=session.client("dynamodb"), table=CATALOG_TABLE)
    lease = documents.get(catalog_id, document_id)
    assert lease is not None
    documents.save(lease.model_copy(update={"gaps": ("1 of 2 pages looks garbled: 2",)}))

    listed = tools.call("list_catalog_documents", catalog_id=catalog_id)
    status = tools.call("get_indexing_status", catalog_id=catalog_id)

    state = "indexed, with gaps: 1 of 2 pages looks garbled: 2"
    rows = [each for each in text_of(listed).splitlines() if ".txt" in each]
    assert [state in each for each in rows] == [True, False]
    gaps = [each["gaps"] for each in listed["metadata"]["documents"]]
    assert gaps == [["1 of 2 pages looks garbled: 2"], []]
    assert text_of(status).splitlines()[2:] == [f"- lease.txt ({document_id}): {state}"]
    [named] = status["metadata"]["gaps"]
    assert named == {"document_id": document_id, "filename": "lease.txt", "gaps": gaps[0]}


def test_catalog_selection_is_per_session_until_expiry_or_deselection(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog_id = tools.create()
    nobodys = tools.of("alice", session=None)

    def asked(by: Tools = tools) -> str:
        return error_of(by.call("query_catalog", query="anything?"))[0]

    tools.call("select_catalog", catalog_id=catalog_id)
    selected = [asked(each) for each in (tools, tools.of("alice", "s-2"), tools.of("bob"), nobodys)]
    deselected = tools.call("select_catalog", catalog_id="none")
    afterwards = asked()
    monkeypatch.setattr("stackroom.catalogs.selection._LASTS", timedelta(seconds=-1))
    tools.call("select_catalog", catalog_id=catalog_id)
    code, text = error_of(nobodys.call("select_catalog", catalog_id=catalog_id))

    assert selected == ["CATALOG_EMPTY", *["NO_CATALOG_SELECTED"] * 3]
    assert text_of(deselected) == "Catalog deselected. Specify catalog_id when querying."
    assert deselected["metadata"]["active"] is False
    assert (afterwards, asked()) == ("NO_CATALOG_SELECTED", "NO_CATALOG_SELECTED")
    assert code == "MISSING_IDENTITY"
    assert "Specify catalog_id" in text


def test_download_link_lasts_15_minutes_and_deleted_document_has_none(tools: Tools) -> None:
    catalog_id = tools.create()
    document_id = tools.upload(catalog_id, "2026/Größe.txt")
    named = {"catalog_id": catalog_id, "document_id": document_id}

    link = tools.call("download_from_catalog", **named)
    deleted = tools.call("delete_catalog_document", **named)
    again = tools.call("download_from_catalog", **named)

    url = link["metadata"]["download_url"]
    asked = urllib.parse.parse_qs(urllib.parse.urlparse(url).query)
    assert text_of(link) == f"Download link for '2026/Größe.txt' (expires in 15 minutes): {url}"
    assert (asked["X-Amz-Expires"], link["metadata"]["expires_in_seconds"]) == (["900"], 900)
    assert asked["response-content-disposition"] == [
        "attachment; filename=\"Gr__e.txt\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.txt"
    ]
    assert text_of(deleted) == "Deleted '2026/Größe.txt' from catalog. Vector cleanup initiated."
    assert re.fullmatch(r"rcpt-\w+-\w+", deleted["metadata"].pop("receipt_id"))
    assert deleted["metadata"] == {
        "tool_type": "knowledge_base",
        "document_id": document_id,
        "filename": "2026/Größe.txt",
        "vectors_removed": False,
    }
    assert error_of(again)[0] == "DOCUMENT_NOT_FOUND"


def test_upload_of_known_content_names_the_existing_document(tools: Tools) -> None:
    catalog_id = tools.create()
    other = tools.create("Other")
    tools.upload(other, "elsewhere.txt", "thirty days")
    tools.upload(catalog_id, "leave.txt", "thirty days")

    def sent(filename: str, content: str) -> Answer:
        given = {"filename": filename, "file_content": encoded(content), "replace": True}
        return tools.call("upload_to_catalog", catalog_id=catalog_id, **given)

    twin, again, another = (
        sent("it's a copy.txt", "thirty days"),
        sent("leave.txt", "thirty days"),
        sent("third.txt", "forty days"),
    )

    assert text_of(twin).endswith("Indexing started. Same content as 'leave.txt'.")
    assert twin["metadata"]["same_content_as"] == "leave.txt"
    assert text_of(again).endswith("Indexing started. Same content as 'it’s a copy.txt'.")
    for each in (another, tools.call("upload_to_catalog", catalog_id=catalog_id, filename="d.txt")):
        assert "same_content_as" not in each["metadata"]
        assert "Same content" not in text_of(each)


def test_upload_succeeds_if_the_search_for_the_same_content_fails(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(*_: object, **__: object) -> None:
        raise StoreUnavailable("Query", "InternalServerError")

    catalog_id = tools.create()
    monkeypatch.setattr(DynamoDocuments, "page", unavailable)
    given = {"filename": "leave.txt", "file_content": encoded("thirty days")}

    sent = tools.call("upload_to_catalog", catalog_id=catalog_id, **given)

    assert text_of(sent).endswith("Indexing started.")


def test_download_link_opens_the_indexed_version_until_the_next_is_indexed(tools: Tools) -> None:
    catalog_id = tools.create()
    document_id = tools.index(catalog_id, "leave.txt", "Leave is thirty days.")
    named = {"catalog_id": catalog_id, "document_id": document_id}

    def version() -> tuple[list[str] | None, bool]:
        link = tools.call("download_from_catalog", **named)
        url = urllib.parse.urlparse(link["metadata"]["download_url"])
        return urllib.parse.parse_qs(url.query).get(
            "versionId"
        ), "a newer one lies there" in text_of(link)

    key = f"alice/{catalog_id}/leave.txt"
    first = session.client("s3").head_object(Bucket=BUCKET, Key=key)
    assert version() == (None, False)
    tools.pipeline.drop(key, "Leave is forty days.")
    under_way = version()
    tools.run(catalog_id, "leave.txt")

    assert under_way == ([first["VersionId"]], True)
    assert version() == (None, False)


def test_no_tool_answers_from_documents_whose_deletion_was_requested(tools: Tools) -> None:
    catalog_id = tools.create()
    document_id = tools.index(catalog_id, "old.txt", "Leave is thirty days.")
    tools.index(catalog_id, "new.txt", "Leave is forty days.")

    def found() -> tuple[set[str], set[str]]:
        query = {"query": "how long is leave?"}
        context = GatewayContext(headers={"x-user-sub": "alice"}, tool=RETRIEVE)
        retrieved = retrieve.handler(query, context)
        assert retrieved["success"], retrieved
        queried = tools.call("query_catalog", catalog_id=catalog_id, **query)["metadata"]
        return (
            {each["source"]["filename"] for each in retrieved["results"]},
            {each["filename"] for each in queried.get("sources", ())},
        )

    before = found()
    tools.call("delete_catalog_document", catalog_id=catalog_id, document_id=document_id)
    after = found()
    tools.call("delete_catalog", catalog_id=catalog_id, confirm=True)

    assert before == ({"old.txt", "new.txt"}, {"old.txt", "new.txt"})
    assert after == ({"new.txt"}, {"new.txt"})
    assert found() == (set(), set())
    with asked_of_dynamodb() as operations:
        found()
    # The caller's catalogs, and all documents that were found: once each.
    assert operations.count("BatchGetItem") == 2


def test_catalog_is_deleted_in_two_calls_and_then_refuses_uploads(tools: Tools) -> None:
    catalog_id = tools.create()
    document_id = tools.index(catalog_id, "a.txt")
    tools.index(catalog_id, "b.txt")
    tools.call("select_catalog", catalog_id=catalog_id)

    first = tools.call("delete_catalog", catalog_id=catalog_id)
    documents = tools.call("list_catalog_documents", catalog_id=catalog_id)
    second = tools.call("delete_catalog", catalog_id=catalog_id, confirm=True)

    assert error_of(first) == (
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
    named: dict[str, dict[str, Any]] = {
        "create_catalog": {"catalog_name": "Research"},
        "upload_to_catalog": {"catalog_id": catalog_id, "filename": "b.txt"},
        "select_catalog": {"catalog_id": catalog_id},
        "update_catalog": {"catalog_id": catalog_id, "description": "papers"},
        "query_catalog": {"catalog_id": catalog_id, "query": "anything?"},
        "delete_catalog": {"catalog_id": catalog_id},
        "delete_catalog_document": {"catalog_id": catalog_id, "document_id": document_id},
        "download_from_catalog": {"catalog_id": catalog_id, "document_id": document_id},
    }

    for tool, given in named.items():
        code, text = error_of(tools.call(tool, **given))
        assert code == "CATALOG_DELETING"
        assert re.fullmatch(
            r"Error: Catalog 'Research' is being deleted since \d{4}-\d\d-\d\d \d\d:\d\d UTC", text
        )
    assert "- Status: deleting" in text_of(tools.call("list_catalogs"))
    asked = tools.call("query_catalog", query="anything?")
    assert error_of(asked)[0] == "NO_CATALOG_SELECTED"
    # A file that comes late keeps the catalog, which nobody has selected again.
    catalogs = DynamoCatalogs(client=session.client("dynamodb"), table=CATALOG_TABLE)
    catalogs.unmark_deleting(catalog_id, at=utc_now())
    assert error_of(tools.call("query_catalog", query="anything?")) == error_of(asked)


def test_two_files_with_the_same_content_are_one_source(tools: Tools, printed: Printed) -> None:
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


def test_cost_of_a_question_vector_is_counted(tools: Tools, printed: Printed) -> None:
    function.cache_tally.count(hit=True)
    function.cache_tally.count(hit=False)
    tools.call("list_catalogs")
    tools.call("list_catalogs")

    found = printed.figures("EmbeddingCacheHits", "EmbeddingCacheMisses")
    assert [(each.name, each.values) for each in found] == [
        ("EmbeddingCacheHits", (1.0,)),
        ("EmbeddingCacheMisses", (1.0,)),
    ]
    assert all(each.dimensions == {"service": "catalog_tools"} for each in found)
