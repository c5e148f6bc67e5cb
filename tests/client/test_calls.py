"""The client's handling of responses and errors, with a mock transport as the gateway."""

import asyncio
import inspect
import io
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from stackroom.tools.calls import REFUSALS
from stackroom_client import AsyncClient, Client, calls, errors
from stackroom_client.answers import Document, Source, parse_passage

URL = "https://gateway.example/mcp"
BUCKET = "https://bucket.example"
Responder = Callable[[httpx.Request], httpx.Response]


def tool_answer(metadata: dict[str, Any] | None = None, **answer: Any) -> httpx.Response:
    """Return a catalog tool's answer, as the gateway passes it on."""
    whole = {"content": [{"text": "done"}], "status": "success", "metadata": metadata or {}}
    return texts_of(json.dumps(whole | answer))


def texts_of(text: str) -> httpx.Response:
    content = [{"type": "text", "text": text}]
    return httpx.Response(200, json={"id": 1, "result": {"content": content}})


def refused(code: str, **metadata: Any) -> httpx.Response:
    metadata |= {"error_code": code}
    return tool_answer(metadata, status="error", content=[{"text": "Error: no"}])


class Gateway:
    """Return the answers in turn, and the last one from then on; an error is raised."""

    def __init__(self, *answers: httpx.Response | type[httpx.TransportError] | Responder) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.tokens: list[str | None] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        self.tokens.append(request.headers.get("Authorization"))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, httpx.Response):
            return answer
        if isinstance(answer, type):
            raise answer("gone", request=request)
        return answer(request)

    def client(self, token: str | Callable[[], str] = "t") -> Client:
        return Client(URL, token=token, http=httpx.Client(transport=httpx.MockTransport(self)))

    @property
    def params(self) -> list[dict[str, Any]]:
        return [json.loads(each.content)["params"] for each in self.requests]


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses of the client, which doesn't sleep; other threads do."""
    slept: list[float] = []
    monkeypatch.setattr("stackroom_client.client.time", SimpleNamespace(sleep=slept.append))
    return slept


UNAVAILABLE = httpx.Response(503, text="later")
STATUS = tool_answer(
    {
        "catalog_id": "c",
        "overall_status": "ready",
        "documents": {},
        "eta_seconds": 0,
        "failures": [],
    }
)


@pytest.mark.parametrize("trouble", [UNAVAILABLE, httpx.ReadTimeout, httpx.ConnectError])
def test_idempotent_call_is_retried_and_then_given_up(
    trouble: httpx.Response | type[httpx.TransportError], pauses: list[float]
) -> None:
    once, always = Gateway(trouble, STATUS), Gateway(trouble)

    assert once.client().status("c").overall_status == "ready"
    with pytest.raises(
        errors.Unavailable, match=r"responded with 503: later|mcp does not respond \(gone\)"
    ):
        always.client().status("c")
    assert (len(once.requests), len(always.requests)) == (2, 4)
    assert len(pauses) == 4


def test_creating_call_is_repeated_only_if_it_had_not_begun() -> None:
    made = tool_answer({"catalog_id": "cat-1", "catalog_name": "N"})

    for trouble in (httpx.Response(429), httpx.ConnectError):
        assert Gateway(trouble, made).client().create_catalog("N").catalog_id == "cat-1"
    for unknown in (UNAVAILABLE, httpx.ReadTimeout):
        gateway = Gateway(unknown, made)
        with pytest.raises(errors.Unavailable):
            gateway.client().create_catalog("N")
        assert len(gateway.requests) == 1


def test_retry_after_of_the_gateway_is_respected(pauses: list[float]) -> None:
    busy = httpx.Response(429, headers={"Retry-After": "7"})

    Gateway(busy, STATUS).client().status("c")
    with pytest.raises(errors.Throttled) as raised:
        Gateway(busy).client().status("c")

    assert pauses == [7.0] * 4
    assert raised.value.retry_after == 7.0


