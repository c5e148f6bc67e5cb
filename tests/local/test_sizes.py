"""The command line tells sizes as the console and the tools do, in units of 1,024."""

from dataclasses import replace
from io import StringIO
from types import SimpleNamespace
from typing import Any, cast

import pytest

from stackroom.catalog_tools.texts import kilobytes, megabytes
from stackroom.formats import MAX_FILE_BYTES
from stackroom_local.cli import persons
from stackroom_local.cli.console import Console, output
from stackroom_local.cli.persons import Person

UPLOADED = "2026-01-01T00:00:00Z"


@pytest.fixture
def person() -> Person:
    """Whoever has one catalog, with one file in it that is as large as a file may be."""
    catalog = {
        "catalog_id": "cat-ada-1",
        "catalog_name": "Research",
        "indexing_status": "ready",
        "document_count": 1,
        "total_size_mb": megabytes(MAX_FILE_BYTES),
        "last_updated": UPLOADED,
    }
    document = {
        "document_id": "0f1e",
        "filename": "a.pdf",
        "file_size_kb": kilobytes(MAX_FILE_BYTES),
        "indexing_status": "indexed",
        "status_reason": None,
        "uploaded_at": UPLOADED,
    }
    tools = SimpleNamespace(catalogs=lambda: [catalog], documents=lambda _: [document])
    asker = SimpleNamespace(tools=tools)
    return Person(site=cast("Any", None), asker=cast("Any", asker), user_id="ada")


def test_a_signed_in_person_gets_bytes_back_from_what_the_tools_round(person: Person) -> None:
    out = StringIO()
    told = replace(output(as_json=False), people=Console(file=out, width=200))

    persons.catalogs(person, told=told)

    assert [each.size for each in person.every_document()] == [MAX_FILE_BYTES]
    assert "50.0 MB" in out.getvalue()
