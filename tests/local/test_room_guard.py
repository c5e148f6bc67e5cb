"""An upload is refused that the disk has no room for."""

import asyncio
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse

from stackroom_local.room_guard import RoomGuard

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

    async def asked() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(guarded)) as client:
            url = f"http://127.0.0.1{path}"
            return await client.request(method, url, headers=headers, content=body)

    return asyncio.run(asked())


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


def test_what_is_sent_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: type("Usage", (), {"free": 100}))

    fits = answer(tmp_path, "PUT", "/docs/a", SIGNED, spare=90, body=bytes(10))
    too_long = answer(tmp_path, "PUT", "/docs/a", SIGNED, spare=90, body=bytes(11))

    assert (fits.status_code, too_long.status_code) == (200, 507)
