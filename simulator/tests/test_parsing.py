"""parsingConfiguration: pages and files that are images become searchable by OCR."""

import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import psutil
import pytest

from bedrock_kb_simulator.parser_process import _ocr_pages
from bedrock_kb_simulator.parsing import ChildParser
from bedrock_kb_simulator.service_errors import Unindexable
from simulator.tests import files
from simulator.tests.holding import holds
from simulator.tests.world import (
    CUSTOM,
    HAIKU,
    World,
    at,
    data_source_request,
    eventually,
    inline,
    invalid,
)

pytestmark = pytest.mark.processes

NIMBUS = "Warehouse Nimbus keeps 4,812 crates of saffron."
LEAKS = "Tenants must report leaks to the caretaker within two days."
BY_MODEL: dict[str, Any] = {
    "parsingConfiguration": {
        "parsingStrategy": "BEDROCK_FOUNDATION_MODEL",
        "bedrockFoundationModelConfiguration": {
            "modelArn": HAIKU,
            "parsingPrompt": {"parsingPromptText": "Transcribe the page."},
            "parsingModality": "MULTIMODAL",
        },
    }
}
BY_AUTOMATION: dict[str, Any] = {
    "parsingConfiguration": {
        "parsingStrategy": "BEDROCK_DATA_AUTOMATION",
        "bedrockDataAutomationConfiguration": {"parsingModality": "MULTIMODAL"},
    }
}
TRANSFORMED = {
    "intermediateStorage": {"s3Location": {"uri": "s3://some-bucket/chunks"}},
    "transformations": [
        {
            "stepToApply": "POST_CHUNKING",
            "transformationFunction": {
                "transformationLambdaConfiguration": {
                    "lambdaArn": "arn:aws:lambda:us-east-1:000000000000:function:f"
                }
            },
        }
    ],
}


def of_parsing(strategy: str) -> dict[str, Any]:
    return {"parsingConfiguration": {"parsingStrategy": strategy}}


@pytest.fixture
def parser() -> Iterator[ChildParser]:
    parser = ChildParser()
    yield parser
    parser.close()


@holds("parse.images", "chunk.boundaries")
def test_scanned_pdf_is_found_by_the_text_of_its_pages(world: World) -> None:
    knowledge_base, source = world.pair(vectorIngestionConfiguration=BY_MODEL)
    world.put("scan.pdf", files.scanned_pdf(NIMBUS, read=[LEAKS]))

    job = world.sync(knowledge_base, source)

    assert job["statistics"]["numberOfNewDocumentsIndexed"] == 1
    saffron = eventually(lambda: world.search(knowledge_base, "saffron in the warehouse"))
    assert [result["content"]["text"] for result in saffron] == [NIMBUS, LEAKS]


@holds("parse.images", "parse.image-size", "file.format")
def test_image_is_a_document_where_images_are_parsed(world: World) -> None:
    knowledge_base = world.knowledge_base()
    blind = world.data_source(knowledge_base, "a/")
    seeing = world.data_source(knowledge_base, "b/", vectorIngestionConfiguration=BY_AUTOMATION)
    for prefix in ("a/", "b/"):
        world.put(f"{prefix}photo.png", files.photograph(NIMBUS))
        world.put(f"{prefix}photo.jpeg", files.photograph(LEAKS, "JPEG"))
    world.put("b/large.jpg", files.photograph(LEAKS, "JPEG") + bytes(3_932_160))
    world.put("b/fake.png", "no picture at all")

    world.sync(knowledge_base, blind)
    job = world.sync(knowledge_base, seeing)

    assert set(world.statuses(knowledge_base, blind).values()) == {"IGNORED"}
    assert world.statuses(knowledge_base, seeing) == {
        "b/photo.png": "INDEXED",
        "b/photo.jpeg": "INDEXED",
        "b/large.jpg": "FAILED",
        "b/fake.png": "FAILED",
    }
    assert "MaximumFileSizeSupported: 3932160 bytes" in " ".join(job["failureReasons"])
    seen = {"b/photo.png", "b/photo.jpeg"}
    assert eventually(lambda: world.found_keys(knowledge_base, "saffron") == seen)


