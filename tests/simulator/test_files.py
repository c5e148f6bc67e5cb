"""Which files become documents, and what sidecars do to them."""

import json
from typing import Any

import pytest

from stackroom_local.simulator.sidecars import OF_VECTOR, attributes
from tests import files
from tests.simulator.holding import holds
from tests.simulator.world import World, eventually

VAGUE = "Issue occurred while processing file."


def test_every_format_that_we_can_read_is_indexed_with_its_pages(world: World) -> None:
    knowledge_base, source = world.pair()
    world.put("handbook.pdf", files.pdf("Parking is free.", "The canteen serves soup on Mondays."))
    world.put("letter.docx", files.word("Dear Ada, the machine computes."))
    world.put("notes.MD", "# Notes\n\nThe server room is cold.")
    world.put("table.csv", "city,mayor\nBremen,Bovenschulte\n")

    job = world.sync(knowledge_base, source)

    assert job["statistics"]["numberOfNewDocumentsIndexed"] == 4
    eventually(lambda: len(world.found_keys(knowledge_base, "soup on Monday")) == 4)
    best = world.search(knowledge_base, "soup on Monday")[0]
    assert best["location"]["s3Location"]["uri"].endswith("handbook.pdf")
    assert "canteen" in best["content"]["text"]


@holds("file.unreadable", "file.size")
@pytest.mark.parametrize(
    ("key", "body"),
    [
        ("empty.txt", b""),
        ("blank.txt", b" \n \n"),
        ("truncated.pdf", files.truncated_pdf()),
        ("encrypted.pdf", files.encrypted_pdf()),
        ("scanned.pdf", files.pdf_without_text()),
        ("no-zip.docx", b"this is no zip"),
        ("large.txt", b"word " * 10_485_761),
    ],
)
def test_a_file_without_text_to_be_had_fails(world: World, key: str, body: bytes) -> None:
    knowledge_base, source = world.pair()
    world.put(key, body)

    job = world.sync(knowledge_base, source)

    assert world.statuses(knowledge_base, source) == {key: "FAILED"}
    assert job["status"] == "COMPLETE"
    assert job["statistics"]["numberOfDocumentsFailed"] == 1
    assert key in job["failureReasons"][0]


@holds("file.format", "file.script", "document.status-reason")
@pytest.mark.parametrize("key", ["setup.exe", "slides.pptx", "README", ".pdf/none", "script.txt"])
def test_an_unsupported_format_is_ignored_and_says_so(world: World, key: str) -> None:
    knowledge_base, source = world.pair()
    uri = world.put(key, "#!/bin/sh\necho some text\n")

    job = world.sync(knowledge_base, source)

    reason = "Ignored 1 files as their file format was not supported."
    (detail,) = world.agent.list_knowledge_base_documents(
        knowledgeBaseId=knowledge_base, dataSourceId=source
    )["documentDetails"]
    assert detail["status"] == "IGNORED"
    assert detail["statusReason"] == reason
    assert job["failureReasons"] == [
        f"Encountered error: {reason} [Files: {uri}]. Call to Customer Source did not succeed."
    ]


@pytest.mark.parametrize(
    "key",
    ["a b/Q1 résumé (final)+v2.txt", "nfd/re\u0301sume\u0301.txt", "😀/100%.txt", "a/b/c/d.txt"],
)
def test_any_name_works(world: World, key: str) -> None:
    knowledge_base, source = world.pair()
    world.put(key, "Ravens can count.", {"filename": key})

    world.sync(knowledge_base, source)

    named = {"equals": {"key": "filename", "value": key}}
    assert eventually(lambda: world.found_keys(knowledge_base, "ravens", named)) == {key}