def test_new_token_is_requested_once_after_a_401() -> None:
    tokens = iter(["old", "new"])
    late, never = Gateway(httpx.Response(401), STATUS), Gateway(httpx.Response(401, text="who?"))

    late.client(token=lambda: next(tokens)).status("c")
    with pytest.raises(errors.NotSignedIn, match="the gateway responded with 401: who"):
        never.client(token=lambda: "old").status("c")
    with pytest.raises(errors.NotSignedIn):
        Gateway(httpx.Response(403)).client(token=lambda: "of another gateway").status("c")

    assert late.tokens == ["Bearer old", "Bearer new"]
    assert len(never.requests) == 2


@pytest.mark.parametrize(
    "code", sorted({each.code for each in REFUSALS.values()} | {"UNAVAILABLE"})
)
def test_every_error_code_of_the_tools_has_an_error_class(code: str) -> None:
    with pytest.raises(errors.StackroomError, match=r"^no$") as raised:
        Gateway(refused(code, retry_after_seconds=3)).client().status("c")

    known: tuple[Any, ...] = (
        errors.NotSignedIn,
        errors.Unavailable,
        *errors.Refused.__subclasses__(),
    )
    assert isinstance(raised.value, known) or code in {
        "NO_CATALOG_SELECTED",
        "CONFIRMATION_REQUIRED",
    }
    if isinstance(raised.value, errors.Throttled):
        assert raised.value.retry_after == 3


def test_no_results_has_the_nearest_sources() -> None:
    place: dict[str, Any] = {
        "filename": "a.pdf",
        "document_id": "doc-1",
        "page": 3,
        "section": None,
    }

    with pytest.raises(errors.NoResults) as raised:
        Gateway(refused("NO_RESULTS", nearest=[place])).client().ask("why?")
    with pytest.raises(errors.NoResults) as without:
        Gateway(refused("NO_RESULTS")).client().ask("why?")

    assert raised.value.nearest == (Source(**place),)
    assert (raised.value.code, without.value.nearest) == ("NO_RESULTS", ())


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (
            httpx.Response(
                200, json={"id": 1, "error": {"code": -32602, "message": "Unknown tool: x"}}
            ),
            "Unknown tool",
        ),
        (
            httpx.Response(
                200, json={"id": 1, "result": {"isError": True, "content": [{"text": "broke"}]}}
            ),
            "broke",
        ),
        (httpx.Response(500, text="<html>"), "500: <html>"),
        (httpx.Response(200, json=[]), "200"),
        (httpx.Response(200, json={"id": 1, "result": {"isError": True}}), "200"),
        (texts_of("An internal error occurred."), "An internal error"),
    ],
    ids=["unknown", "broke", "page", "list", "no text", "no json"],
)
def test_malformed_tool_answer_is_reported_as_received(answer: httpx.Response, text: str) -> None:
    with pytest.raises(errors.GatewayError, match=text):
        Gateway(answer).client().status("c")


def test_answer_is_read_from_an_event_stream() -> None:
    notice = 'data: {"method": "notifications/message"}\n\n'
    stream = f"{notice}event: message\ndata: {STATUS.text}\n\n"
    headers = {"Content-Type": "text/event-stream"}

    client = Gateway(httpx.Response(200, text=stream, headers=headers)).client()

    assert client.status("c").overall_status == "ready"


class MeteredFile(io.BytesIO):
    """A file that records the largest piece that was read from it."""

    most = 0

    def read(self, size: int | None = -1) -> bytes:
        piece = super().read(size)
        self.most = max(self.most, len(piece))
        return piece


def uploading(request: httpx.Request) -> httpx.Response:
    if request.url.host == "gateway.example":
        fields = {"key": "alice/n/a.txt", "policy": "p"}
        whole = {"catalog_id": "c", "document_id": "doc-1", "filename": "a.txt"}
        return tool_answer({**whole, "upload_url": BUCKET, "upload_fields": fields})
    return httpx.Response(204, headers={"ETag": '"e1"', "Date": "Thu, 26 Nov 2026 08:00:00 GMT"})


