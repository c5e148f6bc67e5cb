"""One document: its page, and how it is sent, opened, ingested again and deleted."""

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter

from starlette.responses import JSONResponse, RedirectResponse, Response

from stackroom.access.tenancy import owned
from stackroom.catalogs.changes import DeletionChanged, DeletionState, DocumentChanged, Event
from stackroom.clock import Deadline
from stackroom.errors import DocumentNotFound, FileTooLarge, RetrievalError, ValidationError
from stackroom.model.formats import MAX_FILE_BYTES, extension_of
from stackroom.model.records import Catalog, DataSourceType, Document, DocumentStatus, with_gaps
from stackroom.runs.retries import RetryResult
from stackroom.search.document_passages import MOST as MOST_PASSAGES
from stackroom.search.document_passages import CutDocument, CutPassage, lines_shown
from stackroom.search.question_words import marked_pieces
from stackroom.tools.document_definitions import UPLOAD_TO_CATALOG
from stackroom_console import ids
from stackroom_console.console import FOR_A_PAGE
from stackroom_console.messages import N_, gettext, ngettext
from stackroom_console.pages.document_rows import Row, rows_of, state_label
from stackroom_console.problems import NOT_FOUND, Problem, Refused
from stackroom_console.rendering import Watch, done, redirect, render, watch
from stackroom_console.request import Request
from stackroom_console.request import number as number_of
from stackroom_console.shown_citations import place_label, text_path
from stackroom_console.text_blocks import TextBlock, blocks_of, unwrapped

logger = logging.getLogger(__name__)


# A document's page: how far it is, what happened to it, and its passages as they were cut.

_PASSAGES = 25  # on a page
_LONGEST_FIND = 200
_SHOWN_IN_A_FRAME = {"pdf"}
_PATIENCE = 8.0  # seconds: without its passages there is still the rest of the page


@dataclass(frozen=True, kw_only=True)
class Happened:
    at: datetime
    text: str
    receipt_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShownDocument:
    """`row` is what its catalog's page says of it."""

    catalog: Catalog
    document: Document
    row: Row
    history: tuple[Happened, ...]

    @property
    def path(self) -> str:
        return f"/catalogs/{self.catalog.catalog_id}/documents/{self.document.document_id}"

    @property
    def kind(self) -> str:
        return extension_of(self.document.filename).upper()

    @property
    def may_be_ingested_again(self) -> bool:
        source = self.catalog.source
        is_direct = source is not None and source.type is DataSourceType.CUSTOM
        is_indexed = self.document.status is DocumentStatus.INDEXED
        return self.row.may_be_retried or (is_indexed and is_direct)

    @property
    def is_replaced(self) -> bool:
        """True while what is searchable is of an earlier version of the file."""
        document = self.document
        is_other = document.indexed_version_id not in (None, document.version_id)
        return document.indexed_at is not None and is_other

    @property
    def is_settled(self) -> bool:
        return self.document.status in (DocumentStatus.INDEXED, DocumentStatus.FAILED)

    @property
    def is_previewed(self) -> bool:
        """True if the browser itself shows the file beside its passages."""
        return self._is_sound and self.kind.lower() in _SHOWN_IN_A_FRAME

    @property
    def is_read_beside(self) -> bool:
        """True if a page of ours (text_page) shows the file's text beside its passages."""
        return self._is_sound and not self.is_previewed

    @property
    def _is_sound(self) -> bool:
        return self.row.may_be_opened and self.document.status is not DocumentStatus.FAILED


@dataclass(frozen=True, kw_only=True)
class ShownPassage:
    """
    A passage as the document's page shows it. Each of the `parts` of its text says whether answers
    show it; words that were searched for are marked.
    """

    number: int
    place: str
    href: str  # shows it in the file, or in its text
    tokens: int
    is_navigation: bool
    parts: tuple[tuple[tuple[TextBlock, ...], bool], ...]


@dataclass(frozen=True, kw_only=True)
class ShownPassages:
    """The passages of a page; `before` and `after` are the first numbers of the pages beside it."""

    find: str
    total: int
    found: int
    passages: tuple[ShownPassage, ...] = ()
    left_out: tuple[str, ...] = ()
    why_none: str = ""
    before: int | None = None
    after: int | None = None


