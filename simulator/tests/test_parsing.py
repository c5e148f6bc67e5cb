"""parsingConfiguration: pages and files that are images become searchable by OCR."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from bedrock_kb_simulator.parser_process import _ocr_pages
from bedrock_kb_simulator.parsing import ChildParser
from bedrock_kb_simulator.service_errors import Unindexable
from simulator.tests import files
from simulator.tests.holding import holds
from simulator.tests.world import (
    HAIKU,
    World,
    data_source_request,
    eventually,
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


def test_page_that_exceeds_time_limit_is_unindexable() -> None:
    parser = ChildParser(seconds=0.05)
    try:
        with pytest.raises(Unindexable):
            parser.page_texts(files.scanned_pdf(NIMBUS), "scan.pdf")
    finally:
        parser.close()
