"""The client's methods as steps, which the sync and the async client both perform."""

import io
import json
import secrets
import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import partial
from math import inf
from pathlib import Path
from typing import IO, Any, TypeAlias, TypeVar, cast

import httpx

from stackroom_client import answers, errors
from stackroom_client.answers import (
    Catalog,
    Document,
    Event,
    Feedback,
    Upload,
    from_fields,
    parse_passage,
)
from stackroom_client.steps import (
    Exchange,
    Pages,
    Send,
    Sink,
    Steps,
    collect,
    polling_pauses,
    require_success,
    response_of,
    send_with_retries,
)

T = TypeVar("T")
Progress: TypeAlias = Callable[[int, int], object]
Value: TypeAlias = str | float | bool | date | list[str]  # of a metadata attribute

_CATALOGS = "catalogs___"  # the gateway prefixes tools with their target
SEARCH = "knowledge___knowledge_base_retrieve"
# Repeating these might create two, or find nothing: they are retried only if they never arrived.
_ONCE = {"create_catalog", "delete_catalog", "delete_catalog_document", "feedback"}
_EVENTS_EVERY = 2.0


@dataclass(frozen=True)
class Calls:
    exchange: Exchange

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Steps[Any]:
        """
        Call any tool of the gateway, by its name with the target: `catalogs___list_catalogs`.

        Returns the tool's answer, which also contains its refusals. Raises NotSignedIn, Unavailable
        or GatewayError.
        """
        params = {"name": tool, "arguments": dict(arguments or {})}
        repeats = tool.removeprefix(_CATALOGS) not in _ONCE
        result = yield from self.exchange.result("tools/call", params, repeats=repeats)
        text = "\n".join(each["text"] for each in result["content"] if each["type"] == "text")
        try:
            return json.loads(text)
        except ValueError as error:
            raise errors.GatewayError(text) from error

    def tools(self) -> Pages[Mapping[str, Any]]:
        """List the tools that the caller may use: name, description and inputSchema."""
        cursor: dict[str, str] = {}
        while True:
            result = yield from self.exchange.result("tools/list", cursor)
            yield list(result["tools"])
            if not result.get("nextCursor"):
                return
            cursor = {"cursor": result["nextCursor"]}

    def catalogs(self) -> Pages[Catalog]:
        """List the caller's catalogs by name."""
        return self._pages("list_catalogs", "catalogs", partial(from_fields, Catalog))

    def create_catalog(self, name: str, description: str = "") -> Steps[Catalog]:
        """Create a catalog. Raises DuplicateName, InvalidArgument or LimitExceeded."""
        data = yield from self._metadata(
            "create_catalog", catalog_name=name, description=description
        )
        return from_fields(Catalog, data)

    def update_catalog(
        self, catalog: str, *, name: str | None = None, description: str | None = None
    ) -> Steps[Catalog]:
        """
        Rename a catalog or change its description; an empty or omitted value stays as it is.

        Raises CatalogNotFound, CatalogDeleting, DuplicateName or InvalidArgument.
        """
        changes = {"catalog_name": name, "description": description}
        arguments = {key: each for key, each in changes.items() if each}
        data = yield from self._metadata("update_catalog", catalog_id=catalog, **arguments)
        return from_fields(Catalog, data)

    def open_catalog(self, name: str) -> Steps[Catalog]:
        """Return the caller's catalog with that name or id; create it if it doesn't exist."""
        for is_last in (False, True):
            for each in (yield from collect(self.catalogs())):
                if each.catalog_id == name or _is_same(each.catalog_name, name):
                    return each
            try:
                return (yield from self.create_catalog(name))
            except errors.DuplicateName:  # another program has just created it
                if is_last:
                    raise
        raise AssertionError("the second attempt returns or raises")

    def delete_catalog(
        self, catalog: str, *, timeout: float | None = None
    ) -> Steps[answers.CatalogDeletion]:
        """
        Delete a catalog with all its documents, for good.

        With a timeout, in seconds, it returns once nothing is left, or raises TimeoutError;
        without, it returns once the deletion is requested.
        """
        request = partial(self._metadata, "delete_catalog", catalog_id=catalog, confirm=True)
        deletion = from_fields(answers.CatalogDeletion, (yield from request()))
        for pause in polling_pauses(timeout) if timeout is not None else ():
            yield pause
            try:
                yield from request()  # each call continues the deletion of a large catalog
            except errors.CatalogNotFound:
                break
            except errors.Unavailable:  # the deletion continues
                continue
        return deletion

    def upload(
        self,
        catalog: str,
        file: Path | str | bytes | IO[bytes],
        *,
        name: str | None = None,
        metadata: Mapping[str, Value] | None = None,
        replace: bool = False,
        progress: Progress | None = None,
    ) -> Steps[Upload]:
        """
        Upload a file of up to 50 MB, streamed; `progress` gets the bytes sent and all bytes.

        A string is a path; `name` is the file's own by default. Dates in `metadata`, as such or as
        text in ISO 8601, can be filtered by ranges, as numbers can. Raises DuplicateFile without
        `replace`, InvalidArgument, CatalogNotFound or CatalogDeleting.
        """
        path = Path(file) if isinstance(file, str) else file
        name = name or Path(getattr(path, "name", "")).name
        with path.open("rb") if isinstance(path, Path) else nullcontext(path) as body:
            counted = _Counted(io.BytesIO(body) if isinstance(body, bytes) else body, progress)
            data = yield from self._metadata(
                "upload_to_catalog",
                catalog_id=catalog,
                filename=name,
                replace=replace,
                metadata={key: _to_json(each) for key, each in (metadata or {}).items()},
            )
            form = httpx.Request(
                "POST",
                data["upload_url"],
                data=data["upload_fields"],
                files={"file": (name, cast(IO[bytes], counted))},
            )
            started = time.monotonic()
            answer = require_success((yield from send_with_retries(Send(form), repeats=True)))
        # In whole seconds, like the document's `uploaded_at`.
        ended = parsedate_to_datetime(answer.headers["Date"])
        at = ended - timedelta(seconds=time.monotonic() - started + 1)
        etag = answer.headers["ETag"].strip('"')
        return from_fields(Upload, data, etag=etag, at=at, ended_at=ended)

    def documents(self, catalog: str) -> Pages[Document]:
        """List the documents of a catalog, by its id."""
        of = partial(from_fields, Document, catalog_id=catalog)
        return self._pages("list_catalog_documents", "documents", of, catalog_id=catalog)

    def status(self, catalog: str) -> Steps[answers.IndexingStatus]:
        """Return the progress of a catalog's documents, and the reasons of failures."""
        data = yield from self._metadata("get_indexing_status", catalog_id=catalog)
        return from_fields(answers.IndexingStatus, data)

    def wait(
        self,
        catalog: str,
        documents: Upload | Document | str | Iterable[Upload | Document | str] | None = None,
        *,
        timeout: float = inf,
    ) -> Steps[list[Document]]:
        """
        Wait until the catalog's documents, or the given ones, are indexed or failed; return them.

        Raises TimeoutError after `timeout` seconds, DocumentNotFound for a deleted document, and
        UploadReplaced if another upload took the place of the given one.
        """
        if isinstance(documents, (Upload, Document, str)):
            documents = [documents]
        expected = None if documents is None else {_id(each): each for each in documents}
        for pause in polling_pauses(timeout):
            found = yield from collect(self.documents(catalog))
            chosen = [each for each in found if expected is None or each.document_id in expected]
            if expected is not None and len(chosen) < len(expected):
                gone = expected.keys() - {each.document_id for each in chosen}
                raise errors.DocumentNotFound(
                    f"Document '{min(gone)}' not found in catalog", "DOCUMENT_NOT_FOUND"
                )
            if all(_is_settled(each, (expected or {}).get(each.document_id)) for each in chosen):
                return chosen
            yield pause
        raise AssertionError("the pauses end with TimeoutError")

    def search(
        self,
        query: str,
        *,
        catalog: str | None = None,
        top_k: int | None = None,
        min_score: float | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the tool's name for it
        max_tokens: int | None = None,
        prioritize_by: str | None = None,
    ) -> Steps[answers.SearchResults]:
        """
        Search for the nearest passages, best first, in all catalogs by default.

        `metadata["relevance"]` is "weak" if they may not answer the question.
        """
        given = {"catalog_id": catalog, "top_k": top_k, "min_score": min_score, "filter": filter}
        given |= {"query": query, "max_tokens": max_tokens, "prioritize_by": prioritize_by}
        data = yield from self.call(SEARCH, given)
        if not data["success"]:
            raise errors.refusal(data["errorType"], data["error"], data["metadata"])
        results = tuple(map(parse_passage, data["results"]))
        return answers.SearchResults(results=results, metadata=data["metadata"])

    def ask(
        self, query: str, *, catalog: str | None = None, num_results: int = 5
    ) -> Steps[answers.Answer]:
        """
        Let a model answer from a catalog's passages; by default from the selected catalog.

        Raises NoResults or CatalogEmpty.
        """
        answer = yield from self._answer(
            "query_catalog", query=query, catalog_id=catalog, num_results=num_results
        )
        data = answer["metadata"]
        sources = tuple(map(parse_passage, data["sources"]))
        return from_fields(answers.Answer, data, text=answer["content"][0]["text"], sources=sources)

    def download(self, document: Document, to: Path | str | Sink) -> Steps[None]:
        """
        Download a document's file, streamed, into an open file or to a path.

        An existing file stays unchanged until the download is complete.
        """
        data = yield from self._metadata("download_from_catalog", **_place(document))
        if not isinstance(to, (Path, str)):
            return (yield from _fetch(data["download_url"], to))
        draft = Path(to).with_name(f".stackroom-{secrets.token_hex(8)}.part")
        try:
            with draft.open("xb") as sink:
                yield from _fetch(data["download_url"], sink)
            draft.replace(to)
        finally:
            draft.unlink(missing_ok=True)

    def delete(self, document: Document | Upload) -> Steps[answers.Receipt]:
        """Delete a document: its file immediately, its passages once the index has removed them."""
        data = yield from self._metadata("delete_catalog_document", **_place(document))
        return from_fields(answers.Receipt, data)

    def wait_deleted(
        self, documents: Iterable[Document | Upload], *, timeout: float = inf
    ) -> Steps[None]:
        """Wait until none of the documents is listed any more. Raises TimeoutError."""
        left = {each.document_id: each.catalog_id for each in documents}
        for pause in polling_pauses(timeout):
            existing = set()
            for catalog in set(left.values()):
                with suppress(errors.CatalogNotFound):  # its documents are gone with it
                    found = yield from collect(self.documents(catalog))
                    existing |= {each.document_id for each in found}
            left = {each: catalog for each, catalog in left.items() if each in existing}
            if not left:
                return
            yield pause

    def feedback(
        self,
        question: str,
        *,
        helpful: bool,
        catalog: str | None = None,
        file: str = "",
        page: int | None = None,
        note: str = "",
    ) -> Steps[Feedback]:
        """Rate an answer, for the caller's own evaluation; `file` and `page` are its source."""
        given = {"catalog_id": catalog, "file": file, "page": page, "note": note}
        data = yield from self._metadata("feedback", question=question, helpful=helpful, **given)
        return from_fields(Feedback, data)

    def list_feedback(self, catalog: str | None = None) -> Steps[list[Feedback]]:
        """List the ratings of answers by the caller and their agents, newest first."""
        data = yield from self._metadata("list_feedback", catalog_id=catalog)
        return [from_fields(Feedback, each) for each in data["feedback"]]

    def usage(self, month: str | None = None) -> Steps[answers.Usage]:
        """Return the caller's data, their usage in a month (such as `2026-11`), and their caps."""
        data = yield from self._metadata("get_usage", month=month)
        return from_fields(answers.Usage, data)

    def events(
        self, after: int = 0, *, catalog: str | None = None, follow: bool = False
    ) -> Pages[Event]:
        """
        List changes of the caller's documents, catalogs and deletions, after a `sequence`, in
        order.

        `follow` never ends, and continues after the gateway was unavailable.
        """
        data = None
        while True:
            try:
                data = yield from self._metadata("list_events", after=after, catalog_id=catalog)
            except errors.Unavailable:
                if data is None or not follow:
                    raise
                yield _EVENTS_EVERY
                continue
            yield [from_fields(Event, each) for each in data["events"]]
            if data["next_after"] == after:
                if not follow:
                    return
                yield _EVENTS_EVERY
            after = data["next_after"]

    def _pages(
        self, tool: str, key: str, make: Callable[[Mapping[str, Any]], T], **arguments: Any
    ) -> Pages[T]:
        token: str | None = ""
        while token is not None:
            data = yield from self._metadata(tool, next_token=token, **arguments)
            yield [make(each) for each in data[key]]
            token = data["next_token"]

    def _metadata(self, tool: str, **arguments: Any) -> Steps[Any]:
        """Return the metadata of a catalog tool's answer. Raises the tool's error."""
        answer = yield from self._answer(tool, **arguments)
        return answer["metadata"]

    def _answer(self, tool: str, **arguments: Any) -> Steps[Any]:
        answer = yield from self.call(_CATALOGS + tool, arguments)
        if answer["status"] != "success":
            text, metadata = answer["content"][0]["text"], answer["metadata"]
            raise errors.refusal(metadata["error_code"], text.removeprefix("Error: "), metadata)
        return answer