def test_upload_streams_the_file_by_the_link_alone_without_the_token() -> None:
    gateway, file, seen = Gateway(uploading), MeteredFile(b"x" * 200_000), list[tuple[int, int]]()

    sent = gateway.client().upload(
        "c", file, name="a.txt", progress=lambda done, total: seen.append((done, total))
    )

    form = gateway.requests[-1]
    assert (form.url.host, "Authorization" in form.headers) == ("bucket.example", False)
    assert form.content.index(b'name="policy"') < form.content.index(b'name="file"')
    assert b"x" * 200_000 in form.content
    assert file.most <= 65_536
    assert (seen[-1], len(seen)) == ((200_000, 200_000), 4)
    assert (sent.document_id, sent.etag) == ("doc-1", "e1")


def test_typed_metadata_is_sent_as_json_with_dates_in_iso_8601() -> None:
    gateway, at = Gateway(uploading), datetime(2026, 3, 1, 10, 30, 5, 7, tzinfo=UTC)
    metadata: dict[str, Any] = {"year": 2026, "public": True, "tags": ["a"]}
    metadata |= {"signed": at.date(), "sent": at}

    gateway.client().upload("c", b"x", name="a.txt", metadata=metadata)

    sent = json.loads(gateway.requests[0].content)["params"]["arguments"]["metadata"]
    dates = {"signed": "2026-03-01", "sent": "2026-03-01T10:30:05+00:00"}
    assert sent == {"year": 2026, "public": True, "tags": ["a"], **dates}


def test_failed_upload_is_retried_with_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"all of it")
    gateway = Gateway(uploading, UNAVAILABLE, uploading)

    gateway.client().upload("c", path)

    assert [b"all of it" in each.content for each in gateway.requests] == [False, True, True]
    assert gateway.requests[0].headers["Mcp-Name"] == "catalogs___upload_to_catalog"


def test_file_of_a_wrong_size_is_refused_with_the_buckets_message() -> None:
    text = "Your proposed upload is smaller than the minimum allowed object size."
    body = f"<Error><Code>EntityTooSmall</Code>\n<Message>{text}</Message></Error>"
    gateway = Gateway(uploading, httpx.Response(400, text=body))

    with pytest.raises(errors.InvalidArgument) as refused:
        gateway.client().upload("c", b"", name="a.txt")

    assert (str(refused.value), refused.value.code) == (text, "EntityTooSmall")


def test_download_is_streamed_and_a_failed_one_keeps_the_file(tmp_path: Path) -> None:
    pieces = httpx.Response(200, content=iter([b"Ebb is ", b"at four."]))
    link = tool_answer({"download_url": f"{BUCKET}/a.txt?signature=hidden"})
    [document] = Gateway(listed(a_document())).client().wait("c")
    copy = tmp_path / "copy.txt"

    Gateway(link, pieces).client().download(document, copy)
    assert copy.read_text() == "Ebb is at four."
    for trouble, error in ((httpx.ReadError, errors.Unavailable), (403, errors.GatewayError)):
        answer = httpx.Response(trouble) if isinstance(trouble, int) else trouble
        with pytest.raises(error) as refused:
            Gateway(link, answer).client().download(document, copy)
        assert "hidden" not in str(refused.value)
    broken = httpx.Response(200, content=_breaks_off())
    with pytest.raises(errors.Unavailable):
        Gateway(link, broken).client().download(document, copy)
    assert [(each, each.read_text()) for each in tmp_path.iterdir()] == [(copy, "Ebb is at four.")]


def _breaks_off() -> Iterator[bytes]:
    yield b"Ebb"
    raise httpx.ReadError("reset")


def listed(*documents: dict[str, Any]) -> httpx.Response:
    return tool_answer({"documents": list(documents), "next_token": None})


