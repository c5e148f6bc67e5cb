"""Tests of the catalog tools' errors: every row of the contract, word for word."""

import pytest

from tests.functions.printed import Printed
from tests.functions.tools import GatewayContext, Tools, encoded, error_of

ABSENT = "cat-000000000000000000000000"
NOBODYS = "doc-000000000000000000000000"
UNSUPPORTED = "File type '.exe' not supported. Allowed: pdf, docx, txt, md, csv, html, xlsx"
LEFT_OUT = (
    "filename: systems and programs keep files of this name for themselves, so it is left out. "
    "Allowed: the name of a document, such as report.pdf"
)


# Arguments by tool; CAT stands for the id of a catalog.
ERRORS: list[tuple[str, dict[str, object], str, str]] = [
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
        "create_catalog",
        {"catalog_name": "TRAVEL   notes"},  # which looks the same
        "DUPLICATE_NAME",
        "A catalog named 'Travel notes' already exists",
    ),
    (
        "create_catalog",
        {"catalog_name": "a/b"},
        "INVALID_NAME",
        "Catalog name contains invalid characters",
    ),
    (
        "create_catalog",
        {"catalog_name": "Another"},
        "LIMIT_EXCEEDED",
        "Maximum catalog limit (1) reached",
    ),
    ("upload_to_catalog", {"filename": "a.exe"}, "INVALID_FILE_TYPE", UNSUPPORTED),
    ("upload_to_catalog", {"filename": "._notes.txt"}, "VALIDATION_ERROR", LEFT_OUT),
    (
        "upload_to_catalog",
        {"filename": "b.txt", "file_content": encoded(b"x" * 1_470_000)},
        "CONTENT_TOO_LARGE",
        "A call carries at most 1.4 MB of file. Call again without file_content for a link to "
        "upload it",
    ),
    (
        "upload_to_catalog",
        {"filename": "b.txt", "file_content": "eHh4" * 17_500_000},
        "FILE_TOO_LARGE",
        "File exceeds 50MB limit",
    ),
    (
        "upload_to_catalog",
        {"filename": "a.txt", "file_content": encoded("x")},
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
]


def test_every_error_of_the_contract_word_for_word(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stackroom.aws.dynamodb.catalog_records.MAX_CATALOGS", 1)
    catalog_id = tools.create("Travel notes")
    tools.upload(catalog_id, "a.txt")

    for tool, arguments, code, text in ERRORS:
        of_upload = {"catalog_id": "CAT"} if tool == "upload_to_catalog" else {}
        given = {
            name: catalog_id if each == "CAT" else each
            for name, each in {**of_upload, **arguments}.items()
        }
        answer = tools.call(tool, **given)

        assert error_of(answer) == (code, f"Error: {text}")
        assert answer["metadata"].keys() == {"tool_type", "error_code", "error_details"}


def test_error_names_the_first_ten_of_many_invalid_arguments(tools: Tools) -> None:
    code, text = error_of(tools.call("list_catalogs", **dict.fromkeys(map(str, range(20_000)), 1)))

    assert code == "VALIDATION_ERROR"
    assert text.count("no such argument") == 10
    assert text.endswith("; and 19990 more")


def test_call_without_a_verified_user_or_for_another_tool_is_refused(tools: Tools) -> None:
    for headers in (None, {"x-user-sub": ""}, {"x-session-id": "s"}):
        context = GatewayContext(headers=headers, tool="catalogs___list_catalogs")
        code, text = error_of(tools.raw({}, context))
        assert code == "MISSING_IDENTITY"
        assert "sign in" in text

    assert error_of(tools.call("knowledge_base_retrieve", query="x"))[0] == "VALIDATION_ERROR"


def test_internal_fault_is_counted_and_answered_without_its_details(
    tools: Tools, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("arn:aws:secret")

    monkeypatch.setattr("stackroom.catalogs.listing.Listing.catalogs_of", broken)

    code, text = error_of(tools.call("list_catalogs"))

    assert (code, text) == (
        "UNAVAILABLE",
        "Error: The service can't answer at the moment. Try again in a few seconds.",
    )
    [fault] = printed.figures("ToolFaults")
    assert fault.dimensions == {"service": "catalog_tools"}
