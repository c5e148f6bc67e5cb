"""Textract's DetectDocumentText: lines and words of a page."""

import io
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ReadTimeoutError
from PIL import Image, ImageDraw, ImageFont

from bedrock_kb_simulator import orders, rules
from bedrock_kb_simulator.fault_orders import PATH as FAULTS
from simulator.tests import files
from simulator.tests.holding import holds
from simulator.tests.world import KEY, REGION, World, client, eventually, refused

pytestmark = pytest.mark.processes

NIMBUS = "Warehouse Nimbus keeps 4,812 crates of saffron."


def detected(world: World, body: bytes) -> list[dict[str, Any]]:
    answer = client("textract", world.endpoint).detect_document_text(Document={"Bytes": body})
    assert answer["DocumentMetadata"] == {"Pages": 1}
    blocks: list[dict[str, Any]] = answer["Blocks"]
    return blocks


def picture(
    *lines: tuple[str, int], kind: str = "PNG", sides: tuple[int, int] = (900, 400)
) -> bytes:
    """Return an image with lines of text, each with a size in pixels."""
    image = Image.new("L", sides, 255)
    draw, top = ImageDraw.Draw(image), 30
    for text, size in lines:
        draw.text((40, top), text, font=ImageFont.load_default(size), fill=0)
        top += 2 * size + 30
    body = io.BytesIO()
    image.save(body, kind)
    return body.getvalue()


def test_page_has_lines_and_lines_have_words_with_positions(world: World) -> None:
    blocks = detected(world, files.photograph(f"Annex B\n{NIMBUS}"))

    page, *rest = blocks
    lines = [each for each in rest if each["BlockType"] == "LINE"]
    words = {each["Id"]: each for each in rest if each["BlockType"] == "WORD"}
    assert page["Relationships"] == [{"Type": "CHILD", "Ids": [each["Id"] for each in lines]}]
    assert [each["Text"] for each in lines] == ["Annex B", NIMBUS]
    of_last = [words[each]["Text"] for each in lines[-1]["Relationships"][0]["Ids"]]
    assert of_last == NIMBUS.split()
    assert all(90 < each["Confidence"] <= 100 for each in lines)
    tops = [each["Geometry"]["BoundingBox"]["Top"] for each in lines]
    assert 0 < tops[0] < tops[1] < 0.3


@holds("textract.formats")
@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
def test_other_formats_are_recognised_by_their_first_bytes(world: World, kind: str) -> None:
    lines = [each.get("Text") for each in detected(world, picture((NIMBUS, 32), kind=kind))]

    assert NIMBUS in lines
    assert NIMBUS in [each.get("Text") for each in detected(world, files.scanned_pdf(NIMBUS))]
    error = refused_document(world, b"GIF89a" + bytes(100))
    assert error == {
        "Code": "UnsupportedDocumentException",
        "Message": "Request has unsupported document format",
    }


@holds("textract.pages", "textract.unreadable", "textract.pixels", "textract.bytes")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (files.scanned_pdf(NIMBUS, NIMBUS), "UnsupportedDocumentException"),
        (files.photograph(NIMBUS)[:2_000], "BadDocumentException"),
        (files.encrypted_pdf(), "BadDocumentException"),
        (picture(sides=(10_001, 20)), "BadDocumentException"),
        (files.photograph(NIMBUS) + bytes(10_485_760), "DocumentTooLargeException"),
    ],
    ids=["two pages", "cut off", "password", "too wide", "too large"],
)
def test_document_over_a_limit_is_refused_with_its_error(
    world: World, body: bytes, code: str
) -> None:
    assert refused_document(world, body)["Code"] == code


@holds("textract.height")
def test_text_below_the_least_height_is_not_detected(world: World) -> None:
    blocks = detected(world, picture(("The rent is 812 euros.", 40), ("Pets are allowed.", 8)))

    assert [each["Text"] for each in blocks if each["BlockType"] == "LINE"] == [
        "The rent is 812 euros."
    ]


@holds("textract.parameter")
@pytest.mark.parametrize(
    "document", [{}, {"Bytes": b""}, {"S3Object": {"Bucket": "b", "Name": "scan.png"}}]
)
def test_document_must_come_as_bytes(world: World, document: dict[str, Any]) -> None:
    call = client("textract", world.endpoint).detect_document_text

    assert refused(call, Document=document)["Code"] == "InvalidParameterException"


def test_client_that_stopped_waiting_gets_the_text_when_it_retries(world: World) -> None:
    page = picture(*[(NIMBUS, 24)] * 20, sides=(900, 1700))  # read for longer than it waits
    impatient = boto3.client(
        "textract",
        endpoint_url=world.endpoint,
        region_name=REGION,
        aws_access_key_id=KEY,
        aws_secret_access_key=KEY,
        config=Config(read_timeout=0.4, retries={"total_max_attempts": 1}),
    )

    def blocks() -> Any:
        with suppress(ReadTimeoutError):
            return impatient.detect_document_text(Document={"Bytes": page})["Blocks"]

    assert [each.get("Text") for each in eventually(blocks)].count(NIMBUS) == 20


@holds("textract.rate", "rate.DetectDocumentText")
def test_call_over_the_rate_is_refused_with_textracts_own_error(
    world_at: Callable[..., World],
) -> None:
    world = world_at(0.05)
    call = client("textract", world.endpoint).detect_document_text

    codes = [refused(call, Document={"Bytes": b"x"})["Code"] for _ in range(26)]

    assert rules.RATES["DetectDocumentText"] == 25
    assert codes == [*["UnsupportedDocumentException"] * 25, codes[-1]]
    assert codes[-1] == "ProvisionedThroughputExceededException"


@holds("textract.internal-error")
@pytest.mark.parametrize(
    ("kind", "code"),
    [("internal", "InternalServerError"), ("unavailable", "ServiceUnavailableException")],
)
def test_injected_fault_has_textracts_own_error(world: World, kind: str, code: str) -> None:
    fault = {"operation": "DetectDocumentText", "kind": kind}
    orders.send(f"{world.endpoint}{FAULTS}", {"faults": [fault]})

    error = refused_document(world, files.photograph(NIMBUS))

    assert error["Code"] == code


def refused_document(world: World, body: bytes) -> dict[str, str]:
    call = client("textract", world.endpoint).detect_document_text
    return refused(call, Document={"Bytes": body})