def page(request: Request) -> Response:
    shown = _shown_document(request)
    passages = _passages(request, shown)
    return render(
        request,
        "document.html",
        shown=shown,
        passages=passages,
        watch=_watch(request, shown),
    )


def part(request: Request) -> Response:
    """Return the part of the page that changes by itself."""
    shown = _shown_document(request)
    watching = _watch(request, shown)
    return render(request, "parts/document_watched.html", shown=shown, watch=watching)


def passages_part(request: Request) -> Response:
    shown = _shown_document(request)
    passages = _passages(request, shown)
    return render(request, "parts/document_passages.html", shown=shown, passages=passages)


def _shown_document(request: Request) -> ShownDocument:
    document = _owned(request)
    progress = request.services.progress.of(request.user_id, document.catalog_id)
    [row] = rows_of((document,), progress, speed=request.console.speed)
    events = request.services.events.of_document(request.user_id, document.document_id)
    return ShownDocument(
        catalog=progress.catalog,
        document=document,
        row=row,
        history=tuple(filter(None, map(_happened, events))),
    )


def _happened(event: Event) -> Happened | None:
    match event.detail:
        case DocumentChanged(state=state, reason=reason, gaps=gaps):
            text = ": ".join(
                filter(None, (gettext(state_label(state)), reason or with_gaps(gaps or ())))
            )
            return Happened(at=event.time, text=text[:1].upper() + text[1:])
        case DeletionChanged(state=state, receipt_id=receipt_id):
            text = gettext(_DELETIONS[state])
            return Happened(at=event.time, text=text, receipt_id=receipt_id)
    return None


_DELETIONS = {
    DeletionState.ASKED: N_("Deletion requested"),
    DeletionState.REMOVED: N_("Removed: searches no longer find it"),
    DeletionState.SUPERSEDED: N_("Not removed: a new file with this name arrived"),
    DeletionState.FOUND_AGAIN: N_("Found again, and removed again"),
}


def _watch(request: Request, shown: ShownDocument) -> Watch:
    return watch(request, f"{shown.path}/part", shown, is_under_way=not shown.is_settled)


def _passages(request: Request, shown: ShownDocument) -> ShownPassages:
    """
    Return the passages, or the reason that there are none: the page stays useful without them.
    """
    find = " ".join(request.query.get("find", "").split())[:_LONGEST_FIND]
    nothing = ShownPassages(find=find, total=0, found=0)
    if shown.document.status is DocumentStatus.DELETING:
        return replace(nothing, why_none=gettext("This document is being deleted."))
    is_failed = shown.document.status is DocumentStatus.FAILED  # of which a part may be indexed
    if shown.document.indexed_at is None and not is_failed:
        return replace(nothing, why_none=gettext("Not indexed yet."))
    patience = Deadline.after(_PATIENCE)
    try:
        cut = request.services.document_passages.of(
            request.user_id,
            shown.catalog.catalog_id,
            shown.document.document_id,
            about=find,
            deadline=Deadline(min(request.deadline.sooner(FOR_A_PAGE).at, patience.at)),
        )
    except RetrievalError as error:
        logger.warning("a document's passages are missing", exc_info=error)
        why_none = gettext("Passages can't be loaded right now. Try again in a minute.")
        return replace(nothing, why_none=why_none)
    if not cut.passages:
        return replace(nothing, why_none=gettext("This document has no passages in the index."))
    request.handed_out.append(shown.document.document_id)
    numbered = [
        _passage(shown, number, each, find) for number, each in enumerate(cut.passages, start=1)
    ]
    found = [each for each in numbered if not find or _has_mark(each)]
    first = number_of(request.query, "from", least=1, most=MOST_PASSAGES, default=1)
    return ShownPassages(
        find=find,
        total=len(numbered),
        found=len(found),
        passages=tuple(found[first - 1 : first - 1 + _PASSAGES]),
        left_out=tuple(_left_out(cut)),
        before=max(1, first - _PASSAGES) if first > 1 else None,
        after=first + _PASSAGES if first + _PASSAGES <= len(found) else None,
    )