@holds("parse.images")
def test_inline_image_is_a_document_where_images_are_parsed(world: World) -> None:
    knowledge_base = world.knowledge_base()
    custom: dict[str, Any] = {"dataSourceConfiguration": CUSTOM}
    blind = world.data_source(knowledge_base, **custom)
    seeing = world.data_source(knowledge_base, vectorIngestionConfiguration=BY_MODEL, **custom)
    picture = {"mimeType": "image/png", "data": files.photograph(NIMBUS)}
    document = inline("photo", "")
    document["content"]["custom"]["inlineContent"] = {"type": "BYTE", "byteContent": picture}
    del document["metadata"]

    def reads(key: dict[str, str], status: str) -> bool:
        [only] = world.agent.list_knowledge_base_documents(**key)["documentDetails"]
        return bool(only["status"] == status)

    for source, end in ((blind, "IGNORED"), (seeing, "INDEXED")):
        key = at(knowledge_base, source)
        world.agent.ingest_knowledge_base_documents(**key, documents=[document])
        eventually(partial(reads, key, end))


@holds("parse.fallback")
def test_document_that_ocr_fails_on_is_read_as_text(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(self: ChildParser, body: bytes, filename: str) -> tuple[str, ...]:
        raise Unindexable("no")

    monkeypatch.setattr(ChildParser, "page_texts", none)
    knowledge_base, source = world.pair(vectorIngestionConfiguration=BY_MODEL)
    world.put("text.pdf", files.pdf(LEAKS))
    world.put("scan.pdf", files.scanned_pdf(NIMBUS))

    world.sync(knowledge_base, source)

    assert world.statuses(knowledge_base, source) == {"text.pdf": "INDEXED", "scan.pdf": "FAILED"}


def test_missing_ocr_package_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scan = files.scanned_pdf(NIMBUS)
    monkeypatch.delitem(sys.modules, "bedrock_kb_simulator.ocr", raising=False)
    monkeypatch.setitem(sys.modules, "PIL", None)

    [answer] = _ocr_pages(scan, "scan.pdf")

    assert answer["error"].startswith("reading images requires the package rapidocr: ")


@holds("parse.configuration", "parse.managed", "request.not-simulated")
@pytest.mark.parametrize(
    ("configuration", "problem"),
    [
        (of_parsing("BEDROCK_FOUNDATION_MODEL"), "needs bedrockFoundationModelConfiguration"),
        (of_parsing("SMART_PARSING"), "supported for managed knowledge bases only"),
        ({"customTransformationConfiguration": TRANSFORMED}, "customTransformationConfiguration"),
    ],
    ids=["no model", "managed", "transformation"],
)
def test_invalid_parsing_configuration_is_refused_with_the_reason(
    world: World, configuration: dict[str, Any], problem: str
) -> None:
    request = data_source_request(world.knowledge_base(), world.bucket)
    given = {**request, "vectorIngestionConfiguration": configuration}

    assert problem in invalid(world.agent.create_data_source, **given)


def test_pages_with_little_text_none_or_columns_are_read(
    parser: ChildParser,
) -> None:
    pages = ("Crates", "4812", "\n" * 40 + "Page 1 of 2", "", f"Crates{' ' * 60}4812\nBarrels")

    read = parser.page_texts(files.scanned_pdf(*pages), "scan.pdf")

    assert read == ("Crates", "4812", "Page 1 of 2", "", "Crates 4812\nBarrels")


def test_page_that_exceeds_time_limit_is_unindexable() -> None:
    parser = ChildParser(seconds=0.05)
    try:
        with pytest.raises(Unindexable):
            parser.page_texts(files.scanned_pdf(NIMBUS), "scan.pdf")
    finally:
        parser.close()


def test_killed_child_is_replaced(parser: ChildParser) -> None:
    scan = files.scanned_pdf(NIMBUS)
    before = set(psutil.Process().children())
    parser.page_texts(scan, "scan.pdf")
    (child,) = set(psutil.Process().children()) - before

    os.kill(child.pid, signal.SIGKILL)
    child.wait(60)  # until the last of its threads is gone

    assert parser.page_texts(scan, "scan.pdf") == (NIMBUS,)


def test_close_ends_a_running_child_and_later_reads_return_none() -> None:
    parser = ChildParser()
    children = psutil.Process().children
    before = set(children())

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(parser.page_texts, files.scanned_pdf(*[NIMBUS] * 40), "scan.pdf")
        eventually(lambda: set(children()) - before)
        parser.close()
        error = reading.exception(timeout=5)

    assert isinstance(error, Unindexable)
    with pytest.raises(Unindexable):
        parser.page_texts(files.scanned_pdf(NIMBUS), "scan.pdf")
    assert set(children()) == before