def _is_same(name: str, other: str) -> bool:
    """Return True if the gateway treats both as the same catalog name; macOS decomposes letters."""
    one, two = (unicodedata.normalize("NFC", each).casefold().split() for each in (name, other))
    return one == two


def _is_settled(document: Document, expected: object) -> bool:
    if not isinstance(expected, Upload):
        return document.is_settled
    if expected.is_replaced_by(document):
        raise errors.UploadReplaced(
            f"'{document.filename}' was uploaded again at {document.uploaded_at.isoformat()}"
        )
    return expected.is_settled_in(document)


def _to_json(value: Value) -> Value:
    """Return a value for JSON, with dates in whole seconds, as the tool requires."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return value.isoformat() if isinstance(value, date) else value


def _id(document: Upload | Document | str) -> str:
    return document if isinstance(document, str) else document.document_id


def _fetch(url: str, sink: Sink) -> Steps[None]:
    # Not retried: part of it may have been written.
    require_success(response_of((yield Send(httpx.Request("GET", url), to=sink))))


def _place(document: Document | Upload) -> dict[str, str]:
    return {"catalog_id": document.catalog_id, "document_id": document.document_id}


class _Counted:
    """A file that reports how far it has been read; httpx reads it in pieces of 64 KB."""

    def __init__(self, file: IO[bytes], progress: Progress | None) -> None:
        self._file = file
        self._progress = progress
        self._total = file.seek(0, io.SEEK_END)
        self._sent = file.seek(0)

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        self._sent += len(piece)
        if piece and self._progress is not None:
            self._progress(self._sent, self._total)
        return piece

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._sent = self._file.seek(offset, whence)
        return self._sent

    def tell(self) -> int:
        return self._file.tell()
