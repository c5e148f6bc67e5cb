"""One catalog: files sent into it, and how far each of its documents is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self
from urllib.parse import urlencode

from starlette.responses import Response

from stackroom.catalogs.browsing import ROWS, BrowseResult, Group, Order, Wanted
from stackroom.catalogs.progress import CatalogProgress
from stackroom.model.formats import MAX_FILE_BYTES, SUPPORTED
from stackroom.model.keys import JUNK
from stackroom.model.records import Catalog, CatalogStatus, Document
from stackroom_console import ids
from stackroom_console.console import FOR_A_STEP
from stackroom_console.messages import N_, gettext
from stackroom_console.pages.document_rows import Row, rows_of
from stackroom_console.pages.folder_tree import Folder, Leaf, flat, tree_of
from stackroom_console.pages.sample_catalog import questions_of
from stackroom_console.problems import NOT_FOUND, Problem, Refused
from stackroom_console.rendering import Watch, done, render, watch
from stackroom_console.request import Request

# The address alone says which documents are shown, and in what order.

_LONGEST_WORDS = 200
_LONGEST_NUMBER = 6  # digits of a page's
_ORDERS: Mapping[Order, tuple[str, str]] = {  # each and its reverse
    Order.STATE: (N_("Status: failures first"), N_("Status: failures last")),
    Order.NAME: (N_("Name: A to Z"), N_("Name: Z to A")),
    Order.SIZE: (N_("Size: smallest first"), N_("Size: largest first")),
    Order.TIME: (N_("Added: oldest first"), N_("Added: newest first")),
}
_BACKWARDS = "-"  # before an order, as in ?sort=-size


@dataclass(frozen=True, kw_only=True)
class DocumentsView:
    """The filter, order and page of documents that the page's address asks for."""

    path: str
    wanted: Wanted

    @classmethod
    def of(cls, request: Request) -> Self:
        """Raises Refused for an address that has a mistake in it."""
        given = request.query
        order, number = given.get("sort", ""), given.get("page", "1")
        try:
            group = Group(given["state"]) if given.get("state") else None
            sort = Order(order.removeprefix(_BACKWARDS)) if order else Order.STATE
        except ValueError as error:
            raise Refused(NOT_FOUND) from error
        is_number = number.isascii() and number.isdigit() and len(number) <= _LONGEST_NUMBER
        words = given.get("q", "").strip()
        if not is_number or len(words) > _LONGEST_WORDS:
            raise Refused(NOT_FOUND)
        return cls(
            path=f"/catalogs/{ids.catalog_id(request)}",
            wanted=Wanted(
                words=words,
                group=group,
                order=sort,
                descending=order.startswith(_BACKWARDS),
                page=max(1, int(number)),
                behind=ids.after_document(request),
            ),
        )

    @property
    def sort(self) -> str:
        return (_BACKWARDS if self.wanted.descending else "") + self.wanted.order

    @property
    def is_narrowed(self) -> bool:
        return bool(self.wanted.words or self.wanted.group)

    @property
    def orders(self) -> list[tuple[str, str]]:
        """The values of `sort`, each with its label."""
        ways: list[tuple[str, str]] = []
        for order, (label, reverse) in _ORDERS.items():
            ways += [(order, gettext(label)), (f"{_BACKWARDS}{order}", gettext(reverse))]
        return ways

    def at(self, **changes: str | int | None) -> str:
        """The address that asks for something else, too, on its first page unless it says which."""
        wanted = self.wanted
        values = {
            "q": wanted.words,
            "state": wanted.group or "",
            "sort": "" if self.sort == Order.STATE else self.sort,
            **changes,
        }
        query = urlencode({name: value for name, value in values.items() if value})
        return f"{self.path}?{query}" if query else self.path

    def sorted_by(self, order: str) -> str:
        """
        Return the address that sorts by that order, or reverses it if the page has it already.
        """
        is_so = self.wanted.order == order and not self.wanted.descending
        return self.at(sort=f"{_BACKWARDS}{order}" if is_so else order)

    def sorting(self, order: str) -> str:
        """Return the column's `aria-sort`."""
        if self.wanted.order != order:
            return "none"
        return "descending" if self.wanted.descending else "ascending"


@dataclass(frozen=True, kw_only=True)
class ShownCatalog:
    """
    `groups`, `settled` and `total` count all of the catalog, with what has yet to be uploaded;
    `rows` are those of the page. A group's count is None where it isn't known.
    """

    catalog: Catalog
    overall: CatalogStatus
    failed: int
    groups: tuple[tuple[str, str, int | None], ...]
    settled: int
    total: int
    remaining: str
    queue: str
    rows: tuple[Row, ...]
    view: DocumentsView
    browsed: BrowseResult = field(repr=False)  # `rows` has its documents

    @property
    def may_be_sent_to(self) -> bool:
        return self.overall is not CatalogStatus.DELETING

    @property
    def tree(self) -> list[Folder | Leaf]:
        wanted = self.view.wanted
        has_folders = wanted.order in (Order.STATE, Order.NAME) and not wanted.words
        return tree_of(self.rows) if has_folders else flat(self.rows)

    @property
    def found(self) -> tuple[int, int, int, int, str | None]:
        seen = self.browsed
        return seen.found, seen.page, seen.pages, seen.searched, seen.next


def page(request: Request) -> Response:
    shown = _shown(request)
    return render(
        request,
        "catalog.html",
        shown=shown,
        watch=_watch(request, shown),
        types=SUPPORTED,
        max_bytes=MAX_FILE_BYTES,
        junk=JUNK,
        questions=questions_of(shown.catalog),
    )


