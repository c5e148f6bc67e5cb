"""
POST to an address that a user gave, from within our network: to public addresses alone.

A name is resolved once, every address that it has is checked, and the call goes to one of these, so
no second answer of DNS is ever believed. Only the status of the response is read, no redirect is
followed, and the whole call may take ten seconds.
"""

import http.client
import re
import socket
import ssl
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from threading import Event, Timer
from typing import Any
from urllib.parse import SplitResult, urlsplit

from stackroom.clock import Deadline
from stackroom.errors import WebhookRefused

SECONDS = 10.0
_LONGEST = 2048  # characters
_URL = re.compile(rf"[!-~]{{1,{_LONGEST}}}")  # no blanks, and nothing that would have to be encoded
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")
_PORTS = {"https": 443, "http": 80}
# https://www.iana.org/assignments/ipv6-address-space/ipv6-address-space.xhtml
_UNICAST = IPv6Network("2000::/3")
# Through it IPv6 reaches the IPv4 address in its last four bytes.
# https://datatracker.ietf.org/doc/html/rfc6052#section-2.1
_NAT64 = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """
    A status, or else the reason why there is none, in words that reveal nothing about the address.
    """

    status: int | None = None
    problem: str | None = None

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


TOO_SLOW = Answer(problem="too slow")
Resolve = Callable[..., list[Any]]
_trusted = cache(ssl.create_default_context)


@dataclass(frozen=True, kw_only=True)
class GuardedPost:
    """
    Sends guarded POST requests. `anywhere` also allows private addresses, plain HTTP and every
    port, for a server on the same machine.
    """

    anywhere: bool = False
    resolve: Resolve = socket.getaddrinfo
    trust: Callable[[], ssl.SSLContext] = _trusted
    seconds: float = SECONDS

    def __call__(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        deadline = Deadline.after(self.seconds)
        try:
            target = checked(url, anywhere=self.anywhere)
            addresses = self._addresses(target, deadline)
        except WebhookRefused:
            return Answer(problem="address refused")
        except TimeoutError:
            return TOO_SLOW
        except (OSError, UnicodeError):
            return Answer(problem="name not found")
        try:
            return self._posted(target, addresses, body, headers, deadline)
        except OSError as error:
            return _answer_to(error)

    def _addresses(self, target: SplitResult, deadline: Deadline) -> list[Any]:
        """Resolve the name. Raises WebhookRefused if any address isn't public."""
        lookups = ThreadPoolExecutor(1)  # the system's lookup takes no timeout
        lookup = lookups.submit(
            self.resolve, target.hostname, _port_of(target), type=socket.SOCK_STREAM
        )
        lookups.shutdown(wait=False)
        found = lookup.result(timeout=deadline.left())
        if not self.anywhere:
            _require_public(target, found)
        return found

    def _posted(
        self,
        target: SplitResult,
        addresses: list[Any],
        body: bytes,
        headers: Mapping[str, str],
        deadline: Deadline,
    ) -> Answer:
        is_over = Event()
        # The second handle of the connection stays with us, whatever TLS makes of the first.
        with _connected(addresses, deadline) as connected, connected.dup() as handle:
            ending = Timer(deadline.left(), _break_off, (handle, is_over))
            ending.start()
            try:
                answer = self._answer(target, connected, body, headers)
            except (OSError, http.client.HTTPException) as error:
                answer = _answer_to(error)
            finally:
                ending.cancel()
        # Also with a status, of an answer that was broken off.
        return TOO_SLOW if is_over.is_set() else answer

    def _answer(
        self,
        target: SplitResult,
        connected: socket.socket,
        body: bytes,
        headers: Mapping[str, str],
    ) -> Answer:
        host = target.hostname or ""
        if target.scheme == "https":
            connected = self.trust().wrap_socket(connected, server_hostname=host)
        with closing(http.client.HTTPConnection(host, _port_of(target))) as connection:
            connection.sock = connected
            connection.auto_open = 0  # it never connects by itself
            path = (target.path or "/") + (f"?{target.query}" if target.query else "")
            named = {"Host": target.netloc, "Connection": "close", **headers}
            connection.request("POST", path, body=body, headers=named)
            return Answer(status=connection.getresponse().status)


def checked(url: str, *, anywhere: bool) -> SplitResult:
    """
    Return the URL, checked. Raises WebhookRefused if it can't be a webhook's. A name is not
    resolved, but any way to write an address (decimal, octal, short) is read as the system reads
    it.
    """
    if not _URL.fullmatch(url):
        raise WebhookRefused(f"a URL has 1 to {_LONGEST} characters, all of them printable ASCII")
    try:
        target = urlsplit(url)
        port = _port_of(target)
    except ValueError:
        raise WebhookRefused(
            "a webhook's address must be a URL, and this can't be read as one"
        ) from None
    allowed = ("https", "http") if anywhere else ("https",)
    if target.scheme not in allowed:
        begins = " or ".join(f"{each}://" for each in allowed)
        raise WebhookRefused(f"a webhook's address must begin with {begins}")
    if "@" in target.netloc:
        raise WebhookRefused(
            "a webhook's address must not name a user or a password; calls are signed"
        )
    if not target.hostname or not _HOST.fullmatch(target.hostname):
        raise WebhookRefused("a webhook's address must name a host")
    if target.fragment:
        raise WebhookRefused(
            "a webhook's address must have no #: what stands behind it is never sent"
        )
    if port != _PORTS["https"] and not anywhere:
        raise WebhookRefused("a webhook's address must be on port 443")
    if not anywhere:
        try:
            found = socket.getaddrinfo(target.hostname, port, flags=socket.AI_NUMERICHOST)
        except (OSError, UnicodeError):
            return target  # a name
        _require_public(target, found)
    return target


def is_public(address: str) -> bool:
    """
    Return True if the address is a single machine's on the Internet; an IPv6 address that stands
    for an IPv4 one is checked as that.
    """
    parsed: IPv4Address | IPv6Address | None = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address):
        if parsed in _NAT64:
            parsed = IPv4Address(int(parsed) & 0xFFFF_FFFF)
        elif parsed.ipv4_mapped is not None:
            parsed = parsed.ipv4_mapped
        elif parsed not in _UNICAST or parsed.sixtofour is not None:
            return False
    return parsed is not None and parsed.is_global and not parsed.is_multicast


