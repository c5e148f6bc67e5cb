"""
What each method asks of the gateway and the bucket: steps, so that the sync and the async client
say nothing twice.
"""

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
from stackroom_client.answers import Catalog, Document, Event, Feedback, Upload, made, passage_of
from stackroom_client.steps import (
    Exchange,
    Pages,
    Send,
    Sink,
    Steps,
    collected,
    looks,
    response_of,
    sent,
    taken,
)

T = TypeVar("T")
Progress: TypeAlias = Callable[[int, int], object]
Value: TypeAlias = str | float | bool | date | list[str]  # of an attribute

_CATALOGS = "catalogs___"  # what the gateway puts before the tools of a target
SEARCH = "knowledge___knowledge_base_retrieve"
# Twice would be two, or would find nothing. These are repeated only if they cannot have arrived.
_ONCE = {"create_catalog", "delete_catalog", "delete_catalog_document", "feedback"}
_EVENTS_EVERY = 2.0


@dataclass(frozen=True)
class Calls:
    exchange: Exchange

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Steps[Any]:
        """
        What any tool of the gateway answers, as it is: `catalogs___list_catalogs`, with its target.

        Raises NotSignedIn, Unavailable or GatewayError; what a tool refuses stands in its answer.
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
        """Every tool that the caller may use: name, description and inputSchema."""
        cursor: dict[str, str] = {}
        while True:
            result = yield from self.exchange.result("tools/list", cursor)
            yield list(result["tools"])
            if not result.get("nextCursor"):
                return
            cursor = {"cursor": result["nextCursor"]}

    def catalogs(self) -> Pages[Catalog]:
        """The caller's catalogs, by name."""
        return self._pages("list_catalogs", "catalogs", partial(made, Catalog))

    def create_catalog(self, name: str, description: str = "") -> Steps[Catalog]:
        """Raises DuplicateName, InvalidArgument or LimitExceeded."""
        told = yield from self._told("create_catalog", catalog_name=name, description=description)
        return made(Catalog, told)

    def update_catalog(
        self, catalog: str, *, name: str | None = None, description: str | None = None
    ) -> Steps[Catalog]:
        """
        Rename it, or change its description; what is empty or left out stays. Raises
        CatalogNotFound, CatalogDeleting, DuplicateName or InvalidArgument.
        """
        asked = {"catalog_name": name, "description": description}
        given = {key: each for key, each in asked.items() if each}
        return made(Catalog, (yield from self._told("update_catalog", catalog_id=catalog, **given)))

    def open_catalog(self, name: str) -> Steps[Catalog]:
        """The caller's catalog of that name or id; made if there is none."""
        for is_last in (False, True):
            for each in (yield from collected(self.catalogs())):
                if each.catalog_id == name or _is_same(each.catalog_name, name):
                    return each
            try:
                return (yield from self.create_catalog(name))
            except errors.DuplicateName:  # somebody else has just made it
                if is_last:
                    raise
        raise AssertionError("the second look returns or raises")

    def delete_catalog(
        self, catalog: str, *, timeout: float | None = None
    ) -> Steps[answers.CatalogDeletion]:
        """
        With every document in it, for good. With a timeout, in seconds, it returns once nothing is
        left of it, or raises TimeoutError; without, once it is asked for.
        """
        asked = partial(self._told, "delete_catalog", catalog_id=catalog, confirm=True)
        deletion = made(answers.CatalogDeletion, (yield from asked()))
        for pause in looks(timeout) if timeout is not None else ():
            yield pause
            try:
                yield from asked()  # of a large one, each asks for more
            except errors.CatalogNotFound:
                break
            except errors.Unavailable:  # it goes on all the same
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
        Up to 50 MB, read as they are sent; `progress` is called with the bytes sent and all bytes.

        A text is a path; `name` is the file's own by default. A date in `metadata`, as such or as a
        text in ISO 8601, can be asked for in ranges, as numbers can. Raises DuplicateFile without
        `replace`, InvalidArgument, CatalogNotFound or CatalogDeleting.
        """
        path = Path(file) if isinstance(file, str) else file
        name = name or Path(getattr(path, "name", "")).name
        with path.open("rb") if isinstance(path, Path) else nullcontext(path) as body:
            counted = _Counted(io.BytesIO(body) if isinstance(body, bytes) else body, progress)
            told = yield from self._told(
                "upload_to_catalog",
                catalog_id=catalog,
                filename=name,
                replace=replace,
                metadata={key: _written(each) for key, each in (metadata or {}).items()},
            )
            form = httpx.Request(
                "POST",
                told["upload_url"],
                data=told["upload_fields"],
                files={"file": (name, cast(IO[bytes], counted))},
            )
            began = time.monotonic()
            answer = taken((yield from sent(Send(form), repeats=True)))
        # As the document's `uploaded_at` will be: in whole seconds.
        ended = parsedate_to_datetime(answer.headers["Date"])
        at = ended - timedelta(seconds=time.monotonic() - began + 1)
        return made(Upload, told, etag=answer.headers["ETag"].strip('"'), at=at)

    def documents(self, catalog: str) -> Pages[Document]:
        """Of a catalog, by its id."""
        of = partial(made, Document, catalog_id=catalog)
        return self._pages("list_catalog_documents", "documents", of, catalog_id=catalog)

    def status(self, catalog: str) -> Steps[answers.IndexingStatus]:
        """How far a catalog's documents are, and which failed why."""
        told = yield from self._told("get_indexing_status", catalog_id=catalog)
        return made(answers.IndexingStatus, told)

    def wait(
        self,
        catalog: str,
        documents: Upload | Document | str | Iterable[Upload | Document | str] | None = None,
        *,
        timeout: float = inf,
    ) -> Steps[list[Document]]:
        """
        The catalog's documents, or the one or those that are named, once each is indexed or failed.

        Raises TimeoutError after so many seconds, and DocumentNotFound for one that is gone.
        """
        if isinstance(documents, (Upload, Document, str)):
            documents = [documents]
        asked = None if documents is None else {_id(each): each for each in documents}
        for pause in looks(timeout):
            found = yield from collected(self.documents(catalog))
            chosen = [each for each in found if asked is None or each.document_id in asked]
            if asked is not None and len(chosen) < len(asked):
                gone = asked.keys() - {each.document_id for each in chosen}
                raise errors.DocumentNotFound(
                    f"Document '{min(gone)}' not found in catalog", "DOCUMENT_NOT_FOUND"
                )
            if all(_is_over(each, (asked or {}).get(each.document_id)) for each in chosen):
                return chosen
            yield pause
        raise AssertionError("looks end with TimeoutError")

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
        The nearest passages, best first, of all catalogs by default. `metadata["relevance"]` is
        "weak" where they may not answer the question.
        """
        given = {"catalog_id": catalog, "top_k": top_k, "min_score": min_score, "filter": filter}
        given |= {"query": query, "max_tokens": max_tokens, "prioritize_by": prioritize_by}
        told = yield from self.call(SEARCH, given)
        if not told["success"]:
            raise errors.refusal(told["errorType"], told["error"], told["metadata"])
        results = tuple(map(passage_of, told["results"]))
        return answers.SearchResults(results=results, metadata=told["metadata"])

    def ask(
        self, query: str, *, catalog: str | None = None, num_results: int = 5
    ) -> Steps[answers.Answer]:
        """
        What a model writes from a catalog's passages; by default of the one that is selected.

        Raises NoResults or CatalogEmpty.
        """
        answer = yield from self._answer(
            "query_catalog", query=query, catalog_id=catalog, num_results=num_results
        )
        told = answer["metadata"]
        sources = tuple(map(passage_of, told["sources"]))
        return made(answers.Answer, told, text=answer["content"][0]["text"], sources=sources)

    def download(self, document: Document, to: Path | str | Sink) -> Steps[None]:
        """
        The document's file, piece by piece: into what is open, or over what a file has, which stays
        as it is until all has come.
        """
        told = yield from self._told("download_from_catalog", **_place(document))
        if not isinstance(to, (Path, str)):
            return (yield from _fetched(told["download_url"], to))
        draft = Path(to).with_name(f".stackroom-{secrets.token_hex(8)}.part")
        try:
            with draft.open("xb") as sink:
                yield from _fetched(told["download_url"], sink)
            draft.replace(to)
        finally:
            draft.unlink(missing_ok=True)

    def delete(self, document: Document | Upload) -> Steps[answers.Receipt]:
        """Its file at once, its passages as soon as the index lets go of them."""
        told = yield from self._told("delete_catalog_document", **_place(document))
        return made(answers.Receipt, told)

    def wait_deleted(
        self, documents: Iterable[Document | Upload], *, timeout: float = inf
    ) -> Steps[None]:
        """Returns once none of them is listed any more. Raises TimeoutError."""
        left = {each.document_id: each.catalog_id for each in documents}
        for pause in looks(timeout):
            there = set()
            for catalog in set(left.values()):
                with suppress(errors.CatalogNotFound):  # and all that was in it
                    found = yield from collected(self.documents(catalog))
                    there |= {each.document_id for each in found}
            left = {each: catalog for each, catalog in left.items() if each in there}
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
        """Kept for the caller to judge; `file` and `page` are where the answer stood."""
        given = {"catalog_id": catalog, "file": file, "page": page, "note": note}
        told = yield from self._told("feedback", question=question, helpful=helpful, **given)
        return made(Feedback, told)

    def list_feedback(self, catalog: str | None = None) -> Steps[list[Feedback]]:
        """What the caller and their agents said of answers, the newest first."""
        told = yield from self._told("list_feedback", catalog_id=catalog)
        return [made(Feedback, each) for each in told["feedback"]]

    def usage(self, month: str | None = None) -> Steps[answers.Usage]:
        """What the caller has, what they used in a month (`2026-11`, say), and their caps."""
        told = yield from self._told("get_usage", month=month)
        return made(answers.Usage, told)

    def events(
        self, after: int = 0, *, catalog: str | None = None, follow: bool = False
    ) -> Pages[Event]:
        """
        Changes of the caller's documents, catalogs and deletions in their order, from the
        `sequence` after this; `follow` goes on for ever, also once the gateway is back.
        """
        told = None
        while True:
            try:
                told = yield from self._told("list_events", after=after, catalog_id=catalog)
            except errors.Unavailable:
                if told is None or not follow:
                    raise
                yield _EVENTS_EVERY
                continue
            yield [made(Event, each) for each in told["events"]]
            if told["next_after"] == after:
                if not follow:
                    return
                yield _EVENTS_EVERY
            after = told["next_after"]

    def _pages(
        self, tool: str, key: str, make: Callable[[Mapping[str, Any]], T], **arguments: Any
    ) -> Pages[T]:
        token: str | None = ""
        while token is not None:
            told = yield from self._told(tool, next_token=token, **arguments)
            yield [make(each) for each in told[key]]
            token = told["next_token"]

    def _told(self, tool: str, **arguments: Any) -> Steps[Any]:
        """A catalog tool's metadata. Raises the error that it answers with."""
        answer = yield from self._answer(tool, **arguments)
        return answer["metadata"]

    def _answer(self, tool: str, **arguments: Any) -> Steps[Any]:
        answer = yield from self.call(_CATALOGS + tool, arguments)
        if answer["status"] != "success":
            text, metadata = answer["content"][0]["text"], answer["metadata"]
            raise errors.refusal(metadata["error_code"], text.removeprefix("Error: "), metadata)
        return answer


def _is_same(name: str, other: str) -> bool:
    """Whether the gateway takes both for the name of one catalog; macOS decomposes letters."""
    one, two = (unicodedata.normalize("NFC", each).casefold().split() for each in (name, other))
    return one == two


def _is_over(document: Document, asked: object) -> bool:
    return asked.is_settled_in(document) if isinstance(asked, Upload) else document.is_settled


def _written(value: Value) -> Value:
    """Dates as JSON has them; the tool takes whole seconds."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return value.isoformat() if isinstance(value, date) else value


def _id(document: Upload | Document | str) -> str:
    return document if isinstance(document, str) else document.document_id


def _fetched(url: str, sink: Sink) -> Steps[None]:
    # Not repeated: a part of it may have been written.
    taken(response_of((yield Send(httpx.Request("GET", url), to=sink))))


def _place(document: Document | Upload) -> dict[str, str]:
    return {"catalog_id": document.catalog_id, "document_id": document.document_id}


class _Counted:
    """A file that tells how far it has been read; httpx reads it by pieces of 64 KB."""

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