def part(request: Request) -> Response:
    """Return the part of the page that changes by itself."""
    shown = _shown(request)
    watching = _watch(request, shown)
    return render(request, "parts/catalog_watched.html", shown=shown, watch=watching)


def retry_failed(request: Request) -> Response:
    """Only those whose failure may end otherwise are tried again."""
    catalog_id = ids.catalog_id(request)
    request.services.retrying.retry(request.user_id, catalog_id)
    return done(request, f"/catalogs/{catalog_id}")


def _shown(request: Request) -> ShownCatalog:
    catalog_id, view = ids.catalog_id(request), DocumentsView.of(request)
    progress = request.services.progress.of(request.user_id, catalog_id)
    browsed = request.services.browsing.browse(
        request.user_id, catalog_id, view.wanted, unsettled=progress.unsettled
    )
    return _of(browsed, progress, view, speed=request.console.speed)


def _of(
    browsed: BrowseResult, progress: CatalogProgress, view: DocumentsView, *, speed: float
) -> ShownCatalog:
    to_come = max(progress.uploading, browsed.to_come)
    waiting = progress.indexing + progress.pending + to_come
    return ShownCatalog(
        catalog=browsed.catalog,
        overall=progress.overall,
        failed=progress.failed,
        groups=(
            (Group.FAILED, gettext("Failed"), progress.failed),
            (Group.UNDER_WAY, gettext("In progress"), waiting),
            (Group.SEARCHABLE, gettext("Searchable"), progress.indexed),
            (Group.WITH_GAPS, gettext("With gaps"), browsed.with_gaps),
        ),
        settled=progress.indexed + progress.failed,
        total=progress.total + to_come,
        remaining=progress.remaining(speed),
        queue=_queue(progress),
        rows=rows_of(browsed.documents, progress, speed=speed),
        view=view,
        browsed=browsed,
    )


def _queue(progress: CatalogProgress) -> str:
    standing = progress.queue_position
    if standing is None:
        return ""
    if standing.position is None:
        fields = {"length": f"{standing.length:,}"}
        return gettext("after the first %(length)s in the queue") % fields
    fields = {"position": f"{standing.position:,}", "length": f"{standing.length:,}"}
    return gettext("position %(position)s of %(length)s in the queue") % fields


def _watch(request: Request, shown: ShownCatalog) -> Watch:
    path = f"/catalogs/{shown.catalog.catalog_id}/part"
    # The catalog's own status leaves these out.
    is_moving = any(each.state in ("uploading", "deleting") for each in shown.rows)
    is_settled = shown.overall in (CatalogStatus.READY, CatalogStatus.FAILED)
    return watch(request, path, (shown, shown.found), is_under_way=is_moving or not is_settled)


# Several documents, chosen on the page: tried again at once, deleted when that is confirmed.

_MOST_CHOSEN = ROWS
_NOTHING_CHOSEN = Problem(
    status=400,
    code="NOTHING_CHOSEN",
    message=N_("No documents are selected, or they no longer exist."),
    advice=N_("Select documents in the list."),
)
_MOST_NAMED = 10  # names of many that go, or that aren't tried again


def selected(request: Request) -> Response:
    """Carry out the action of the button that was pressed on the selected documents."""
    catalog_id, chosen = ids.catalog_id(request), ids.chosen_documents(request)
    documents = request.services.browsing.chosen(request.user_id, catalog_id, chosen)
    if not documents:
        raise Refused(_NOTHING_CHOSEN)
    match request.form.get("do"):
        case "retry":
            return _retry(request, catalog_id, documents)
        case "delete":
            return render(
                request,
                "documents_delete.html",
                catalog_id=catalog_id,
                documents=documents,
                named=documents[:_MOST_NAMED],
                size_of_all=sum(each.size for each in documents),
            )
        case _:
            raise Refused(NOT_FOUND)


def delete_selected(request: Request) -> Response:
    """Many go in steps, each asked for by the page that the one before answered."""
    catalog_id, chosen = ids.catalog_id(request), ids.chosen_documents(request)
    before = request.number("done", called="done", least=0, most=_MOST_CHOSEN, default=0)
    deletions = replace(request.services.deletions, seconds=FOR_A_STEP)
    deleted = deletions.delete_documents(request.user_id, catalog_id, chosen)
    if not deleted.receipts and not before:
        raise Refused(_NOTHING_CHOSEN)
    answer = render(
        request,
        "documents_deleting.html",
        catalog_id=catalog_id,
        receipts=deleted.receipts,
        left=deleted.left,
        number=before + len(deleted.receipts),
    )
    answer.headers["HX-Trigger"] = "changed"
    return answer


def _retry(request: Request, catalog_id: str, documents: Sequence[Document]) -> Response:
    asked_for = [each.document_id for each in documents]
    refused = request.services.retrying.retry(request.user_id, catalog_id, asked_for).refused
    if not refused:
        return done(request, f"/catalogs/{catalog_id}")
    reasons = "; ".join(f"{each.filename}: {why_not}" for each, why_not in refused[:_MOST_NAMED])
    message = gettext("%(refused)s of %(number)s can't be retried: %(reasons)s.")
    if len(refused) > _MOST_NAMED:
        message = gettext("%(refused)s of %(number)s can't be retried: %(reasons)s; and others.")
    fields = {"refused": len(refused), "number": len(documents), "reasons": reasons}
    raise Refused(Problem(status=409, code="NOT_RETRIED", message=message % fields))
