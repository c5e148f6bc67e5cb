"""Clients that sign in by themselves, unmodified; a browser stands for the person."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from mcp_types import TextContent
from pydantic import AnyUrl

from stackroom_local.gateway.issuer import CLIENT_ID
from tests.gateway.browser import sign_in
from tests.gateway.flow import CALLBACK
from tests.gateway.serving import TOOL, RunningGateway, a_call, serving


class Storage:
    """What a client of the SDK keeps, between its starts too."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class SdkClient:
    """The SDK's client with its OAuthClientProvider, and how often it asked the person."""

    def __init__(self, url: str, storage: Storage, user: str) -> None:
        self.url = url
        self.asked = 0
        self.storage = storage
        self._user = user
        self._answer: dict[str, str] = {}
        self.auth = OAuthClientProvider(
            url,
            OAuthClientMetadata(client_name="a client", redirect_uris=[AnyUrl(CALLBACK)]),
            storage,
            redirect_handler=self._open,
            callback_handler=self._called_back,
        )

    async def _open(self, link: str) -> None:
        self.asked += 1
        self._answer = await asyncio.to_thread(sign_in, link, self._user)

    async def _called_back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult.model_validate(self._answer)

    async def echo(self) -> dict[str, Any]:
        """What the echo function saw of one call."""
        async with (
            httpx2.AsyncClient(auth=self.auth, timeout=120) as http,
            Client(streamable_http_client(self.url, http_client=http)) as client,
        ):
            result = await client.call_tool(TOOL, {"query": "hi"})
            (block,) = result.content
            assert isinstance(block, TextContent)
            return dict(json.loads(block.text))


def headers(seen: dict[str, Any]) -> dict[str, str]:
    return dict(seen["custom"]["bedrockAgentCorePropagatedHeaders"])


def test_the_sdks_client_signs_in_by_itself(gateway: RunningGateway) -> None:
    storage = Storage()
    client = SdkClient(gateway.url, storage, "carol")

    seen = asyncio.run(client.echo())

    assert headers(seen)["x-user-sub"] == "carol"
    assert client.asked == 1
    assert storage.client
    assert storage.client.client_id == CLIENT_ID


@pytest.mark.processes
def test_the_sdks_client_refreshes_an_expired_token_by_itself(tmp_path: Path) -> None:
    with serving(tmp_path, access_token_seconds=15) as gateway:
        client = SdkClient(gateway.url, Storage(), "carol")

        before = asyncio.run(client.echo())
        _await_expiry(gateway, client)
        after = asyncio.run(client.echo())

        assert client.asked == 1
        assert headers(after) == headers(before)


def _await_expiry(gateway: RunningGateway, client: SdkClient) -> None:
    """By the gateway's clock and by the client's, which began to count when the token arrived."""
    tokens = client.storage.tokens
    assert tokens
    while client.auth.context.is_token_valid() or _passes(gateway, tokens.access_token):
        time.sleep(0.2)


def _passes(gateway: RunningGateway, token: str) -> bool:
    return gateway.post(a_call(query="hi"), token=token).status_code == 200
