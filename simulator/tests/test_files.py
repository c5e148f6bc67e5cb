"""Files that become documents, and their sidecars."""

import json
from typing import Any

import pytest

from bedrock_kb_simulator.bucket_objects import OF_VECTOR, attributes
from simulator.tests import files
from simulator.tests.holding import holds
from simulator.tests.world import World, at, eventually


@holds("file.unreadable", "file.size", "file.format", "document.status-reason")
def test_readable_files_are_indexed_and_others_fail_or_are_ignored(
    world: World,
) -> None:
    knowledge_base, source = world.pair()
    readable: dict[str, bytes | str] = {
        "handbook.pdf": files.pdf("Parking is free.", "The canteen serves soup on Mondays."),
        "letter.docx": files.word("Dear Ada, the machine computes."),
        "notes.MD": "# Notes\n\nThe server room is cold.",
        "table.csv": "city,mayor\nBremen,Bovenschulte\n",
        "a b/Q1 résumé (final)+v2.txt": "Ravens can count.",
        "nfd/re\u0301sume\u0301.txt": "Ravens can count.",
        "😀/100%.txt": "Ravens can count.",
    }
    unreadable: dict[str, bytes | str] = {
        "blank.txt": b" \n \n",
        "truncated.pdf": files.truncated_pdf(),
        "encrypted.pdf": files.encrypted_pdf(),
        "scanned.pdf": files.pdf_without_text(),
        "no-zip.docx": b"this is no zip",
        "large.txt": b"word " * 10_485_761,
    }
    ignored = ("setup.exe", "slides.pptx", "README", ".pdf/none", "script.txt")
    bodies: dict[str, bytes | str] = {
        **readable,
        **unreadable,
        **dict.fromkeys(ignored, "#!/bin/sh\necho some text\n"),
    }
    uris = {key: world.put(key, body) for key, body in bodies.items()}
    world.put("a b/Q1 résumé (final)+v2.txt", "Ravens can count.", {"name": "résumé 😀"})

    job = world.sync(knowledge_base, source)

    assert world.statuses(knowledge_base, source) == {
        **dict.fromkeys(readable, "INDEXED"),
        **dict.fromkeys(unreadable, "FAILED"),
        **dict.fromkeys(ignored, "IGNORED"),
    }
    assert job["status"] == "COMPLETE"
    assert job["statistics"]["numberOfDocumentsFailed"] == len(unreadable) + len(ignored)
    reasons = "\n".join(job["failureReasons"])
    assert all(uris[key] in reasons for key in (*unreadable, *ignored))
    reason = f"Ignored {len(ignored)} files as their file format was not supported."
    assert f"Encountered error: {reason} [Files: " in reasons
    assert "Encountered error: Issue occurred while processing file. [Files: " in reasons
    assert "]. Call to Customer Source did not succeed." in reasons
    jobs = world.agent.list_ingestion_jobs(**at(knowledge_base, source))
    assert "failureReasons" not in jobs["ingestionJobSummaries"][0]
    details = world.agent.list_knowledge_base_documents(**at(knowledge_base, source))
    reason_by_status = {
        each["status"]: each.get("statusReason") for each in details["documentDetails"]
    }
    assert reason_by_status == {
        "INDEXED": None,
        "FAILED": None,
        "IGNORED": "Ignored 1 files as their file format was not supported.",
    }
    eventually(lambda: world.found_keys(knowledge_base, "soup on Monday") == set(readable))
    best = world.search(knowledge_base, "soup on Monday")[0]
    assert best["location"]["s3Location"]["uri"] == uris["handbook.pdf"]
    named = {"equals": {"key": "name", "value": "résumé 😀"}}
    assert world.found_keys(knowledge_base, "ravens", named) == {"a b/Q1 résumé (final)+v2.txt"}


def test_both_forms_of_a_sidecar_give_attributes_and_one_form_is_embedded(world: World) -> None:
    knowledge_base, source = world.pair()
    topic = {"type": "STRING", "stringValue": "volcanoes"}
    full = {
        "topic": {"value": topic, "includeForEmbedding": True},
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
    given = {"topic": "volcanoes", "year": 2026, "draft": False, "tags": ["hot", "red"]}
    assert first["metadata"].items() >= given.items()


@holds("sidecar.invalid", "sidecar.size", "metadata.custom-keys")
def test_invalid_sidecar_fails_document_and_oversized_one_excludes_it(
    world: World,
) -> None:
    knowledge_base, source = world.pair()
    attributes: list[dict[str, Any]] = [
        {"x-amz-bedrock-mine": "reserved"},
        {"tags": []},
        {"nested": {"a": 1}},
        {f"k{number}": 1 for number in range(36)},
    ]
    for number, each in enumerate(attributes):
        world.put(f"{number}.txt", "A text.", each)
    for name, sidecar in (("json", "no json"), ("flat", json.dumps({"user_id": "alice"}))):
        world.put(f"{name}.txt", "A text.")
        world.put(f"{name}.txt.metadata.json", sidecar)
    world.put("large.txt", "A text.", {"note": "n" * 1024})

    job = world.sync(knowledge_base, source)

    names = [*map(str, range(len(attributes))), "json", "flat"]
    assert world.statuses(knowledge_base, source) == {f"{name}.txt": "FAILED" for name in names}
    assert job["statistics"]["numberOfDocumentsFailed"] == len(names) + 1
    assert "MaximumFileSizeSupported: 1024 bytes" in "\n".join(job["failureReasons"])


@holds("sidecar.text-length", "sidecar.key-length", "sidecar.list-size")
@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        ({"k": "v" * 2048}, {"k": "v" * 2049}),
        ({"k" * 200: "v"}, {"k" * 201: "v"}),
        ({"k": "v"}, {"": "v"}),
        ({"k": "v"}, {"k": ""}),
        ({"k": ["v"] * 10}, {"k": ["v"] * 11}),
    ],
)
def test_attribute_over_a_limit_is_refused(inside: dict[str, Any], outside: dict[str, Any]) -> None:
    assert attributes(inside.items(), OF_VECTOR).values == inside
    with pytest.raises(ValueError, match=r"^(k*|str|list)$"):
        attributes(outside.items(), OF_VECTOR)


@holds("metadata.filterable-size", "job.indexed-in-spite")
def test_filterable_text_over_limit_leaves_documents_partially_indexed(
    world: World,
) -> None:
    knowledge_base = world.knowledge_base(world.index(non_filterable=[]))
    source = world.data_source(knowledge_base)
    world.put("short.txt", "A short text fits.")
    world.put("long.txt", "international " * 200)
    world.put("longer.txt", "international " * 330)
    world.put("trees.txt", "tree " * 330, {"note": "short"})

    job = world.sync(knowledge_base, source)
    statuses = world.statuses(knowledge_base, source)
    world.put("trees.txt.metadata.json", json.dumps({"metadataAttributes": {"note": "n" * 500}}))
    world.sync(knowledge_base, source)

    assert statuses == {
        "short.txt": "INDEXED",
        "long.txt": "INDEXED",
        "longer.txt": "PARTIALLY_INDEXED",
        "trees.txt": "INDEXED",
    }
    after = world.statuses(knowledge_base, source)
    assert after["trees.txt"] == "METADATA_PARTIALLY_INDEXED"
    assert job["statistics"]["numberOfDocumentsFailed"] == 2
    assert "Filterable metadata must have at most 2048 bytes" in job["failureReasons"][0]
    found = {"short.txt", "longer.txt", "trees.txt"}
    eventually(lambda: world.found_keys(knowledge_base, "text") == found)
