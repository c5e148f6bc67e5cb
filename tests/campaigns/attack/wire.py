"""Raw requests to a gateway, with nothing that a client library adds or mends."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2

ACCEPT = ("Accept", "application/json, text/event-stream")
JSON = ("Content-Type", "application/json")

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Answer:
    """`sent` is all that the attacker said, for what is merely repeated is no leak."""

    status: int
    body: str
    headers: str
    sent: str

    def tool(self) -> dict[str, Any] | None:
        """The function's answer, or nothing if it gave none or no object."""
        try:
            [block] = json.loads(self.body)["result"]["content"]
            told = json.loads(block["text"])
        except (ValueError, KeyError, TypeError):
            return None
        return told if isinstance(told, dict) else None


@dataclass(frozen=True)
class Wire:
    """`url` is the gateway's; one connection for all."""

    url: str
    http: httpx2.Client

    def post(
        self, body: bytes, *, token: str | None, headers: Headers = (), query: str = ""
    ) -> Answer:
        sent = [ACCEPT, JSON, *headers]
        if token is not None:
            sent.append(("Authorization", f"Bearer {token}"))
        raw = [(name.encode(), value.encode()) for name, value in sent]
        response = self.http.post(self.url + query, content=body, headers=raw)
        said = [body.decode("utf-8", "replace"), _meant(body), query]
        said += [value for _, value in headers]
        return answer_of(response, said)

    def call(
        self,
        tool: str,
        arguments: object,
        *,
        token: str | None,
        headers: Headers = (),
        query: str = "",
    ) -> Answer:
        """`tool` with its target: catalogs___list_catalogs."""
        return self.post(
            json.dumps(a_call(tool, arguments)).encode(), token=token, headers=headers, query=query
        )


def a_call(tool: str, arguments: object) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def _meant(body: bytes) -> str:
    """The same without escapes."""
    try:
        return json.dumps(json.loads(body), ensure_ascii=False)
    except ValueError:
        return ""


def answer_of(response: httpx2.Response, said: Iterable[str]) -> Answer:
    return Answer(
        status=response.status_code,
        body=response.content.decode("utf-8", "replace"),
        # A redirection or a challenge may tell as much as a body.
        headers="\n".join(f"{name}: {value}" for name, value in response.headers.items()),
        sent="\n".join(said),
    )
