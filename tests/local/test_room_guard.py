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

FORM = {"content-type": "multipart/form-data; boundary=x"}
MORE_THAN_ANY_DISK = 2**62


def asked(guarded: RoomGuard, method: str, path: str, headers: dict[str, str]) -> httpx.Response:
    async def answered() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(guarded)) as client:
            return await client.request(method, f"http://127.0.0.1{path}", headers=headers)

    return asyncio.run(answered())


@pytest.mark.parametrize(
    ("method", "path", "headers", "is_upload"),
    [
        ("PUT", "/docs/alice/a.txt", {}, True),
        ("POST", "/docs", FORM, True),
        ("PUT", "/docs/alice/a.txt.metadata.json", {}, False),
        ("DELETE", "/docs/alice/a.txt", {}, False),
        ("POST", "/", {}, False),
    ],
)
def test_uploads_need_room_and_nothing_else_does(
    tmp_path: Path, method: str, path: str, headers: dict[str, str], is_upload: bool
) -> None:
    refused, served = (
        asked(RoomGuard(PlainTextResponse("served"), tmp_path, spare), method, path, headers)
        for spare in (MORE_THAN_ANY_DISK, 0)
    )

    assert refused.status_code == (507 if is_upload else 200)
    assert served.status_code == 200
    if is_upload:
        assert "<Code>InsufficientStorage</Code>" in refused.text
        assert str(tmp_path) in refused.text
        assert "make room" in refused.text


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
    refused = asked(RoomGuard(stored, tmp_path), "PUT", "/docs/a.metadata.json", page)

    assert refused.status_code == 507
    assert "Not a directory" in refused.text
    assert refused.headers["access-control-allow-origin"] == page["origin"], "the page tells it"
