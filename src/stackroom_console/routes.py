"""Every way of calling the console, one line each; the tests of access are made from this table."""

from stackroom_console.endpoint import Audience, Endpoint
from stackroom_console.pages import catalogs, sign_in

ROUTES: tuple[Endpoint, ...] = (
    Endpoint(method="GET", path="/", answer=sign_in.front, audience=Audience.ANYONE),
    Endpoint(method="GET", path="/sign-in", answer=sign_in.page, audience=Audience.ANYONE),
    Endpoint(method="GET", path="/sign-in/begin", answer=sign_in.begin, audience=Audience.ANYONE),
    Endpoint(method="GET", path="/sign-in/callback", answer=sign_in.end, audience=Audience.ANYONE),
    Endpoint(method="POST", path="/sign-out", answer=sign_in.sign_out),
    Endpoint(method="POST", path="/sign-out/everywhere", answer=sign_in.sign_out_everywhere),
    Endpoint(method="GET", path="/catalogs", answer=catalogs.page),
    Endpoint(method="GET", path="/catalogs/new", answer=catalogs.creation),
    Endpoint(method="POST", path="/catalogs", answer=catalogs.create),
)