def _passage(shown: ShownDocument, number: int, cut: CutPassage, find: str) -> ShownPassage:
    document = shown.document
    page, version = cut.source.page, cut.source.version_id
    in_file = f"{shown.path}/file#page={page}" if shown.is_previewed and page else ""
    named_by = (document.catalog_id, document.document_id)
    return ShownPassage(
        number=number,
        place=place_label(cut.source),
        href=in_file or text_path(*named_by, cut.shown, version=version),
        tokens=cut.tokens,
        is_navigation=cut.is_navigation,
        parts=tuple(
            (tuple(blocks_of(marked_pieces(find, _joined(shown, lines)))), is_shown)
            for is_shown, lines in groupby(lines_shown(cut.text, cut.shown), key=itemgetter(1))
        ),
    )


def _has_mark(passage: ShownPassage) -> bool:
    return any(block.has_mark for blocks, _ in passage.parts for block in blocks)


def _joined(shown: ShownDocument, parts: Iterable[tuple[str, bool]]) -> str:
    lines = [line for line, _ in parts]
    return unwrapped(lines) if shown.kind == "PDF" else "\n".join(lines)


def _left_out(cut: CutDocument) -> Iterator[str]:
    if not cut.is_whole:
        yield gettext("At most %(most)s passages are shown. Search for words to see others.") % {
            "most": MOST_PASSAGES
        }
    if not cut.is_ordered:
        yield gettext("Passages are in no particular order, since the position of some is unknown.")
    if cut.blank:
        yield ngettext(
            "Page %(pages)s has no text. Images are not read.",
            "Pages %(pages)s have no text. Images are not read.",
            len(cut.blank),
        ) % {"pages": _ranges(cut.blank)}
    if cut.without_passage:
        yield ngettext(
            "Page %(pages)s isn't in any passage, so searches can't find it.",
            "Pages %(pages)s aren't in any passage, so searches can't find them.",
            len(cut.without_passage),
        ) % {"pages": _ranges(cut.without_passage)}
    if navigation := sum(each.is_navigation for each in cut.passages):
        yield ngettext(
            "%(number)s passage is from a table of contents or an index, which answers use last.",
            "%(number)s passages are from a table of contents or an index, which answers use last.",
            navigation,
        ) % {"number": f"{navigation:,}"}
    parts = (line for each in cut.passages for line in lines_shown(each.text, each.shown))
    if lines := sum(not is_shown and bool(line.strip()) for line, is_shown in parts):
        yield ngettext(
            "%(number)s line is struck out: Stackroom added it to name the file, section and page."
            " It is searched, but not shown in answers.",
            "%(number)s lines are struck out: Stackroom added them to name the file, section and"
            " page. They are searched, but not shown in answers.",
            lines,
        ) % {"number": f"{lines:,}"}


def _ranges(numbers: Sequence[int]) -> str:
    """Return the numbers as ranges: "1, 4 to 6"."""
    ranges = list[list[int]]()
    for each in numbers:
        if ranges and ranges[-1][-1] == each - 1:
            ranges[-1][1:] = [each]
        else:
            ranges.append([each])
    texts = (
        gettext("%(first)s to %(last)s") % {"first": each[0], "last": each[1]}
        if len(each) > 1
        else str(each[0])
        for each in ranges
    )
    return ", ".join(texts)


# How it is sent, opened, tried again and deleted.


_MD5 = re.compile("[0-9a-f]{32}")


def upload(request: Request) -> Response:
    """
    A form by which the browser posts one file to the bucket; its progress is the browser's. None if
    the file that lies there is the same, which the browser has an `md5` to tell by.
    """
    catalog_id = ids.catalog_id(request)
    asked = UPLOAD_TO_CATALOG.parse(
        {
            "catalog_id": catalog_id,
            "filename": request.json.get("filename"),
            "replace": request.json.get("replace"),
        }
    )
    _require_size(request.json.get("size"))
    sent = request.services.sending.form(
        request.user_id,
        catalog_id,
        asked.filename,
        replace=asked.replace,
        attributes=asked.metadata,
        md5=_md5(request.json.get("md5")),
    )
    if sent.form is None:
        there = {"documentId": sent.document_id, "isThere": True}
        return JSONResponse({"success": True, "data": there})
    data = {
        "documentId": sent.document_id,
        "url": sent.form.url,
        "fields": dict(sent.form.fields),
    }
    return JSONResponse({"success": True, "data": data})


