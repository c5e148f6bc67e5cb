"""
Where a browser may be sent with a sign-in's code.

A program on this machine listens on loopback, at any port it gets (RFC 8252, 7.3): nobody need
register that. Anything else must be registered first: a page on the web (https), or a scheme of an
app's own such as `cursor:` (RFC 8252, 7.1). Never plain http to elsewhere, nor a scheme that a
browser itself would act on.
"""

from pydantic import AnyUrl

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MAX_LENGTH = 2048
# The schemes of https://url.spec.whatwg.org/#special-scheme without https, and those that run or
# show what the address itself carries.
_BROWSERS_OWN = {
    *("http", "ftp", "ws", "wss", "file"),
    *("about", "blob", "data", "filesystem", "javascript", "vbscript", "view-source"),
}


def is_loopback(uri: AnyUrl) -> bool:
    return uri.scheme == "http" and uri.host in LOOPBACK and _is_plain(uri)


def may_be_registered(uri: AnyUrl) -> bool:
    return is_loopback(uri) or (uri.scheme not in _BROWSERS_OWN and _is_plain(uri))


def _is_plain(uri: AnyUrl) -> bool:
    """Without a fragment (RFC 6749, 3.1.2), and without a user whose name looks like a host."""
    return (
        uri.fragment is None
        and uri.username is None
        and uri.password is None
        and len(str(uri)) <= MAX_LENGTH
    )
