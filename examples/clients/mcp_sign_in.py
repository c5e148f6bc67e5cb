import asyncio
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qsl, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

URL = os.environ["STACKROOM_MCP_URL"]


class Memory:  # keep both in a file, and nobody is asked again
    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Callback(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.answer = AuthorizationCodeResult(**dict(parse_qsl(urlsplit(self.path).query)))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"Signed in. Close this page.")

    def log_message(self, *_):  # the address has the code
        pass


async def main() -> None:
    server = HTTPServer(("127.0.0.1", 0), Callback)

    async def show(link: str) -> None:
        print("Sign in at", link, flush=True)

    async def called_back() -> AuthorizationCodeResult:
        await asyncio.to_thread(server.handle_request)
        return server.answer

    metadata = OAuthClientMetadata(
        client_name="example", redirect_uris=[f"http://127.0.0.1:{server.server_port}/"]
    )
    sign_in = OAuthClientProvider(URL, metadata, Memory(), show, called_back)
    async with (
        httpx2.AsyncClient(auth=sign_in, timeout=60) as http,
        Client(streamable_http_client(URL, http_client=http)) as client,
    ):
        answer = await client.call_tool(
            "knowledge___knowledge_base_retrieve",
            {"query": "daily meal allowance in Norway"},
        )
        print(answer.content[0].text)


asyncio.run(main())
