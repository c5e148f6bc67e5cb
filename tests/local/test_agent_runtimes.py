"""The stand-in of AgentCore Runtime, before agents that don't answer as they should."""

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse

from stackroom_local.gateway.issuer import Issuer
from stackroom_local.ministack.agent_invocations import Runtime
from stackroom_local.ministack.agent_runtimes import Runtimes, folder_in

pytestmark = pytest.mark.processes

ISSUER = "http://issuer.invalid"
DISCARD = "http://127.0.0.1:9"  # which nobody serves
SESSION = "x-amzn-bedrock-agentcore-runtime-session-id"


class Refusing(BaseHTTPRequestHandler):
    """An agent's process that refuses by a status."""

    def do_POST(self) -> None:
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"error": "nobody sees this"}')


@pytest.fixture
def issuer(tmp_path: Path) -> Issuer:
    folder_in(tmp_path).mkdir()
    (folder_in(tmp_path) / "agent-1.json").write_text("{}")
    return Issuer.open(tmp_path / "gateway", url=ISSUER)


@pytest.fixture
def refusing() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def answer(state: Path, method: str, runtime: str, token: str, **headers: str) -> httpx.Response:
    async def asked() -> httpx.Response:
        transport = httpx.ASGITransport(Runtimes(PlainTextResponse("stored"), state, ISSUER))
        sent = {"Authorization": f"Bearer {token}", **headers}
        async with httpx.AsyncClient(transport=transport, headers=sent) as client:
            url = f"http://h/runtimes/{runtime}/invocations"
            return await client.request(method, url, json={"prompt": "?"})

    return asyncio.run(asked())


def address(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    async def its(_runtime: Runtime) -> str:
        return url

    monkeypatch.setattr(Runtime, "address", its)


def test_object_named_like_a_runtime_path_is_stored(tmp_path: Path) -> None:
    assert answer(tmp_path, "PUT", "alice", "none").text == "stored"


def test_agent_gets_no_call_without_a_token_of_its_pool_and_a_session(
    issuer: Issuer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address(monkeypatch, DISCARD)
    forged = f"{issuer.mint('alice')[:-8]}AAAAAAAA"
    of_another_client = issuer.mint("alice", client_id="another")

    refused = [
        answer(tmp_path, "POST", "agent-1", each) for each in ("none", forged, of_another_client)
    ]
    sessionless = answer(tmp_path, "POST", "agent-1", issuer.mint("alice"), **{SESSION: "short"})

    assert [each.status_code for each in refused] == [401, 401, 401]
    assert sessionless.status_code == 400


def test_dead_unknown_or_refusing_agent_is_reported_in_the_runtimes_words(
    issuer: Issuer, tmp_path: Path, refusing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = issuer.mint("alice")
    address(monkeypatch, DISCARD)
    died, never = (answer(tmp_path, "POST", each, token) for each in ("agent-1", "x" * 300))
    address(monkeypatch, refusing)
    refused = answer(tmp_path, "POST", "agent-1", token)

    assert (died.status_code, never.status_code, refused.status_code) == (424, 404, 424)
    assert "agent-1.log" in died.json()["message"]
    assert "agent-1.log" in refused.json()["message"]
    assert "nobody sees this" not in refused.text