def test_both_forms_of_a_sidecar_give_attributes_and_one_form_is_embedded(world: World) -> None:
    knowledge_base, source = world.pair()
    full = {
        "topic": {
            "value": {"type": "STRING", "stringValue": "volcanoes"},
            "includeForEmbedding": True,
        },
        "year": {"value": {"type": "NUMBER", "numberValue": 2026}},
        "draft": {"value": {"type": "BOOLEAN", "booleanValue": False}},
        "tags": {"value": {"type": "STRING_LIST", "stringListValue": ["hot", "red"]}},
    }
    world.put("full.txt", "It is about to happen.", full)
    world.put("simple.txt", "It is about to happen.", {"topic": "volcanoes", "year": 2026})

    world.sync(knowledge_base, source)
    eventually(lambda: len(world.search(knowledge_base, "volcanoes")) == 2)
    first, second = world.search(knowledge_base, "volcanoes")

    assert first["location"]["s3Location"]["uri"].endswith("full.txt")
    assert first["score"] > second["score"]
    assert first["content"]["text"] == "It is about to happen."
    attributes = {key: first["metadata"][key] for key in ("topic", "year", "draft", "tags")}
    assert attributes == {
        "topic": "volcanoes",
        "year": 2026,
        "draft": False,
        "tags": ["hot", "red"],
    }


@holds(
    "sidecar.invalid",
    "sidecar.key-length",
    "sidecar.list-size",
    "sidecar.text-length",
    "metadata.custom-keys",
)
@pytest.mark.parametrize(
    "sidecar",
    [
        "no json",
        json.dumps({"user_id": "alice"}),
        json.dumps({"metadataAttributes": {"x-amz-bedrock-mine": "reserved"}}),
        json.dumps({"metadataAttributes": {"tags": []}}),
        json.dumps({"metadataAttributes": {"tags": ["t"] * 11}}),
        json.dumps({"metadataAttributes": {"empty": ""}}),
        json.dumps({"metadataAttributes": {"k" * 201: "v"}}),
        json.dumps({"metadataAttributes": {"": "v"}}),
        json.dumps({"metadataAttributes": {"nested": {"a": 1}}}),
        json.dumps({"metadataAttributes": {f"k{number}": 1 for number in range(36)}}),
    ],
)
def test_a_document_with_an_invalid_sidecar_fails(world: World, sidecar: str) -> None:
    knowledge_base, source = world.pair()
    world.put("a.txt", "A text.")
    world.put("a.txt.metadata.json", sidecar)

    job = world.sync(knowledge_base, source)

    assert world.statuses(knowledge_base, source) == {"a.txt": "FAILED"}
    assert job["statistics"]["numberOfDocumentsFailed"] == 1


@holds("sidecar.text-length", "sidecar.key-length", "sidecar.list-size")
@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        ({"k": "v" * 2048}, {"k": "v" * 2049}),
        ({"k" * 200: "v"}, {"k" * 201: "v"}),
        ({"k": ["v"] * 10}, {"k": ["v"] * 11}),
    ],
)
def test_an_attribute_has_its_limits(inside: dict[str, Any], outside: dict[str, Any]) -> None:
    assert attributes(inside.items(), OF_VECTOR).values == inside
    with pytest.raises(ValueError, match=r"^(k+|str|list)$"):
        attributes(outside.items(), OF_VECTOR)


@holds("sidecar.size")
def test_a_sidecar_over_1024_bytes_leaves_a_new_document_out_without_a_status(world: World) -> None:
    knowledge_base, source = world.pair()
    world.put("a.txt", "A text.", {"note": "n" * 1024})

    job = world.sync(knowledge_base, source)

    assert world.statuses(knowledge_base, source) == {}
    assert job["statistics"]["numberOfDocumentsFailed"] == 1
    assert "MaximumFileSizeSupported: 1024 bytes" in job["failureReasons"][0]


@holds("sidecar.invalid")
def test_a_sidecar_that_goes_wrong_later_keeps_the_old_attributes(world: World) -> None:
    knowledge_base, source = world.pair()
    world.put("a.txt", "A text about bees.", {"owner": "alice"})
    world.sync(knowledge_base, source)
    world.put("a.txt.metadata.json", "no json")

    job = world.sync(knowledge_base, source)

    assert "Ignored 1 files due to invalid metadata attributes" in job["failureReasons"][0]
    assert world.statuses(knowledge_base, source) == {"a.txt": "METADATA_UPDATE_FAILED"}
    alices = {"equals": {"key": "owner", "value": "alice"}}
    assert eventually(lambda: world.found_keys(knowledge_base, "bees", alices)) == {"a.txt"}


