"""Every way of calling the console, one line each; the tests of access are made from this table."""

from stackroom_console.agent_routes import AGENT_ROUTES
from stackroom_console.endpoint import Answer, Audience, Endpoint, Kind
from stackroom_console.pages import (
    asking,
    catalog,
    catalogs,
    documents,
    operations,
    receipts,
    sign_in,
)

_CATALOG = "/catalogs/{catalog_id}"
_DOCUMENT = f"{_CATALOG}/documents/{{document_id}}"


def _for_operators(path: str, answer: Answer) -> Endpoint:
    return Endpoint(
        method="GET", path=path, answer=answer, audience=Audience.OPERATORS, reads="operations"
    )


ROUTES: tuple[Endpoint, ...] = (
    Endpoint(method="GET", path="/", answer=sign_in.front, audience=Audience.ANYONE),
    Endpoint(method="GET", path="/sign-in", answer=sign_in.page, audience=Audience.ANYONE),
    Endpoint(method="GET", path="/sign-in/begin", answer=sign_in.begin, audience=Audience.ANYONE),
    Endpoint(method="GET", path="/sign-in/callback", answer=sign_in.end, audience=Audience.ANYONE),
    Endpoint(method="POST", path="/sign-out", answer=sign_in.sign_out),
    Endpoint(method="POST", path="/sign-out/everywhere", answer=sign_in.sign_out_everywhere),
    Endpoint(method="GET", path="/catalogs", answer=catalogs.page),
    Endpoint(method="GET", path="/catalogs/new", answer=catalogs.creation),
    Endpoint(method="GET", path="/catalogs/part", answer=catalogs.part),
    Endpoint(method="POST", path="/catalogs", answer=catalogs.create),
    Endpoint(method="GET", path=_CATALOG, answer=catalog.page),
    Endpoint(method="GET", path=f"{_CATALOG}/part", answer=catalog.part),
    Endpoint(method="GET", path=f"{_CATALOG}/delete", answer=catalogs.deletion),
    Endpoint(method="POST", path=f"{_CATALOG}/delete", answer=catalogs.delete),
    Endpoint(method="POST", path=f"{_CATALOG}/retry", answer=catalog.retry_failed),
    Endpoint(method="POST", path=f"{_CATALOG}/uploads", answer=documents.upload, kind=Kind.API),
    Endpoint(method="GET", path=f"{_DOCUMENT}/file", answer=documents.open_file, reads="open_file"),
    Endpoint(method="POST", path=f"{_DOCUMENT}/retry", answer=documents.retry),
    Endpoint(method="GET", path=f"{_DOCUMENT}/delete", answer=documents.deletion),
    Endpoint(method="POST", path=f"{_DOCUMENT}/delete", answer=documents.delete),
    Endpoint(method="GET", path="/ask", answer=asking.page),
    Endpoint(method="POST", path="/ask", answer=asking.ask, reads="ask"),
    Endpoint(method="GET", path="/receipts/{receipt_id}", answer=receipts.page),
    Endpoint(method="GET", path="/receipts/{receipt_id}/part", answer=receipts.part),
    _for_operators("/operations", operations.page),
    _for_operators("/operations/part", operations.part),
    *AGENT_ROUTES,
)
