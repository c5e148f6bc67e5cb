"""Tests that tools refuse every kind of invalid argument by its name, and store nothing."""

from collections.abc import Mapping
from typing import Any

import functions.retrieve.handler as retrieve
from stackroom.aws import session
from tests.aws.stores import BUCKET, CATALOG_TABLE, CONTROL_TABLE
from tests.functions.bad_input import DEFINITIONS, Bad, cases
from tests.functions.tools import Answer, GatewayContext, Tools, encoded


def test_invalid_argument_is_named_and_nothing_is_stored(tools: Tools) -> None:
    catalog_id = tools.create()
    document_id = tools.upload(catalog_id, "a.txt")
    before = everything()

    for tool in DEFINITIONS:
        found = list(cases(tool, good_arguments(tool, catalog_id, document_id)))
        mistaken = {str(bad): problem for bad in found if (problem := answered(tools, bad))}

        assert mistaken == {}
        assert everything() == before, tool
        assert len(found) >= len(DEFINITIONS[tool]["inputSchema"]["properties"])


def test_error_names_the_first_ten_of_many_invalid_arguments(tools: Tools) -> None:
    many = dict.fromkeys(map(str, range(20_000)), 1)
    for tool in DEFINITIONS:
        _, text = error_from(tools, tool, {**good_arguments(tool, "cat-1", "doc-1"), **many})

        assert text.count("no such argument") == 10
        assert text.endswith("; and 19990 more")


def answered(tools: Tools, bad: Bad) -> str:
    """Return what is wrong with the answer, or an empty text."""
    code, text = error_from(tools, bad.tool, bad.arguments)
    if code in (None, "UNAVAILABLE", "THROTTLED", "RetrievalFailed", "Throttled"):
        return f"{code}: {text}"
    return "" if bad.is_named_in(text) else f"doesn't name the argument: {text}"


def error_from(tools: Tools, tool: str, arguments: Mapping[str, object]) -> tuple[str | None, str]:
    if tool == "knowledge_base_retrieve":
        context: Any = GatewayContext(headers={"x-user-sub": "alice"}, tool=f"knowledge___{tool}")
        answer: Answer = retrieve.handler(dict(arguments), context)
        return answer.get("errorType"), str(answer.get("error"))
    answer = tools.call(tool, **dict(arguments))
    return answer["metadata"].get("error_code"), answer["content"][0]["text"]


def good_arguments(tool: str, catalog_id: str, document_id: str) -> dict[str, object]:
    known: dict[str, object] = {
        "catalog_id": catalog_id,
        "document_id": document_id,
        "query": "how many days?",
        "question": "how many days?",
        "helpful": True,
        "filename": "b.txt",
        "file_content": encoded("thirty days"),
        "catalog_name": "Another",
        "confirm": True,
    }
    properties = DEFINITIONS[tool]["inputSchema"]["properties"]
    return {name: value for name, value in known.items() if name in properties}


def everything() -> dict[str, object]:
    """Return all versions of all objects, and all items."""
    dynamodb, s3 = session.client("dynamodb"), session.client("s3")
    versions = s3.list_object_versions(Bucket=BUCKET)
    return {
        "versions": sorted((each["Key"], each["VersionId"]) for each in versions["Versions"]),
        "markers": len(versions.get("DeleteMarkers", [])),
        "items": [
            sorted(map(repr, dynamodb.scan(TableName=table)["Items"]))
            for table in (CATALOG_TABLE, CONTROL_TABLE)
        ],
    }