@holds("metadata.filterable-size", "job.indexed-in-spite")
def test_without_non_filterable_keys_long_passages_are_refused_and_still_read_indexed(
    world: World,
) -> None:
    knowledge_base = world.knowledge_base(world.index(non_filterable=[]))
    source = world.data_source(knowledge_base)
    world.put("short.txt", "A short text fits.")
    world.put("long.txt", "international " * 200)

    job = world.sync(knowledge_base, source)

    assert world.statuses(knowledge_base, source)["long.txt"] == "INDEXED"
    assert job["statistics"]["numberOfDocumentsFailed"] == 1
    assert "Filterable metadata must have at most 2048 bytes" in job["failureReasons"][0]
    assert eventually(lambda: world.found_keys(knowledge_base, "text")) == {"short.txt"}


@holds("metadata.size")
def test_a_passage_of_more_than_40_kilobytes_is_refused(world: World) -> None:
    knowledge_base = world.knowledge_base()
    whole = {"chunkingConfiguration": {"chunkingStrategy": "NONE"}}
    source = world.data_source(knowledge_base, vectorIngestionConfiguration=whole)
    world.put("short.txt", "A short text fits.")
    world.put("long.txt", "international " * 3_000)

    job = world.sync(knowledge_base, source)

    assert "Metadata must have at most 40960 bytes" in job["failureReasons"][0]
    assert eventually(lambda: world.found_keys(knowledge_base, "text")) == {"short.txt"}


def test_a_changed_document_that_fails_is_no_longer_found(world: World) -> None:
    knowledge_base, source = world.pair()
    world.put("a.txt", "A text about bees.")
    world.sync(knowledge_base, source)
    eventually(lambda: world.search(knowledge_base, "bees"))
    world.put("a.txt", b"")

    world.sync(knowledge_base, source)

    assert world.statuses(knowledge_base, source) == {"a.txt": "FAILED"}
    assert world.search(knowledge_base, "bees") == []


def test_some_passages_refused_is_partially_indexed(world: World) -> None:
    knowledge_base = world.knowledge_base(world.index(non_filterable=[]))
    source = world.data_source(knowledge_base)
    world.put("long.txt", "international " * 330)

    job = world.sync(knowledge_base, source)

    assert world.statuses(knowledge_base, source) == {"long.txt": "PARTIALLY_INDEXED"}
    assert job["statistics"]["numberOfDocumentsFailed"] == 1
    assert len(eventually(lambda: world.search(knowledge_base, "international"))) == 1


def test_attributes_that_some_passages_cannot_take_are_partially_updated(world: World) -> None:
    knowledge_base = world.knowledge_base(world.index(non_filterable=[]))
    source = world.data_source(knowledge_base)
    world.put("long.txt", "tree " * 330, {"note": "short"})
    world.sync(knowledge_base, source)
    world.put("long.txt.metadata.json", json.dumps({"metadataAttributes": {"note": "n" * 500}}))

    world.sync(knowledge_base, source)

    assert world.statuses(knowledge_base, source) == {"long.txt": "METADATA_PARTIALLY_INDEXED"}


def test_an_object_that_changes_nothing_keeps_its_time(world: World) -> None:
    knowledge_base, source = world.pair()
    key = {"knowledgeBaseId": knowledge_base, "dataSourceId": source}
    world.put("a.txt", "A text.")
    world.sync(knowledge_base, source)
    before = world.agent.list_knowledge_base_documents(**key)["documentDetails"]
    world.put("a.txt", "A text.")

    world.sync(knowledge_base, source)

    assert world.agent.list_knowledge_base_documents(**key)["documentDetails"] == before
