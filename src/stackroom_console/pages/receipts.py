"""The receipt of a deletion: what is known of it, from the asking to the proof."""

from starlette.responses import Response

from stackroom_console import ids
from stackroom_console.problems import NOT_FOUND, Refused
from stackroom_console.rendering import render
from stackroom_console.request import Request
from stackroom_console.watch import watch


def page(request: Request) -> Response:
    return _shown(request, "receipt.html")


def part(request: Request) -> Response:
    """Of the page what changes by itself."""
    return _shown(request, "parts/receipt_watched.html")


def _shown(request: Request, template: str) -> Response:
    receipt_id = ids.receipt_id(request)
    receipt = request.services.deletions.receipts.get(request.user_id, receipt_id)
    if receipt is None:
        raise Refused(NOT_FOUND)
    path = f"/receipts/{receipt_id}/part"
    watching = watch(request, path, receipt, is_under_way=receipt.is_open)
    return render(request, template, receipt=receipt, watch=watching)