def _require_public(target: SplitResult, found: list[Any]) -> None:
    for *_, (address, *_) in found:
        if not is_public(address):
            raise WebhookRefused(f"{target.hostname} is {address}, which is no public address")


def _port_of(target: SplitResult) -> int:
    return target.port or _PORTS.get(target.scheme, 0)


def _connected(addresses: list[Any], deadline: Deadline) -> socket.socket:
    """Connect to the first address that accepts. Raises OSError."""
    problem: OSError = ConnectionError("no address")
    for family, kind, protocol, _, address in addresses:
        connecting = socket.socket(family, kind, protocol)
        try:
            connecting.settimeout(max(deadline.left(), 0.001))
            connecting.connect(address)
        except OSError as error:
            connecting.close()
            problem = error
        else:
            return connecting
    raise problem


def _break_off(handle: socket.socket, is_over: Event) -> None:
    """
    Shut the socket down, which wakes whoever reads from it: each read has a timeout, but there may
    be any number of reads.
    """
    is_over.set()
    with suppress(OSError):  # it has ended by itself
        handle.shutdown(socket.SHUT_RDWR)


def _answer_to(error: Exception) -> Answer:
    if isinstance(error, TimeoutError):
        return TOO_SLOW
    if isinstance(error, ssl.SSLCertVerificationError):
        return Answer(problem="certificate refused")
    if isinstance(error, ssl.SSLError):
        return Answer(problem="no TLS")
    is_http = isinstance(error, http.client.HTTPException) and not isinstance(error, OSError)
    return Answer(problem="no HTTP" if is_http else "no connection")