def a_document(
    status: str = "indexed", *, etag: str = "e1", at: str = "08:00:01"
) -> dict[str, Any]:
    return {
        "document_id": "doc-1",
        "filename": "a.txt",
        "file_size_kb": 1.0,
        "etag": etag,
        "indexing_status": status,
        "status_reason": None,
        "uploaded_at": f"2026-11-26T{at}Z",
    }


def test_wait_follows_the_replacing_upload_not_the_earlier_version() -> None:
    gateway = Gateway(
        uploading,
        uploading,
        listed(a_document(etag="e0", at="08:00:00")),
        listed(a_document("pending")),
        listed(a_document("failed", at="07:00:00")),
        listed(a_document("failed")),
    )
    client = gateway.client()
    sent = client.upload("c", b"b", name="a.txt", replace=True)

    [document] = client.wait("c", [sent])

    assert (document.indexing_status, len(gateway.requests)) == ("failed", 6)


def test_wait_for_an_upload_ends_when_another_took_its_place() -> None:
    gateway = Gateway(uploading, uploading, listed(a_document("pending", etag="e2", at="08:00:09")))
    client = gateway.client()
    sent = client.upload("c", b"b", name="a.txt", replace=True)

    with pytest.raises(errors.UploadReplaced, match=r"again at 2026-11-26T08:00:09"):
        client.wait("c", sent)


def test_wait_skips_unchanged_document_and_raises_for_a_missing_one() -> None:
    gateway = Gateway(uploading, uploading, listed(a_document(at="07:00:00")), listed())
    client = gateway.client()
    sent = client.upload("c", b"b", name="a.txt", replace=True)

    assert [each.document_id for each in client.wait("c", [sent])] == ["doc-1"]
    with pytest.raises(errors.DocumentNotFound, match="doc-1"):
        client.wait("c", "doc-1")
    with pytest.raises(TimeoutError):
        Gateway(listed(a_document("pending"))).client().wait("c", timeout=-1)


def test_catalog_deletion_is_repeated_until_nothing_is_left(pauses: list[float]) -> None:
    deleted = tool_answer(
        {
            "catalog_id": "c",
            "documents_deleted": 3,
            "storage_freed_mb": 1.0,
            "data_source_deleted": False,
            "vectors_cleanup_initiated": True,
            "receipt_ids_count": 3,
        }
    )
    gateway = Gateway(deleted, UNAVAILABLE, deleted, refused("CATALOG_NOT_FOUND"))

    assert gateway.client().delete_catalog("c", timeout=60).documents_deleted == 3

    assert [each["arguments"]["confirm"] for each in gateway.params] == [True] * 4


def catalogs(*names: str) -> httpx.Response:
    found = [{"catalog_id": f"cat-{each}", "catalog_name": each} for each in names]
    return tool_answer({"catalogs": found, "next_token": None})


def test_catalog_is_opened_by_name_in_any_unicode_form() -> None:
    for name in ("Bu\u0308ro 1", "b\u00fcro\u00a01"):
        opened = Gateway(catalogs("B\u00fcro 1")).client().open_catalog(name)
        assert opened.catalog_id == "cat-B\u00fcro 1"


def test_catalog_that_another_program_creates_meanwhile_is_opened() -> None:
    taken = refused("DUPLICATE_NAME")

    opened = Gateway(catalogs(), taken, catalogs("Plans")).client().open_catalog("Plans")
    with pytest.raises(errors.DuplicateName):
        Gateway(catalogs(), taken, catalogs(), taken).client().open_catalog("Plans")

    assert opened.catalog_id == "cat-Plans"


def test_tools_are_listed_over_all_pages() -> None:
    first = {"tools": [{"name": "a"}], "nextCursor": "more"}
    last = {"tools": [{"name": "b"}]}
    gateway = Gateway(
        httpx.Response(200, json={"id": 1, "result": first}),
        httpx.Response(200, json={"id": 1, "result": last}),
    )

    assert len(list(gateway.client().tools())) == 2
    assert [each.get("cursor") for each in gateway.params] == [None, "more"]


