"""An upload is refused that the disk has no room for."""

import asyncio
from pathlib import Path

import httpx
import pytest
from ministack.services import s3
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from stackroom_local.ministack import room_guard
from stackroom_local.ministack.room_guard import RoomGuard

SIGNED = {"authorization": "AWS4-HMAC-SHA256 Credential=A/20261125/us-east-1/s3/aws4_request, ..."}
TABLES = {"authorization": "AWS4-HMAC-SHA256 Credential=A/20261125/us-east-1/dynamodb/aws4_request"}
FORM = {"content-type": "multipart/form-data; boundary=x"}
MORE_THAN_ANY_DISK = 2**62


def answer(
    folder: Path,
    method: str,
    path: str,
    headers: dict[str, str],
    *,
    spare: int,
    body: bytes = b"",
) -> httpx.Response:
    guarded = RoomGuard(PlainTextResponse("served"), folder, spare)
    return asked(guarded, method, path, headers, body)


def asked(
    guarded: RoomGuard, method: str, path: str, headers: dict[str, str], body: bytes = b""
) -> httpx.Response:
    async def answered() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(guarded)) as client:
            url = f"http://127.0.0.1{path}"
            return await client.request(method, url, headers=headers, content=body)

    return asyncio.run(answered())


@pytest.mark.parametrize(
    ("method", "path", "headers", "is_upload"),
    [
        ("PUT", "/docs/alice/a.txt", SIGNED, True),
        ("PUT", "/docs/alice/a.txt?X-Amz-Signature=0a", {}, True),
        ("POST", "/docs", FORM, True),
        ("PUT", "/docs/alice/a.txt.metadata.json", SIGNED, False),
        ("GET", "/docs/alice/a.txt", SIGNED, False),
        ("DELETE", "/docs/alice/a.txt", SIGNED, False),
        ("POST", "/", TABLES, False),
    ],
)
def test_uploads_need_room_and_nothing_else_does(
    tmp_path: Path, method: str, path: str, headers: dict[str, str], is_upload: bool
) -> None:
    refused = answer(tmp_path, method, path, headers, spare=MORE_THAN_ANY_DISK)
    served = answer(tmp_path, method, path, headers, spare=0)

    assert refused.status_code == (507 if is_upload else 200)
    assert served.status_code == 200
    if is_upload:
        assert "<Code>InsufficientStorage</Code>" in refused.text
        assert str(tmp_path) in refused.text
        assert "make room" in refused.text


def test_size_of_the_upload_counts_against_the_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free(monkeypatch, 100)

    fits = answer(tmp_path, "PUT", "/docs/a", SIGNED, spare=90, body=bytes(10))
    too_long = answer(tmp_path, "PUT", "/docs/a", SIGNED, spare=90, body=bytes(11))

    assert (fits.status_code, too_long.status_code) == (200, 507)


def test_uploads_that_are_under_way_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both would pass a look at the disk, and one of them be lost."""
    free(monkeypatch, 15)
    second = list[httpx.Response]()

    async def writing(scope: Scope, receive: Receive, send: Send) -> None:
        if not second:
            async with httpx.AsyncClient(transport=httpx.ASGITransport(guarded)) as client:
                url = "http://127.0.0.1/docs/b"
                second.append(await client.put(url, headers=SIGNED, content=bytes(10)))
        await PlainTextResponse("served")(scope, receive, send)

    guarded = RoomGuard(writing, tmp_path, 0)
    first = asked(guarded, "PUT", "/docs/a", SIGNED, bytes(10))

    assert (first.status_code, second[0].status_code) == (200, 507)


def test_upload_that_could_not_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check of the disk passed, or others took the room meanwhile."""
    monkeypatch.setattr(s3.logger, "warning", s3.logger.warning)
    monkeypatch.setattr(s3, "DATA_DIR", str(tmp_path / "a file"))
    (tmp_path / "a file").touch()
    room_guard.install()

    async def stored(scope: Scope, receive: Receive, send: Send) -> None:
        s3._persist_object("docs", "a.txt", {"body": b"text"})
        await PlainTextResponse("served")(scope, receive, send)

    page = {"origin": "http://127.0.0.1:4569"}
    refused = asked(RoomGuard(stored, tmp_path), "PUT", "/docs/a.metadata.json", SIGNED | page)

    assert refused.status_code == 507
    assert "Not a directory" in refused.text
    assert refused.headers["access-control-allow-origin"] == page["origin"], "the page tells it"


@pytest.mark.parametrize(
    ("operation", "grows"),
    [
        ("DynamoDB_20120810.PutItem", True),
        ("AmazonSQS.SendMessageBatch", True),
        ("DynamoDB_20120810.Query", False),
        ("DynamoDB_20120810.TransactGetItems", False),
        ("AWSStepFunctions.SendTaskSuccess", False),
        ("AWSEvents.PutEvents", False),
    ],
)
def test_tables_and_queues_grow_no_further_than_what_a_stop_can_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: str, *, grows: bool
) -> None:
    free(monkeypatch, 0)
    guarded = RoomGuard(PlainTextResponse("served"), tmp_path, kept=80, reserved=100)
    headers = {**TABLES, "x-amz-target": operation}

    first, second = (asked(guarded, "POST", "/", headers, bytes(15)) for _ in range(2))

    assert first.status_code == 200
    assert second.status_code == (507 if grows else 200)
    if grows:
        assert second.json()["__type"] == "InsufficientStorage"


def free(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: type("Usage", (), {"free": size}))
