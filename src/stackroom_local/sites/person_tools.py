"""The catalog tools of a deployment or a local mode, called over MCP as a signed-in person."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx

from stackroom.documents.formats import MAX_FILE_BYTES
from stackroom_local.gateway.mcp_client import ToolFailed, call_tool
from stackroom_local.sites.site import Site
from stackroom_local.sites.site_errors import ToolRefused

_TARGET = "catalogs"
_DOWNLOAD_SECONDS = 120.0


@dataclass(frozen=True)
class PersonsTools:
    site: Site
    token: str

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """The answer's metadata. Raises `ToolRefused` with the text that an agent would see."""
        try:
            answer = call_tool(self.site.mcp_url, self.token, f"{_TARGET}___{tool}", arguments)
        except ToolFailed as error:
            raise ToolRefused(str(error).removeprefix("Error: ")) from error
        if answer["status"] != "success":
            raise ToolRefused(str(answer["content"][0]["text"]).removeprefix("Error: "))
        return dict(answer["metadata"])

    def catalogs(self) -> Iterator[dict[str, Any]]:
        return self._paged("list_catalogs", "catalogs")

    def documents(self, catalog_id: str) -> Iterator[dict[str, Any]]:
        return self._paged("list_catalog_documents", "documents", catalog_id=catalog_id)

    def body(self, catalog_id: str, document_id: str) -> bytes:
        """Of a document, as it lies there. Raises `ToolRefused`, which tells nobody the link."""
        link = self.call("download_from_catalog", catalog_id=catalog_id, document_id=document_id)
        body = bytearray()
        try:
            with httpx.stream("GET", link["download_url"], timeout=_DOWNLOAD_SECONDS) as answer:
                if not answer.is_success:
                    raise ToolRefused(f"the bucket answered {answer.status_code}")
                for part in answer.iter_bytes():
                    body += part
                    if len(body) > MAX_FILE_BYTES:
                        raise ToolRefused("it is larger than any file that is taken")
        except httpx.HTTPError as error:
            raise ToolRefused(f"the bucket didn't answer: {error}") from error
        return bytes(body)

    def _paged(self, tool: str, key: str, **arguments: object) -> Iterator[dict[str, Any]]:
        token = ""
        while True:
            answer = self.call(tool, next_token=token, **arguments)
            yield from answer[key]
            token = answer.get("next_token") or ""
            if not token:
                return