def test_feedback_of_a_catalog_is_listed() -> None:
    given = {"question": "why?", "verdict": "bad", "origin": "search", "at": "2026-11-26T08:00:00Z"}

    [found] = Gateway(tool_answer({"feedback": [given]})).client().list_feedback("c")

    assert (found.question, found.at) == ("why?", datetime(2026, 11, 26, 8, tzinfo=UTC))


def test_token_that_cannot_be_had_and_a_wrong_address_are_errors() -> None:
    def away() -> str:
        raise errors.Unavailable("the issuer does not respond")

    gateway = Gateway(STATUS)
    with pytest.raises(errors.Unavailable, match="the issuer does not respond"):
        gateway.client(token=away).status("c")
    with pytest.raises(ValueError, match="must be an address with https"):
        Client("gateway.example/mcp", token="t")

    assert gateway.requests == []


def test_asynchronous_download_is_streamed_and_retried() -> None:
    async def downloaded(*answers: Any) -> bytes:
        http = httpx.AsyncClient(transport=httpx.MockTransport(Gateway(link, *answers)))
        async with AsyncClient(URL, token="t", http=http) as client:
            [document] = Gateway(listed(a_document())).client().wait("c")
            await client.download(document, body := io.BytesIO())
        return body.getvalue()

    link = tool_answer({"download_url": f"{BUCKET}/a.txt?signature=hidden"})

    assert asyncio.run(downloaded(httpx.Response(200, content=b"Ebb."))) == b"Ebb."
    with pytest.raises(errors.Unavailable, match="does not respond"):
        asyncio.run(downloaded(httpx.ReadError))


def test_pages_are_requested_lazily() -> None:
    first = tool_answer({"documents": [a_document()], "next_token": "more"})
    gateway = Gateway(first, listed(a_document()))
    found = gateway.client().documents("c")

    next(found)
    assert len(gateway.requests) == 1
    assert len(list(found)) == 1
    assert [each["arguments"]["next_token"] for each in gateway.params] == ["", "more"]


def test_both_clients_have_the_same_methods_and_results() -> None:
    def methods(kind: type) -> dict[str, str]:
        found = {name: each for name, each in vars(kind).items() if inspect.isfunction(each)}
        return {name: str(each.__doc__) for name, each in found.items() if name[0] != "_"}

    async def listing() -> list[Document]:
        http = httpx.AsyncClient(transport=httpx.MockTransport(Gateway(listed(a_document()))))
        async with AsyncClient(URL, token=lambda: "t", http=http) as client:
            return [each async for each in client.documents("c")] + await client.wait("c")

    found = asyncio.run(listing())
    expected = {name for name, each in vars(calls.Calls).items() if inspect.isfunction(each)}

    assert methods(Client).keys() - {"results", "close"} == {
        each for each in expected if each[0] != "_"
    }
    assert methods(Client).keys() == methods(AsyncClient).keys()
    assert [each.document_id for each in found] == ["doc-1", "doc-1"]


def test_document_waiting_over_a_cap_is_settled_and_usage_shows_the_cap() -> None:
    waits = {**a_document("pending"), "status_reason": "waits: 3 of 3 documents"}
    month = {"month": "2026-11", "documents": 3, "bytes": 9, "waiting": 1, "dollars": 0.5}
    month |= {
        "caps": {"documents": 3},
        "month_ends": "1 December",
        "prices_of": "May",
        "used": {},
        "catalogs": [],
    }
    gateway = Gateway(listed(waits), tool_answer({**month, "of_a_later_version": 1}))
    client = gateway.client()

    [waiting] = client.wait("c")

    assert waiting.waits_for_cap
    assert client.usage("2026-11").caps == {"documents": 3}
    assert gateway.params[-1]["arguments"] == {"month": "2026-11"}