def open_file(request: Request) -> Response:
    """
    Redirect to a signed address of the file, to save it if that is asked for, or for the browser to
    show it at the page that the address names. A file that browsers don't show is shown as text, on
    a page of ours. A cited version is opened as long as answers are from it.
    """
    to_show, catalog_id = "save" not in request.query, ids.catalog_id(request)
    cited = request.query.get("version")
    link = request.services.fetching.link(
        request.user_id, catalog_id, ids.document_id(request), to_show=to_show, cited=cited
    )
    document = link.document
    if to_show and not link.is_shown:
        at = text_path(catalog_id, document.document_id, version=cited)
        return RedirectResponse(at, status_code=303)
    request.handed_out.append(document.document_id)
    return RedirectResponse(link.url, status_code=303)


def retry(request: Request) -> Response:
    catalog_id, document_id = ids.catalog_id(request), ids.document_id(request)
    result = request.services.retrying.retry(request.user_id, catalog_id, [document_id])
    _require_none(result)
    return done(request, f"/catalogs/{catalog_id}")


def ingest_again(request: Request) -> Response:
    catalog_id, document_id = ids.catalog_id(request), ids.document_id(request)
    again = request.services.retrying.ingest_again(request.user_id, catalog_id, document_id)
    _require_none(again)
    return done(request, f"/catalogs/{catalog_id}/documents/{document_id}")


def _require_none(result: RetryResult) -> None:
    """Raises Refused for the first that isn't tried again."""
    for document, why_not in result.refused:
        raise Refused(
            Problem(
                status=409,
                code="NOT_RETRIED",
                message=gettext("%(name)s can't be retried: %(reason)s.")
                % {"name": document.filename, "reason": why_not},
            )
        )


def deletion(request: Request) -> Response:
    """Return the confirmation that names everything that will be deleted."""
    return render(request, "document_delete.html", document=_owned(request))


def delete(request: Request) -> Response:
    receipt = request.services.deletions.delete_document(
        request.user_id, ids.catalog_id(request), ids.document_id(request)
    )
    return redirect(request, f"/receipts/{receipt.receipt_id}")


def _owned(request: Request) -> Document:
    """Raises CatalogNotFound or DocumentNotFound."""
    services, document_id = request.services, ids.document_id(request)
    catalog = owned(services.deletions.catalogs, request.user_id, ids.catalog_id(request))
    document = services.deletions.documents.get(catalog.catalog_id, document_id)
    if document is None or document.has_lapsed(request.console.now()):
        raise DocumentNotFound(document_id)
    return document


def _md5(given: object) -> str:
    """
    Return the MD5 that the browser states, or an empty text. Raises ValidationError for anything
    else.
    """
    if given is None:
        return ""
    if not isinstance(given, str) or not _MD5.fullmatch(given):
        raise ValidationError("md5: Allowed: 32 hexadecimal digits")
    return given


def _require_size(size: object) -> None:
    """Check the size that the browser states; S3 holds the form to the same limits."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise ValidationError("size: Allowed: the file's size in bytes")
    if size == 0:
        raise ValidationError("The file is empty. Allowed: 1 byte to 50 MB")
    if size > MAX_FILE_BYTES:
        raise FileTooLarge(MAX_FILE_BYTES)


# The receipt of a deletion: what is known of it, from the asking to the proof.


def receipt_page(request: Request) -> Response:
    return _receipt(request, "receipt.html")


def receipt_part(request: Request) -> Response:
    """Return the part of the receipt's page that changes by itself."""
    return _receipt(request, "parts/receipt_watched.html")


def _receipt(request: Request, template: str) -> Response:
    receipt_id = ids.receipt_id(request)
    receipt = request.services.deletions.receipts.get(request.user_id, receipt_id)
    if receipt is None:
        raise Refused(NOT_FOUND)
    path = f"/receipts/{receipt_id}/part"
    watching = watch(request, path, receipt, is_under_way=receipt.is_open)
    catalog = request.services.catalogs.get(receipt.catalog_id)
    is_own = catalog is not None and catalog.user_id == request.user_id
    return render(
        request,
        template,
        receipt=receipt,
        catalog=catalog if is_own else None,
        watch=watching,
    )