def test_events_are_paged_to_the_end_and_then_polled(pauses: list[float]) -> None:
    event = {
        "id": "e1",
        "source": "stackroom",
        "detail-type": "Document State Changed",
        "time": "2026-11-26T08:00:00Z",
        "detail": {"state": "indexed"},
        "sequence": 1500,
    }
    # For one catalog, a page may contain only events of other catalogs.
    nothing, one = (
        tool_answer({"events": [], "next_after": 1000}),
        tool_answer({"events": [event], "next_after": 1500}),
    )
    end = tool_answer({"events": [], "next_after": 1500})
    gateway, later = Gateway(nothing, one, end), Gateway(end, one)

    found = list(gateway.client().events(catalog="c"))

    assert [(each.sequence, each.detail_type) for each in found] == [(1500, event["detail-type"])]
    assert [each["arguments"]["after"] for each in gateway.params] == [0, 1000, 1500]
    assert next(later.client().events(after=1500, follow=True)).id == "e1"
    assert len(pauses) == 1


def test_following_events_resumes_once_the_gateway_is_back() -> None:
    event = {"id": "e1", "source": "stackroom", "detail-type": "D", "detail": {}, "sequence": 8}
    event["time"] = "2026-11-26T08:00:00Z"
    begun, end = (
        tool_answer({"events": [], "next_after": 7}),
        tool_answer({"events": [], "next_after": 8}),
    )
    back = tool_answer({"events": [event], "next_after": 8})
    away = [httpx.ConnectError] * 9

    found = Gateway(begun, *away, back).client().events(after=7, follow=True)

    assert next(found).sequence == 8
    with pytest.raises(errors.Unavailable):
        next(Gateway(*away, back).client().events(follow=True))
    with pytest.raises(errors.Unavailable):
        list(Gateway(back, *away, end).client().events())


@pytest.mark.parametrize("token", ["", "secret\n", "ß"])
def test_token_unfit_for_a_header_is_refused_without_showing_it(token: str) -> None:
    gateway = Gateway(STATUS)

    with pytest.raises(
        errors.NotSignedIn, match="the access token is empty, or contains"
    ) as raised:
        gateway.client(token=token).status("c")

    assert gateway.requests == []
    assert "secret" not in str(raised.value)


def test_custom_transport_adds_no_credentials_and_follows_no_redirect() -> None:
    moved = httpx.Response(307, headers={"Location": "https://elsewhere.example/"})
    transport, away = Gateway(uploading), Gateway(moved)
    own: dict[str, Any] = {"auth": ("a", "b"), "follow_redirects": True}
    http = [httpx.Client(transport=httpx.MockTransport(each), **own) for each in (transport, away)]

    Client(URL, token="t", http=http[0]).upload("c", b"b", name="a.txt")
    with pytest.raises(errors.GatewayError, match="responded with 307"):
        Client(URL, token="t", http=http[1]).status("c")

    assert transport.tokens == ["Bearer t", None]
    assert len(away.requests) == 1


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("ValidationError", errors.InvalidArgument),
        ("KnowledgeBaseNotFound", errors.CatalogNotFound),
        ("MissingIdentity", errors.NotSignedIn),
        ("RetrievalFailed", errors.Unavailable),
        ("Throttled", errors.Throttled),
    ],
)
def test_failed_search_raises_the_same_errors(
    kind: str, error: type[errors.StackroomError]
) -> None:
    failed = {"success": False, "results": [], "error": "no", "errorType": kind, "metadata": {}}
    text = {"type": "text", "text": json.dumps(failed)}
    gateway = Gateway(httpx.Response(200, json={"id": 1, "result": {"content": [text]}}))

    with pytest.raises(error, match="no"):
        gateway.client().search("q")


def test_passage_and_source_have_the_gaps_of_their_document() -> None:
    gaps = ["1 of 2 pages looks garbled: 2"]
    source = {"document_id": "doc-1", "filename": "scan.pdf", "page": 1, "section": None}
    result = {"content": "c", "source": source, "score": 0.5, "metadata": {"gaps": gaps}}
    cited = {**source, "chunk_text": "c", "relevance_score": 0.5, "gaps": gaps}

    for passage in (result, cited):
        assert parse_passage(passage).gaps == (gaps[0],)
